package evergreen

import (
	"encoding/binary"
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen/internal/slab"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// A capture is a copy of what a filter holds: for every stripe the blocks in the
// order of their numbers, each as a count and that many fingerprints.
type capture struct {
	*slab.Geometry
	blocks, floor uint64
	keys, set     uint64 // keys and set bits
	runs          slab.RunCounts
	parts         [stripeCount][]byte
	err           error
	at            [stripeCount]int // how far next has read
	list          []uint64
}

const countBytes = 2

// capture copies stripe by stripe, each under its own lock. Nothing is split or
// merged meanwhile; that is done afterwards.
func (t *table) capture() *capture {
	t.size.Lock()
	defer t.size.Unlock()
	c := &capture{Geometry: t.store.Geometry, blocks: t.load().blocks(), floor: t.size.floor.Load()}
	for s := range t.stripes {
		c.copyStripe(t, s)
	}
	return c
}

func (c *capture) copyStripe(t *table, s int) {
	st := &t.stripes[s]
	st.Lock()
	defer st.Unlock()
	if t.gone == closed {
		c.err = errClosed
	}
	if c.err != nil {
		return
	}
	_ = t.deliver(st)                    // what there is no memory for waits on
	t.meter.flush(st)                    // so that a filter read back goes the same way as this one
	waiting := make(map[uint64][]uint64) // fingerprints in the inbox, by their blocks
	for _, mixed := range st.inbox.keys() {
		i := place(mixed, c.blocks)
		waiting[i] = append(waiting[i], t.fingerprint(mixed))
	}
	blocks := (c.blocks - uint64(s) + stripeCount - 1) / stripeCount
	part, err := newBytes(blocks*countBytes + uint64(st.keys)*uint64(c.Width))
	if err != nil {
		c.err = err
		return
	}
	c.keys += uint64(st.keys)
	for i := uint64(s); i < c.blocks; i += stripeCount {
		r := *t.store.Ref(i)
		count := r.Count() + len(waiting[i])
		c.runs.Add(c.Geometry, count)
		part = binary.LittleEndian.AppendUint16(part, uint16(count))
		if r.Count() > 0 {
			part = append(part, t.store.Run(r).Bytes[:r.Count()*c.Width]...)
		}
		for _, fp := range waiting[i] {
			part = append(part, binary.LittleEndian.AppendUint64(nil, fp)[:c.Width]...)
		}
		c.set += t.lines.at(i).Ones()
	}
	c.parts[s] = part
}

// newBytes returns an empty slice with room for n bytes, from where large memory
// comes from.
func newBytes(n uint64) ([]byte, error) {
	words, err := mem.Words((n + 7) / 8)
	if err != nil {
		return nil, fmt.Errorf("evergreen: snapshot: %w: %w", filter.ErrStorage, err)
	}
	return slab.Bytes(words)[:0], nil
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
		copy(word[:], rest[j*c.Width:(j+1)*c.Width])
		c.list = append(c.list, binary.LittleEndian.Uint64(word[:]))
	}
	c.at[s] += countBytes + count*c.Width
	return c.list
}
