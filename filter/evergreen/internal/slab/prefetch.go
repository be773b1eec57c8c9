package slab

import (
	"unsafe"

	"github.com/everbloom-go/everbloom/internal/line"
)

// What is here asks for memory that will be needed soon, so that cache misses overlap.
// It changes nothing.

// RefAddress returns where the ref of a block is, for [Store.PrefetchAt], or nil if
// there is no such block any more. It needs no lock.
func (s *Store) RefAddress(block uint64) *uint64 {
	if words := s.refs.At(block); words != nil {
		return &words[0]
	}
	return nil
}

// PrefetchAt asks for the run whose ref is at p. It takes no lock, so what it finds may
// be out of date, and is only a hint.
func (s *Store) PrefetchAt(p *uint64) {
	if p != nil {
		s.prefetchRun(Ref(line.Peek(p)))
	}
}

func (s *Store) prefetchRun(r Ref) {
	words := s.pages.words.At(r.address() / pageWords)
	if words == nil || r.Count() == 0 {
		return
	}
	first := r.address() % pageWords * 8
	n := min(uint64(ownerBytes+r.Count()*s.Width), pageBytes-first)
	line.PrefetchBytes(&Bytes(words)[first], int(n))
}

// PrefetchEnd asks for the end of a run, or all of it if the next fingerprint will have
// it move.
func (s *Store) PrefetchEnd(r Ref) {
	n := r.Count()
	if n == s.capacity[s.class[n]] {
		s.prefetchRun(r)
		return
	}
	line.Prefetch(unsafe.Pointer(&s.Run(r).Bytes[n*s.Width]))
}

// prefetchPlace asks for the beginning of a place, given its address plus one, or 0 if
// there is none.
func (s *Store) prefetchPlace(address uint64) {
	if address != 0 {
		line.Prefetch(unsafe.Pointer(&s.pages.words.At((address - 1) / pageWords)[(address-1)%pageWords]))
	}
}
