package elastic

import (
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// A slow is the bucket array B at its present size. It grows by blocks that double it,
// so that nothing that is there is moved. Only writers use it: a tree with the locks of
// its stripe, and the rest of this to read with any lock and to change with all.
//
// A number x of w bits says where its fingerprint is. The bucket is x mod m; of the
// quotient by the initial size, which is what a slot keeps, the lowest bits are those of
// the bucket's number that doublings added, and the rest is the fingerprint at the
// present size.
//
// After a doubling the trees of the lower half are split run by run.
type slow struct {
	layout
	from      mem.Allocator
	keeps     bool // the allocator cannot take blocks back
	blocks    [][]uint64
	doublings int // since the initial size; there is a block in use for each, and the first
	dirty     int // blocks that have been in use; others are kept for later

	split   []bool        // by runs of the lower half: guarded by their stripe
	unsplit atomic.Uint64 // trees in runs that are not split
	next    atomic.Uint64 // run to look at next
}

func newSlow(s Shape, from mem.Allocator) (*slow, error) {
	_, heap := from.(mem.Heap)
	b := &slow{layout: newLayout(s), from: from, keeps: !heap, dirty: 1}
	return b, b.reserve(1)
}

// reserve takes the memory of all blocks up to the given number, or none of it but what
// cannot be given back, which is kept.
func (s *slow) reserve(blocks int) error {
	for len(s.blocks) < blocks {
		words, err := s.from.Words(s.blockWords(len(s.blocks)))
		if err != nil {
			s.release()
			return fmt.Errorf("elastic: %w: %w", filter.ErrStorage, err)
		}
		s.blocks = append(s.blocks, words)
	}
	return nil
}

// release gives back the blocks that are not in use, if that is possible.
func (s *slow) release() {
	if s.keeps {
		return
	}
	used := min(s.doublings+1, len(s.blocks))
	clear(s.blocks[used:])
	s.blocks = s.blocks[:used]
	s.dirty = min(s.dirty, used)
}

// extend adds as many empty buckets as there are. Its block is reserved.
func (s *slow) extend() {
	s.doublings++
	if s.doublings < s.dirty {
		clear(s.blocks[s.doublings])
	}
	s.dirty = max(s.dirty, s.doublings+1)
}

// double extends the array by buckets for the upper half of the present ones, whose
// trees are to be split.
func (s *slow) double() {
	s.split = make([]bool, s.runs<<s.doublings)
	s.unsplit.Store(s.segment << s.doublings)
	s.next.Store(0)
	s.extend()
}

// halve drops the upper half.
func (s *slow) halve() {
	s.doublings--
	s.release()
}

// clear keeps the first block only, without fingerprints.
func (s *slow) clear() {
	s.doublings, s.split = 0, nil
	s.unsplit.Store(0)
	s.release()
	clear(s.blocks[0])
}

// close gives the memory back and removes its file, if there is one.
func (s *slow) close() error {
	s.blocks = nil
	s.unsplit.Store(0)
	if file, ok := s.from.(*mem.File); ok {
		if err := file.Discard(); err != nil {
			return fmt.Errorf("elastic: SlowFile: %w: %w", filter.ErrStorage, err)
		}
	}
	return nil
}

// size returns the words that were taken, those that are kept for later included.
func (s *slow) size() (words uint64) {
	for _, b := range s.blocks {
		words += uint64(len(b))
	}
	return words
}

// tree returns a tree of a segment.
func (s *slow) tree(segment, group uint64) tree {
	block, front, back := s.locate(segment, group)
	return tree{&s.layout, &s.blocks[block], front, back}
}

// twin returns the tree of the upper half that belongs to one of the lower half.
func (s *slow) twin(low, group uint64) tree { return s.tree(low|1<<(s.doublings-1), group) }

// trees returns all segments and groups.
func (s *slow) trees() iter.Seq2[uint64, uint64] {
	return func(yield func(segment, group uint64) bool) {
		for segment := range uint64(1) << s.doublings {
			for group := range s.segment {
				if !yield(segment, group) {
					return
				}
			}
		}
	}
}

// home returns where the fingerprint of x is put.
func (s *slow) home(x uint64) (segment, group, branch uint64) {
	group, branch = s.group(x & (1<<s.sizeBits - 1))
	return x >> s.sizeBits & (1<<s.doublings - 1), group, branch
}

// find returns where the fingerprint of x is: home, but for a tree that is not split,
// which also has the fingerprints of its twin.
func (s *slow) find(x uint64) (segment, group, branch uint64) {
	segment, group, branch = s.home(x)
	if low, run := s.lower(segment), group/runTrees; !s.isSplit(low, run) {
		segment = low
	}
	return segment, group, branch
}

// lower returns the segment of the lower half that belongs to any segment.
func (s *slow) lower(segment uint64) uint64 { return segment & (1<<s.doublings>>1 - 1) }

// isSplit reports whether a run of the lower half has been split.
func (s *slow) isSplit(low, run uint64) bool {
	return s.unsplit.Load() == 0 || s.split[low*s.runs+run]
}

// number returns the number that an entry of a group was made from.
func (s *slow) number(group uint64, e entry) uint64 {
	return e.fp<<s.sizeBits | (group*s.branches + e.branch)
}

// firstBit returns the bit of the first bucket of a tree.
func (s *slow) firstBit(segment, group uint64) uint64 {
	return segment<<s.sizeBits + group*s.branches
}
