package evergreen

import (
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/internal/mem"
)

// store is the slow memory: the runs of all blocks, in pages that hold runs of one
// class each. In every class only the top page has free places behind its last run.
// Who gives a run back leaves a hole, which the next run of the class takes; and
// when there are too many, the last runs are moved into them. Since all blocks grow
// in step, free places would otherwise pile up in classes that nobody needs any
// more.
//
// A run belongs to whoever holds the stripe of its block. The lock here is taken
// after that of the stripe, and only when a run changes its class.
type store struct {
	*geometry
	refs    *mem.Array // of all blocks, one word each
	stripes *stripes

	loose atomic.Bool // there are too many free pages

	mu      sync.Mutex // guards what follows
	pages   pages
	shelves [classCount]shelf
}

func newStore(width int, stripes *stripes, from mem.Allocator) (*store, error) {
	refs, err := mem.NewArray(lowBits, 1, from)
	if err != nil {
		return nil, err
	}
	p, err := newPages(from)
	if err != nil {
		return nil, err
	}
	return &store{geometry: geometries[width](), refs: refs, stripes: stripes, pages: p}, nil
}

// slot returns where the ref of a block is, for whoever holds its stripe.
func (s *store) slot(block uint64) *uint64 { return &s.refs.At(block)[0] }

// ref returns where the run of a block is.
func (s *store) ref(block uint64) ref { return ref(*s.slot(block)) }

func (s *store) setRef(block uint64, r ref) { *s.slot(block) = uint64(r) }

// run returns the bytes of the run at r.
func (s *store) run(r ref) []byte { return s.bytes(r.address(), int(s.classes[r.count()])) }

func (s *store) bytes(address uint64, class int) []byte {
	page := bytesOf(s.pages.words.At(address / pageWords))
	first := address % pageWords * 8
	return page[first : first+uint64(runSizes[class])]
}

// push appends v to the run of a block, whose ref is in the slot.
func (s *store) push(slot *uint64, block, v uint64) error {
	r := ref(*slot)
	n := r.count()
	if n == s.capacity[s.classes[n]] {
		if err := s.move(block, n+1); err != nil {
			return err
		}
		r = ref(*slot)
	}
	s.add(s.bytes(r.address(), int(s.classes[n+1])), n, v)
	*slot = uint64(newRef(r.address(), n+1))
	return nil
}

// drop takes fingerprint i out of the run of a block, whose ref is in the slot: the
// last one takes its place.
func (s *store) drop(slot *uint64, block uint64, run []byte, i int) error {
	r := ref(*slot)
	n := r.count() - 1
	gone := s.get(run, i)
	s.put(run, i, s.get(run, n))
	if s.classes[n] == s.classes[n+1] {
		*slot = uint64(newRef(r.address(), n))
		return nil
	}
	if err := s.move(block, n); err != nil {
		s.put(run, i, gone)
		return err
	}
	return nil
}

// move gives the block a run for the given number of fingerprints, with as many of
// the old ones as there are and fit.
func (s *store) move(block uint64, count int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.ref(block)
	old, class := int(s.classes[r.count()]), int(s.classes[count])
	if class != 0 && !s.shelves[class].hasPlace(class) {
		if err := s.pages.reserve(1); err != nil {
			return err
		}
	}
	address := s.take(block, class)
	if class != 0 && old != 0 {
		copy(s.content(address, class), s.content(r.address(), old))
	}
	s.setRef(block, newRef(address, count))
	s.giveBack(r.address(), old, block)
	return nil
}

// content returns a run without its owner.
func (s *store) content(address uint64, class int) []byte {
	return s.bytes(address, class)[ownerBytes:]
}
