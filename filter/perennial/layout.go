package perennial

import "math/bits"

const (
	minLines  = 3 // lines of a group, at least; a group of 2*minLines is two groups
	bucketLog = 7 // binary logarithm of the buckets of a group
	buckets   = 1 << bucketLog

	// maxLines keeps the positions of buckets and fingerprints within a key.
	maxLines = minLines << 40
)

// A layout says where buckets lie in a ring of so many lines. There are 2^level groups;
// those below next have a line more than the others. In the last pass before a doubling
// they are two groups of the next level each.
type layout struct {
	total uint64 // lines
	next  uint64 // the group that is enlarged next
	level uint8
	lines uint8 // of a group that was not enlarged in this pass
}

// layoutOf returns the layout of n lines, minLines at least.
func layoutOf(n uint64) layout {
	level := bits.Len64(n/minLines) - 1
	return layout{total: n, next: n & (1<<level - 1), level: uint8(level), lines: uint8(n >> level)}
}

// pack returns the layout as a word, for readers.
func (y layout) pack() uint64 { return y.next<<16 | uint64(y.level)<<8 | uint64(y.lines) }

func unpack(state uint64) layout {
	y := layout{next: state >> 16, level: uint8(state >> 8), lines: uint8(state)}
	y.total = uint64(y.lines)<<(y.level&63) + y.next
	return y
}

// buckets returns how many buckets the ring has.
func (y layout) buckets() uint64 {
	groups := uint64(1) << y.level
	if y.splits() {
		groups += y.next
	}
	return groups << bucketLog
}

// splits reports whether groups become two when they are enlarged.
func (y layout) splits() bool { return y.lines == 2*minLines-1 }

// A place is a line of the ring: line row of a group of so many lines at a level.
type place struct {
	group uint64
	level uint8
	lines uint8
	row   uint8
}

// groupOf returns the first line of the group whose lowest level bits are those of g. It has
// no branches: which groups were enlarged cannot be guessed.
func (y layout) groupOf(g uint64) place {
	more := uint8(0)
	if g&(1<<(y.level&63)-1) < y.next {
		more = 1
	}
	lines := y.lines + more
	two := lines >> 1 & (lines >> 2) & 1 // 1 for 2*minLines
	p := place{level: y.level + two, lines: lines - minLines*two}
	p.group = g & (1<<(p.level&63) - 1)
	return p
}

// index returns where the line lies in memory.
func (p place) index() uint64 { return uint64(p.row)<<(p.level&63) + p.group }

// starts has, for groups of so many lines, the nominal first bucket of each, and the end.
var starts = func() (t [8][8]uint8) {
	for lines := uint(minLines); lines < 2*minLines; lines++ {
		for r := range lines + 1 {
			t[lines][r] = uint8((r<<bucketLog + lines - 1) / lines)
		}
	}
	return t
}()

// start returns the nominal first bucket of the line.
func (p place) start() int { return int(starts[p.lines&7][p.row&7]) }

// width returns how many buckets the line nominally has.
func (p place) width() int { return int(starts[p.lines&7][(p.row+1)&7]) - p.start() }

// A target is where a key belongs: bucket idx of a line, not counting buckets that the
// line has from lines before, and what is to be found there.
type target struct {
	place
	idx int
	y   uint64 // the bits of the key behind those of its bucket, and a 1
}

// locate returns where the key with position z in hash order belongs.
func (y layout) locate(z uint64, w uint) target {
	p := y.groupOf(bits.Reverse64(z))
	x := z << (p.level & 63)
	bucket := uint(x >> (64 - bucketLog))
	p.row = uint8(bucket * uint(p.lines) >> bucketLog)
	return target{place: p, idx: int(bucket) - p.start(), y: x<<bucketLog>>((64-w)&63) | 1}
}

// prefix returns the bits of the key with position z that an entry for it has.
func (t target) prefix(z uint64, w uint) prefix {
	n := min(uint(t.level)+bucketLog+w-1, maxPrefix)
	return prefix{z >> (64 - n) << (64 - n), n}
}

// reverse returns the lowest n bits of v in reversed order.
func reverse(v uint64, n uint8) uint64 { return bits.Reverse64(v) >> (64 - n) }

// after returns the line behind p.
func (y layout) after(p place) place {
	if p.row+1 < p.lines {
		p.row++
		return p
	}
	position := reverse(p.group, p.level)
	if p.level > y.level {
		if position&1 == 0 {
			p.group, p.row = p.group+1<<y.level, 0
			return p
		}
		position >>= 1
	}
	return y.groupOf(reverse((position+1)&(1<<y.level-1), y.level))
}

// before returns the line in front of p.
func (y layout) before(p place) place {
	if p.row > 0 {
		p.row--
		return p
	}
	position := reverse(p.group, p.level)
	if p.level > y.level {
		if position&1 == 1 {
			p.group, p.row = p.group-1<<y.level, p.lines-1
			return p
		}
		position >>= 1
	}
	q := y.groupOf(reverse((position-1)&(1<<y.level-1), y.level))
	if q.level > y.level {
		q.group += 1 << y.level
	}
	q.row = q.lines - 1
	return q
}
