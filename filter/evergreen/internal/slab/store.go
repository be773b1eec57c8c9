// Package slab stores runs of fingerprints, one for each block of a filter.
//
// Runs come in a few size classes. A page of 4 KiB holds runs of one class, which its
// size divides well; a run that outgrows its class moves to a page of the next one. In
// every class only the top page has unused places behind its last run. A run that
// leaves makes its place free, and the next run of the class takes it; when too many
// places are free, the last runs are moved into them. All blocks of a filter grow in
// step, so without that free places would pile up in classes that are not needed any
// more.
//
//	refs   [address, count][address, count] …
//	pages  |owner f f f f . |owner f f f . . |owner f f f f . |free     | …
//
// A run names its owner, the block it belongs to, so that runs and whole pages can be
// moved. The package knows nothing of what blocks are: it moves the run of another
// block only if [Locks] gives it that block.
package slab

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/line"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// Locks are those of the blocks. A block may share its lock with others.
type Locks interface {
	// TryLock locks a block without waiting. The caller holds that of the block held.
	TryLock(block, held uint64) bool
	// Unlock undoes a TryLock that succeeded.
	Unlock(block, held uint64)
}

// Store is the runs of all blocks. The caller of a method that is about a block holds
// the lock of that block. The store's own lock comes after it, and is taken only when a
// run changes its class.
type Store struct {
	*Geometry
	refs  *mem.Array // of all blocks, one word each
	locks Locks

	fragmented atomic.Bool // there are too many free pages

	mu      sync.Mutex // guards what follows
	pages   pages
	classes [classCount]sizeClass
}

// New returns a store without blocks for fingerprints of so many bytes. Refs grow in
// steps of 2^first blocks at least.
func New(width, first int, locks Locks, from mem.Allocator) *Store {
	return &Store{Geometry: GeometryOf(width), refs: mem.NewArray(first, 1, from), locks: locks, pages: newPages(from)}
}

// errMemory is the error for memory that there is none of.
func errMemory(err error) error {
	return fmt.Errorf("evergreen: slow memory: %w: %w", filter.ErrStorage, err)
}

// Grow makes sure that there are so many blocks. New ones have no run.
func (s *Store) Grow(blocks uint64) error {
	if err := s.refs.Grow(blocks); err != nil {
		return errMemory(err)
	}
	return nil
}

// Shrink gives back refs that lie far behind the given number of blocks.
func (s *Store) Shrink(blocks uint64) { s.refs.Shrink(blocks + blocks/8) }

// Ref returns where the ref of a block is.
func (s *Store) Ref(block uint64) *Ref { return (*Ref)(&s.refs.At(block)[0]) }

// Run returns the fingerprints of the run at r.
func (s *Store) Run(r Ref) line.Run {
	place := s.bytes(r.address(), int(s.class[r.Count()]))
	return line.NewRun(place[ownerBytes:], r.Count(), s.Width)
}

// bytes returns a place with its owner.
func (s *Store) bytes(address uint64, class int) []byte {
	page := Bytes(s.pages.words.At(address / pageWords))
	first := address % pageWords * 8
	return page[first : first+uint64(runSizes[class])]
}

// Push appends v to the run of a block, whose ref is r.
func (s *Store) Push(r *Ref, block, v uint64) error {
	n := r.Count()
	if n == s.capacity[s.class[n]] {
		if err := s.move(block, n+1); err != nil {
			return err
		}
	}
	place := s.bytes(r.address(), int(s.class[n+1]))
	binary.LittleEndian.PutUint64(place[ownerBytes+n*s.Width:], v)
	*r = newRef(r.address(), n+1)
	return nil
}

// Drop takes fingerprint i out of the run of a block, which is at r: the last one takes
// its place.
func (s *Store) Drop(r *Ref, block uint64, run line.Run, i int) error {
	n := run.Len() - 1
	gone := run.At(i)
	run.Set(i, run.At(n))
	if s.class[n] == s.class[n+1] {
		*r = newRef(r.address(), n)
		return nil
	}
	if err := s.move(block, n); err != nil {
		run.Set(i, gone)
		return err
	}
	return nil
}

// Replace gives a block the fingerprints of a list in place of those it had.
func (s *Store) Replace(block uint64, list []uint64) error {
	if err := s.resize(block, len(list)); err != nil {
		return err
	}
	if len(list) > 0 {
		run := s.Run(*s.Ref(block))
		for i, v := range list {
			run.SetLast(i, v)
		}
	}
	return nil
}

// Join moves the fingerprints of one block behind those of another. Both have the same
// lock.
func (s *Store) Join(to, from uint64) error {
	n, source := s.Ref(to).Count(), *s.Ref(from)
	if source.Count() == 0 {
		return nil
	}
	if err := s.resize(to, n+source.Count()); err != nil {
		return err
	}
	run, old := s.Run(*s.Ref(to)), s.Run(*s.Ref(from))
	for i := range old.Len() {
		run.SetLast(n+i, old.At(i))
	}
	return s.resize(from, 0)
}

// resize sets the number of fingerprints of a block.
func (s *Store) resize(block uint64, count int) error {
	r := s.Ref(block)
	if s.class[count] != s.class[r.Count()] {
		return s.move(block, count)
	}
	*r = newRef(r.address(), count)
	return nil
}

// move gives the block a run for the given number of fingerprints, with as many of
// the old ones as there are and fit.
func (s *Store) move(block uint64, count int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.Ref(block)
	from, old, class := r.address(), int(s.class[r.Count()]), int(s.class[count])
	if class != 0 && !s.classes[class].hasPlace(class) {
		if err := s.pages.reserve(1); err != nil {
			return err
		}
	}
	address := s.take(block, class)
	if class != 0 && old != 0 {
		copy(s.bytes(address, class)[ownerBytes:], s.bytes(from, old)[ownerBytes:])
	}
	*r = newRef(address, count)
	s.giveBack(from, old, block)
	return nil
}

// Clear gives up all runs and keeps memory for so many blocks. The caller holds all
// blocks.
func (s *Store) Clear(blocks, keep uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range blocks {
		*s.Ref(i) = 0
	}
	s.classes = [classCount]sizeClass{}
	s.pages.used, s.pages.free = 0, list{}
	s.pages.release()
	s.Shrink(keep)
	s.fragmented.Store(false)
}
