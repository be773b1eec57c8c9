package perennial

import (
	"errors"
	"math/bits"
	"slices"
)

// errNoRoom says that buckets cannot be placed: one has more slots than a line, or more
// wait for room than a line can tell.
var errNoRoom = errors.New("perennial: too many keys for one line")

// A rewriter moves buckets of any contents. It reads them in ring order from lines that it
// does not change, and writes them into drafts.
type rewriter struct {
	ring *ring
	list
	other  list // for what becomes of the buckets
	taken  int  // buckets of counts that were written
	gone   int  // slots of these
	edited int  // only before this one buckets may differ from those of the ring
}

// A list holds buckets.
type list struct {
	counts []uint16 // slots of each
	slots  []uint64
}

func (q *list) clear() { q.counts, q.slots = q.counts[:0], q.slots[:0] }

func (q *list) append(slots []uint64) {
	q.counts = append(q.counts, uint16(len(slots)))
	q.slots = append(q.slots, slots...)
}

func (w *rewriter) begin() {
	w.list.clear()
	w.taken, w.gone, w.edited = 0, 0, 0
	w.ring.drafts = w.ring.drafts[:0]
}

// waiting returns how many buckets were read and not written.
func (w *rewriter) waiting() int { return len(w.counts) - w.taken }

// A cursor reads bucket after bucket.
type cursor struct {
	layout layout
	place  place
	line   *line
	idx    int
	bit    uint // of the map
	slot   uint // the position behind the next one
}

func (r *ring) cursorAt(y layout, p place) cursor {
	return cursor{layout: y, place: p, line: r.at(p.index()), bit: headBits, slot: lineBits}
}

// need reads buckets until n wait.
func (w *rewriter) need(c *cursor, n int) {
	width := w.ring.w
	for w.waiting() < n {
		for c.idx == c.line.held() {
			c.place = c.layout.after(c.place)
			c.line, c.idx, c.bit, c.slot = w.ring.at(c.place.index()), 0, headBits, lineBits
		}
		count := uint(bits.TrailingZeros64(^c.line.window(c.bit)))
		w.counts = append(w.counts, uint16(count))
		for range count {
			c.slot -= width
			w.slots = append(w.slots, c.line.bits(c.slot, width))
		}
		c.bit += count + 1
		c.idx++
	}
}

// write drafts the line at index of the buckets that wait: the first in of them, which come
// from lines before, and width more. It returns how many of these are left over.
func (w *rewriter) write(index uint64, in, width int) (left int, err error) {
	if in > maxIn {
		return 0, errNoRoom
	}
	var l line
	size := w.ring.w
	bit, slot, held := uint(headBits), uint(lineBits), 0
	for held < min(in+width, maxHeld) && w.waiting() > 0 {
		count := uint(w.counts[w.taken])
		if bit+count+1+count*size > slot {
			break
		}
		if count > 0 {
			l.setBits(bit, count, 1<<count-1)
		}
		for _, v := range w.slots[w.gone : w.gone+int(count)] {
			slot -= size
			l.setBits(slot, size, v)
		}
		bit += count + 1
		w.gone += int(count)
		w.taken++
		held++
	}
	if held == 0 && in+width > 0 && w.waiting() > 0 {
		return 0, errNoRoom
	}
	l.setHead(in, held)
	w.ring.drafts = append(w.ring.drafts, draft{index, l})
	return in + width - held, nil
}

// flow drafts lines from p on, until what is left over is what the next line has from
// lines before already. It reports false if that is not so before line stop.
func (w *rewriter) flow(y layout, p place, c *cursor, left int, stop uint64) (done bool, err error) {
	for {
		if left == w.ring.at(p.index()).in() && w.taken >= w.edited {
			return true, nil
		}
		if p.index() == stop {
			return false, nil
		}
		w.need(c, left+p.width())
		if left, err = w.write(p.index(), left, p.width()); err != nil {
			return false, err
		}
		p = y.after(p)
	}
}

// replace gives bucket idx of the line at p, or of the line behind if p has no more, other
// slots.
func (w *rewriter) replace(p place, idx int, slots []uint64) error {
	r := w.ring
	if len(slots) > r.maxSlots() {
		return errNoRoom
	}
	in := r.at(p.index()).in()
	c := r.cursorAt(r.layout, p)
	w.need(&c, idx+1)
	w.slots = w.slots[:len(w.slots)-int(w.counts[idx])]
	w.counts = w.counts[:idx]
	w.append(slots)
	w.edited = idx + 1
	w.need(&c, in+p.width())
	left, err := w.write(p.index(), in, p.width())
	if err != nil {
		return err
	}
	done, err := w.flow(r.layout, r.layout.after(p), &c, left, p.index())
	if err != nil || done {
		return err
	}
	number := w.numberOf(p) - in + idx
	return w.rebuild(r.layout, r.layout, func(all [][]uint64) [][]uint64 {
		all[(number+len(all))%len(all)] = slices.Clone(slots)
		return all
	})
}

// numberOf returns how many buckets lie nominally before the line at p.
func (w *rewriter) numberOf(p place) int {
	n := 0
	for at := range w.ring.places() {
		if at == p {
			break
		}
		n += at.width()
	}
	return n
}

// maxRebuild is how many lines are written anew together. More are spilled over only by
// keys that were chosen for it.
const maxRebuild = 128

// rebuild drafts all lines, for layout to, from those of layout from. It is for small rings,
// in which buckets may be spilled all the way round.
func (w *rewriter) rebuild(from, to layout, change func(all [][]uint64) [][]uint64) error {
	if from.total > maxRebuild {
		return errNoRoom
	}
	all := change(w.all(from))
	for in := 0; in <= maxIn && in < len(all); in += w.waiting() {
		w.begin()
		for _, slots := range all[len(all)-in:] {
			w.append(slots)
		}
		for _, slots := range all[:len(all)-in] {
			w.append(slots)
		}
		left, err := in, error(nil)
		first := to.groupOf(0)
		for p := first; ; {
			if left, err = w.write(p.index(), left, p.width()); err != nil {
				return err
			}
			if p = to.after(p); p == first {
				break
			}
		}
		if w.waiting() == 0 {
			return nil
		}
	}
	return errNoRoom
}

// all returns the slots of all buckets in hash order.
func (w *rewriter) all(y layout) [][]uint64 {
	w.begin()
	c := w.ring.cursorAt(y, y.groupOf(0))
	spilled, n := c.line.in(), int(y.buckets())
	w.need(&c, spilled+n)
	out := make([][]uint64, 0, n)
	at := 0
	for _, count := range w.counts {
		out = append(out, append([]uint64(nil), w.slots[at:at+int(count)]...))
		at += int(count)
	}
	return out[spilled:]
}
