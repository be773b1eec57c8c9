package perennial

import "math/bits"

// A chunk is buckets of a line that were not read yet: from idx, which begins at bit of the
// map and below position slot, to before held.
type chunk struct {
	line      *line
	idx, held uint
	bit, slot uint
}

func chunkOf(l *line) chunk {
	return chunk{line: l, held: uint(l.held()), bit: headBits, slot: lineBits}
}

// first returns the extent of the next n buckets; there are as many.
func (c *chunk) first(n uint) extent { return extent{n, c.line.end(int(c.idx+n)) - c.bit - n} }

// firstFitting returns the extent of those of the next n buckets that fit a line of extent
// x.
func (c *chunk) firstFitting(n uint, x extent, w uint) (taken extent) {
	for bit := c.bit; taken.held < n; {
		count := uint(bits.TrailingZeros64(^c.line.window(bit)))
		if !x.with(taken.held+1, taken.slots+count).fits(w) {
			break
		}
		taken = taken.with(1, count)
		bit += count + 1
	}
	return taken
}

// skip passes over buckets of extent x.
func (c *chunk) skip(x extent, w uint) {
	c.idx += x.held
	c.bit += x.held + x.slots
	c.slot -= x.slots * w
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
