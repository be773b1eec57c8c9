package dleft

import (
	"iter"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// A store is the cells of a filter and the ways from a key to them.
type store struct {
	table
	mixer     probe.Mixer
	space     uint64 // B·R, the number of fingerprints
	paths     [maxSubtables]permutation
	buckets   uint64 // in each subtable
	subtables uint64
	short     bool  // has and MayContain may go the short way
	quick     quick // if so, for MayContain
}

func newStore(s Shape, words []uint64) store {
	t := newTable(s, words)
	c := store{
		table:     t,
		short:     t.twins != nil && (s.Subtables == 3 || s.Subtables == 4),
		space:     s.space(),
		subtables: uint64(s.Subtables),
		buckets:   s.Buckets,
		paths:     permutations(s.Subtables, s.space(), s.Salt),
		mixer:     probe.NewMixer(s.Salt),
	}
	if c.short {
		c.quick = newQuick(&c)
	}
	return c
}

// fingerprint returns the true fingerprint of k, in [0, B·R). Its low bits are
// never zero, which stands for an empty cell. They are mended here, once: every
// path multiplies by an odd number, so no subtable makes a zero of them. To mend
// each remainder by itself would let one key have two.
func (c *store) fingerprint(k filter.Key) uint64 {
	return c.mend(probe.Reduce(c.mixer.Mix(k), c.space))
}

// mend makes low bits that are all zero 1.
func (c *store) mend(fp uint64) uint64 {
	return fp | (fp&c.mask-1)>>63
}

// at returns the bucket of fingerprint fp in subtable i, and what to keep there.
func (c *store) at(i, fp uint64) (bucket, remainder uint64) {
	x := c.paths[i].forth.times(fp, c.space)
	return i*c.buckets + x>>c.remainder, x & c.mask
}

// recover returns the fingerprint that is kept as the given remainder in a bucket
// of subtable i, counted from the first of that subtable.
func (c *store) recover(i, bucket, remainder uint64) uint64 {
	return c.paths[i].back.times(bucket<<c.remainder|remainder, c.space)
}

// seek returns the one cell that holds fp. It asks has first: keys that are not
// there are common in Add, and the cache misses of all buckets overlap.
func (c *store) seek(fp uint64) (cell uint64, ok bool) {
	if !c.has(fp) {
		return 0, false
	}
	return c.locate(fp)
}

// locate is seek for a fingerprint that is expected to be there.
func (c *store) locate(fp uint64) (cell uint64, ok bool) {
	if c.short {
		return c.locateShort(fp)
	}
	for i := range c.subtables {
		bucket, remainder := c.at(i, fp)
		if cell, ok = c.find(bucket, remainder); ok {
			return cell, true
		}
	}
	return 0, false
}

// locateShort is locate for three or four subtables of twin buckets. Which of them
// holds fp cannot be guessed, so that all are looked at, without a branch.
func (c *store) locateShort(fp uint64) (cell uint64, ok bool) {
	var found uint64
	for i := range c.subtables {
		x := c.paths[i].forth.times(fp, c.space)
		y, bucket := c.spread(x&c.mask), i*c.buckets+x>>(c.remainder&63)
		twin := &c.twins[bucket]
		left, right := c.equal(twin[0], y), c.equal(twin[1], y)
		lane, _ := firstOf(left, right)
		hit := left | right
		here := uint64(int64(hit|-hit) >> 63) // all ones if there is a hit
		cell = cell&^here | (bucket*c.perBucket+lane)&here
		found |= hit
	}
	return cell, found != 0
}

// weight returns 1 if two values of the hash lead to fp, see fingerprint, and 0
// if one does.
func (c *store) weight(fp uint64) uint64 {
	if fp&c.mask == 1 {
		return 1
	}
	return 0
}

// has reports whether a cell holds fp. It looks at all of fp's buckets without a
// branch that depends on what is there, so that the cache misses overlap and
// nothing is guessed wrong.
func (c *store) has(fp uint64) bool {
	if c.short {
		return c.hasShort(fp)
	}
	return c.hasAny(fp)
}

// hasAny is has for every geometry: match, without its calls.
func (c *store) hasAny(fp uint64) bool {
	words, last := c.words, uint64(len(c.words))-1
	low, span := c.low, c.lanes*c.width
	var hit uint64
	for i := range c.subtables {
		bucket, remainder := c.at(i, fp)
		y, at := c.spread(remainder), bucket*c.perBucket*c.width
		for range c.windows - 1 {
			x := words[at/64]>>(at%64) | words[min(at/64+1, last)]<<1<<(^at%64)
			hit |= ^((x^y)&low + low) & c.flags
			at += span
		}
		x := words[at/64]>>(at%64) | words[min(at/64+1, last)]<<1<<(^at%64)
		hit |= ^((x^y)&low + low) & c.tail
	}
	return hit != 0
}

// hasShort is has for three or four subtables of twin buckets, the geometry that
// Config prefers. A flag that is clear in any comparison is clear in their
// conjunction.
func (c *store) hasShort(fp uint64) bool {
	unequal := c.unequal(0, fp) & // the first path is the identity
		c.unequal(1, c.paths[1].forth.times(fp, c.space)) &
		c.unequal(2, c.paths[2].forth.times(fp, c.space))
	if c.subtables == 4 {
		unequal &= c.unequal(3, c.paths[3].forth.times(fp, c.space))
	}
	return ^unequal&c.flags != 0
}

// unequal compares the twin bucket of x, a fingerprint after path i, with what x
// would be there. The flag of a lane is clear if a cell in it is the same.
func (c *store) unequal(i, x uint64) uint64 {
	y := c.spread(x & c.mask)
	b := &c.twins[i*c.buckets+x>>(c.remainder&63)]
	return ((b[0]^y)&c.low + c.low) & ((b[1]^y)&c.low + c.low)
}

// least returns the least loaded bucket of fp, the leftmost of several, among
// the subtables from the given one on, and its load: full if there are none.
// Load and subtable are compared as one number, so that nothing is guessed.
func (c *store) least(fp, from uint64) (bucket, remainder, load uint64) {
	best := c.perBucket * maxSubtables
	for i := from; i < c.subtables; i++ {
		b, _ := c.at(i, fp)
		best = min(best, c.load(b)*maxSubtables+i)
	}
	bucket, remainder = c.at(best%maxSubtables, fp)
	return bucket, remainder, best / maxSubtables
}

// all gives every used cell with its fingerprint. Cells may be changed and
// emptied meanwhile, but none filled.
func (c *store) all() iter.Seq2[uint64, uint64] {
	return func(yield func(cell, fp uint64) bool) {
		cell := uint64(0)
		for i := range c.subtables {
			for bucket := range c.buckets {
				for range c.perBucket {
					remainder, _ := c.get(cell)
					if remainder != 0 && !yield(cell, c.recover(i, bucket, remainder)) {
						return
					}
					cell++
				}
			}
		}
	}
}

// touch computes the fingerprints of the keys and reads a word of every bucket
// that they may be in, so that the cache misses of a stride overlap.
func (c *store) touch(keys []filter.Key, prints *[stride]uint64) {
	var seen uint64
	for n, k := range keys {
		fp := c.fingerprint(k)
		prints[n] = fp
		for i := range c.subtables {
			bucket, _ := c.at(i, fp)
			seen |= c.words[bucket*c.perBucket*c.width/64]
		}
	}
	keep(seen)
}

// places returns how many cells of its buckets hold fp. Unlike seek it always looks
// at all of them, without a branch, so that the cache misses of many overlap.
func (c *store) places(fp uint64) (n int) {
	for i := range c.subtables {
		bucket, remainder := c.at(i, fp)
		n += c.countOf(bucket, remainder)
	}
	return n
}
