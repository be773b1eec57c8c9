package slab

import "encoding/binary"

// A sizeClass is all runs of one size, and the free places between them.
type sizeClass struct {
	list
	fill  int    // places in the top page that are taken or free
	free  int    // places among all of them that are free
	first uint64 // address of the free place to be taken next, plus one; 0 if there is none
}

// A freePlace has no owner, and says where the free places before and behind it in the
// list are, by their addresses plus one.
type freePlace []byte

func (p freePlace) next() uint64         { return binary.LittleEndian.Uint64(p[8:]) }
func (p freePlace) previous() uint64     { return binary.LittleEndian.Uint64(p[16:]) }
func (p freePlace) setNext(a uint64)     { binary.LittleEndian.PutUint64(p[8:], a) }
func (p freePlace) setPrevious(a uint64) { binary.LittleEndian.PutUint64(p[16:], a) }

func (s *Store) freePlace(a uint64) freePlace { return freePlace(s.bytes(a-1, 1)) }

// places returns how many places there are, taken or free.
func (c *sizeClass) places(class int) int {
	if c.count == 0 {
		return 0
	}
	return (int(c.count)-1)*perPage(class) + c.fill
}

// last returns the address of the last place.
func (c *sizeClass) last(class int) uint64 {
	return (c.top-1)*pageWords + uint64((c.fill-1)*runSizes[class]/8)
}

// allowed is how many free places a class may have. Blocks leave a class and others
// come, so most are taken soon, and to move runs about would be in vain. Small classes
// are kept without any.
func (c *sizeClass) allowed(class int) int {
	if n := c.places(class); n >= FreeFrom {
		return n / 32
	}
	return 0
}

// FreeFrom is how many places a class has that may have free ones. It is a variable
// only so that tests can have free places in small stores.
var FreeFrom = 4096

// hasPlace reports whether a run can be taken without another page.
func (c *sizeClass) hasPlace(class int) bool {
	return c.first != 0 || c.top != 0 && c.fill < perPage(class)
}

// take returns the address of a place for a run of the given class. A page must be
// reserved if the class has no place.
func (s *Store) take(block uint64, class int) (address uint64) {
	if class == 0 {
		return 0
	}
	c := &s.classes[class]
	if c.first != 0 {
		address = c.first - 1
		s.unlink(c, address)
		s.prefetchPlace(c.first)
	} else {
		if !c.hasPlace(class) {
			s.pages.take(&c.list, class)
			c.fill = 0
		}
		c.fill++
		address = c.last(class)
	}
	setOwner(s.bytes(address, class), uint32(block))
	return address
}

// giveBack frees a place that no ref leads to any more. The caller holds the given
// block.
func (s *Store) giveBack(address uint64, class int, held uint64) {
	if class == 0 {
		return
	}
	c := &s.classes[class]
	s.link(c, address)
	if c.free > c.allowed(class) {
		s.trim(c, class, held)
	}
}

// link makes a place free, the first in the list.
func (s *Store) link(c *sizeClass, address uint64) {
	p := s.freePlace(address + 1)
	setOwner(p, noOwner)
	p.setNext(c.first)
	p.setPrevious(0)
	if c.first != 0 {
		s.freePlace(c.first).setPrevious(address + 1)
	}
	c.first = address + 1
	c.free++
}

// unlink takes a free place out of the list.
func (s *Store) unlink(c *sizeClass, address uint64) {
	p := s.freePlace(address + 1)
	if p.next() != 0 {
		s.freePlace(p.next()).setPrevious(p.previous())
	}
	if p.previous() != 0 {
		s.freePlace(p.previous()).setNext(p.next())
	} else {
		c.first = p.next()
	}
	c.free--
}

// How much one change does at most. It is more than one, so that free places left over
// from busy times go away; a last place that is free itself costs next to nothing.
const (
	movesAtOnce = 4
	popsAtOnce  = 64
)

// trim moves the last runs of a class into its free places until there are few enough,
// or enough was done for once. If another goroutine holds the block of a run, the free
// places stay for now: two goroutines that wait here could wait for each other.
func (s *Store) trim(c *sizeClass, class int, held uint64) {
	for moves, pops := 0, 0; moves < movesAtOnce && pops < popsAtOnce && c.free > c.allowed(class); pops++ {
		last := c.last(class)
		place := s.bytes(last, class)
		if block := uint64(owner(place)); block == noOwner {
			s.unlink(c, last)
		} else if s.locks.TryLock(block, held) {
			address := c.first - 1
			s.unlink(c, address)
			s.moveTo(address, place, class)
			s.locks.Unlock(block, held)
			moves++
		} else {
			return
		}
		s.pop(c, class)
		if c.top != 0 {
			s.prefetchPlace(c.last(class) + 1)
		}
	}
}

// moveTo copies a run to another place.
func (s *Store) moveTo(address uint64, from []byte, class int) {
	copy(s.bytes(address, class), from)
	r := s.Ref(uint64(owner(from)))
	*r = newRef(address, r.Count())
}

// pop takes the last place off a class.
func (s *Store) pop(c *sizeClass, class int) {
	c.fill--
	if c.fill == 0 {
		s.pages.giveBack(&c.list)
		c.fill = perPage(class)
		if s.isFragmented() {
			s.fragmented.Store(true)
		}
	}
}
