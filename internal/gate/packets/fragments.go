package packets

import (
	"cmp"
	"net/netip"
	"slices"
)

// fragments puts datagrams together. What came first counts where pieces overlap. Those
// that never become whole are dropped, a generation at a time.
type fragments struct {
	young, old map[puzzle]*pieces
	bytes      int // of the young ones, with what they take besides
}

// Limits of what is kept of fragments, for each of two generations.
const (
	maxFragmentBytes = 1 << 24
	fragmentCost     = 128 // bytes of a fragment besides its own
	puzzleCost       = 256 // and of a datagram
	maxDatagram      = 1 << 16
	maxParts         = 1 << 10 // of a datagram
)

// A puzzle is a datagram that is not whole.
type puzzle struct {
	src, dst  netip.Addr
	id        uint32
	transport uint8
}

type pieces struct {
	list []part // as they came
	end  int    // of the last one; 0 if it has not come
	sum  int    // bytes of all parts
	cost int
}

type part struct {
	offset int
	data   []byte
}

func newFragments() *fragments {
	return &fragments{young: map[puzzle]*pieces{}, old: map[puzzle]*pieces{}}
}

// add takes a fragment and returns the whole datagram if it is the last that was missing,
// or nil.
func (f *fragments) add(d *datagram) []byte {
	k := puzzle{d.src, d.dst, d.piece.id, d.transport}
	p := f.find(k)
	end := d.piece.offset + len(d.body)
	if end > maxDatagram || len(d.body) == 0 || len(p.list) == maxParts {
		return nil
	}
	if !d.piece.more && p.end == 0 {
		p.end = end
	}
	p.list = append(p.list, part{d.piece.offset, slices.Clone(d.body)})
	p.sum += len(d.body)
	p.cost += len(d.body) + fragmentCost
	f.bytes += len(d.body) + fragmentCost
	whole := p.whole()
	if whole != nil {
		delete(f.young, k)
		f.bytes -= p.cost
	}
	return whole
}

// find returns the pieces of a datagram, and begins a generation when there are too many.
func (f *fragments) find(k puzzle) *pieces {
	if p := f.young[k]; p != nil {
		return p
	}
	if f.bytes > maxFragmentBytes {
		f.young, f.old, f.bytes = map[puzzle]*pieces{}, f.young, 0
	}
	p := f.old[k]
	if p == nil {
		p = &pieces{cost: puzzleCost}
	}
	delete(f.old, k)
	f.young[k] = p
	f.bytes += p.cost
	return p
}

// whole returns the datagram if nothing is missing.
func (p *pieces) whole() []byte {
	if p.end == 0 || p.sum < p.end {
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(p.list), func(a, b part) int { return cmp.Compare(a.offset, b.offset) })
	at := 0
	for _, n := range sorted {
		if n.offset > at {
			return nil
		}
		at = max(at, n.offset+len(n.data))
	}
	if at < p.end {
		return nil
	}
	data := make([]byte, at)
	for _, n := range slices.Backward(p.list) { // the first one counts
		copy(data[n.offset:], n.data)
	}
	return data[:p.end]
}
