package evergreen

import "encoding/binary"

// A shelf is all runs of one class, and the holes between them.
type shelf struct {
	list
	fill  int    // places in the top page that are taken or holes
	holes int    // places among all of them that are free
	first uint64 // address of the hole to be taken next, plus one; 0 if there is none
}

// A hole is a free place of a run: it has no owner, and says where the holes before
// and behind it in the list are, by their addresses plus one.
type hole []byte

// nobody is the owner of a hole.
const nobody = 1<<32 - 1

func (h hole) next() uint64            { return binary.LittleEndian.Uint64(h[8:]) }
func (h hole) previous() uint64        { return binary.LittleEndian.Uint64(h[16:]) }
func (h hole) setNext(a uint64)        { binary.LittleEndian.PutUint64(h[8:], a) }
func (h hole) setPrevious(a uint64)    { binary.LittleEndian.PutUint64(h[16:], a) }
func (s *store) hole(a uint64) hole    { return hole(s.bytes(a-1, 1)) }
func (sh *shelf) places(class int) int { return (int(sh.count)-1)*perPage(class) + sh.fill }

// last returns the address of the last place of a shelf.
func (sh *shelf) last(class int) uint64 {
	return (sh.top-1)*pageWords + uint64((sh.fill-1)*runSizes[class]/8)
}

// allowed is how many holes a shelf may have. Blocks leave a class and others come,
// so most holes are taken soon, and to move runs about would be in vain. Small
// shelves are kept without any.
func (sh *shelf) allowed(class int) int {
	if n := sh.places(class); n >= holesFrom {
		return n / 32
	}
	return 0
}

// holesFrom is a variable only so that tests can have holes in small filters.
var holesFrom = 4096

// hasPlace reports whether a run can be taken without another page.
func (sh *shelf) hasPlace(class int) bool {
	return sh.first != 0 || sh.top != 0 && sh.fill < perPage(class)
}

// take returns the address of a place for a run of the given class. A page must be
// reserved if the shelf has no place.
func (s *store) take(block uint64, class int) (address uint64) {
	if class == 0 {
		return 0
	}
	shelf := &s.shelves[class]
	if shelf.first != 0 {
		address = shelf.first - 1
		s.unlink(shelf, address)
		s.expectPlace(shelf.first)
	} else {
		if !shelf.hasPlace(class) {
			s.pages.take(&shelf.list, class)
			shelf.fill = 0
		}
		shelf.fill++
		address = shelf.last(class)
	}
	setOwner(s.bytes(address, class), uint32(block))
	return address
}

// giveBack frees a place that no ref leads to any more. The caller holds the stripe
// of the given block.
func (s *store) giveBack(address uint64, class int, block uint64) {
	if class == 0 {
		return
	}
	shelf := &s.shelves[class]
	s.link(shelf, address)
	if shelf.holes > shelf.allowed(class) {
		s.trim(shelf, class, block)
	}
}

// link makes a place a hole, the first in the list.
func (s *store) link(shelf *shelf, address uint64) {
	h := s.hole(address + 1)
	setOwner(h, nobody)
	h.setNext(shelf.first)
	h.setPrevious(0)
	if shelf.first != 0 {
		s.hole(shelf.first).setPrevious(address + 1)
	}
	shelf.first = address + 1
	shelf.holes++
}

// unlink takes a hole out of the list.
func (s *store) unlink(shelf *shelf, address uint64) {
	h := s.hole(address + 1)
	if h.next() != 0 {
		s.hole(h.next()).setPrevious(h.previous())
	}
	if h.previous() != 0 {
		s.hole(h.previous()).setNext(h.next())
	} else {
		shelf.first = h.next()
	}
	shelf.holes--
}

// trim moves the last runs of a class into its holes until there are few enough, or
// enough was done for once. A run can be moved only by who holds its stripe. If
// somebody else does, the holes have to stay for now: to wait here could be to wait
// for each other.
func (s *store) trim(shelf *shelf, class int, held uint64) {
	for moves, pops := 0, 0; moves < movesAtOnce && pops < popsAtOnce && shelf.holes > shelf.allowed(class); pops++ {
		last := shelf.last(class)
		run := s.bytes(last, class)
		if block := uint64(owner(run)); block == nobody {
			s.unlink(shelf, last)
		} else if s.stripes.tryLock(block, held) {
			address := shelf.first - 1
			s.unlink(shelf, address)
			copy(s.bytes(address, class), run)
			s.setRef(block, newRef(address, s.ref(block).count()))
			s.stripes.unlock(block, held)
			moves++
		} else {
			return
		}
		s.pop(shelf, class)
		if shelf.top != 0 {
			s.expectPlace(shelf.last(class) + 1)
		}
	}
}

// How much one change does at most. It is more than one, so that holes left over
// from busy times go away; a place that is a hole itself costs next to nothing.
const (
	movesAtOnce = 4
	popsAtOnce  = 64
)

// pop takes the last place off a shelf.
func (s *store) pop(shelf *shelf, class int) {
	shelf.fill--
	if shelf.fill == 0 {
		s.pages.giveBack(&shelf.list)
		shelf.fill = perPage(class)
		if s.isLoose() {
			s.loose.Store(true)
		}
	}
}
