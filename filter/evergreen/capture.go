package evergreen

import (
	"encoding/binary"
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// A capture is a copy of what a filter holds: for every stripe the blocks in the
// order of their numbers, each as a count and that many fingerprints.
type capture struct {
	*geometry
	blocks, floor uint64
	keys, set     uint64 // keys and set bits
	runs          census
	parts         [stripeCount][]byte
	err           error
	at            [stripeCount]int // how far next has read
	list          []uint64
}

const countBytes = 2

// capture copies stripe by stripe, each under its own lock. Nothing is split or
// merged meanwhile; that is caught up with afterwards.
func (t *table) capture() *capture {
	t.resizing.Lock()
	defer t.resizing.Unlock()
	c := &capture{geometry: t.store.geometry, blocks: t.load().blocks(), floor: t.floor.Load()}
	for s := range t.stripes {
		t.captureStripe(c, s)
	}
	return c
}

func (t *table) captureStripe(c *capture, s int) {
	st := &t.stripes[s]
	st.Lock()
	defer st.Unlock()
	if t.gone == closed {
		c.err = errClosed
	}
	if c.err != nil {
		return
	}
	_ = t.deliver(st) // what there is no memory for waits on
	t.flush(st)       // so that a filter read back goes the same way as this one
	waiting := t.waitingIn(st, c.blocks)
	blocks := (c.blocks - uint64(s) + stripeCount - 1) / stripeCount
	part, err := newBytes(blocks*countBytes + uint64(st.keys)*uint64(c.width))
	if err != nil {
		c.err = err
		return
	}
	c.keys += uint64(st.keys)
	for i := uint64(s); i < c.blocks; i += stripeCount {
		r := t.store.ref(i)
		count := r.count() + len(waiting[i])
		c.runs[c.classes[count]]++
		part = binary.LittleEndian.AppendUint16(part, uint16(count))
		if r.count() > 0 {
			part = append(part, t.store.run(r)[ownerBytes:][:r.count()*c.width]...)
		}
		for _, fp := range waiting[i] {
			part = append(part, binary.LittleEndian.AppendUint64(nil, fp)[:c.width]...)
		}
		c.set += t.lines.at(i).ones()
	}
	c.parts[s] = part
}

// waitingIn returns the fingerprints in the inbox of a stripe, by their blocks among n;
// nil if there are none.
func (t *table) waitingIn(st *stripe, n uint64) (waiting map[uint64][]uint64) {
	for _, mixed := range st.inbox.list(st.waiting) {
		if waiting == nil {
			waiting = make(map[uint64][]uint64)
		}
		i := t.place(mixed, n)
		waiting[i] = append(waiting[i], t.fingerprint(mixed))
	}
	return waiting
}

// newBytes returns an empty slice with room for n bytes, from where large memory
// comes from.
func newBytes(n uint64) ([]byte, error) {
	words, err := mem.Words((n + 7) / 8)
	if err != nil {
		return nil, fmt.Errorf("evergreen: snapshot: %w: %w", filter.ErrStorage, err)
	}
	return bytesOf(words)[:0], nil
}

// rewind has next begin anew.
func (c *capture) rewind() { c.at = [stripeCount]int{} }

// next returns the fingerprints of block i. Blocks are asked for in order. The list
// is good until the next call.
func (c *capture) next(i uint64) []uint64 {
	s := i % stripeCount
	rest := c.parts[s][c.at[s]:]
	count := int(binary.LittleEndian.Uint16(rest))
	rest = rest[countBytes:]
	c.list = c.list[:0]
	var word [8]byte
	for j := range count {
		copy(word[:], rest[j*c.width:(j+1)*c.width])
		c.list = append(c.list, binary.LittleEndian.Uint64(word[:]))
	}
	c.at[s] += countBytes + count*c.width
	return c.list
}
