package elastic

import (
	"fmt"
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// A slow is the bucket array B. It grows by blocks that double it, so that nothing
// that is there is moved. Only writers use it, one at a time.
type slow struct {
	layout
	from   mem.Allocator
	keeps  bool // the allocator cannot take blocks back
	blocks [][]uint64
	used   int // blocks that are in use, the others are kept for later
	dirty  int // blocks that have been in use
}

func newSlow(s Shape, from mem.Allocator) (*slow, error) {
	_, heap := from.(mem.Heap)
	b := &slow{layout: newLayout(s), from: from, keeps: !heap}
	return b, b.grow()
}

// grow adds a block of empty buckets: the first segment, or as many as there are.
func (s *slow) grow() error {
	if err := s.reserve(s.used + 1); err != nil {
		return err
	}
	if s.used < s.dirty {
		clear(s.blocks[s.used])
	}
	s.used++
	s.dirty = max(s.dirty, s.used)
	return nil
}

// reserve takes the memory of all blocks up to the given number, or none of it
// but what cannot be given back, which is kept.
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
	clear(s.blocks[s.used:])
	s.blocks = s.blocks[:s.used]
	s.dirty = min(s.dirty, s.used)
}

// shrink drops the last block.
func (s *slow) shrink() {
	s.used--
	s.release()
}

// empty keeps the first block only, without fingerprints.
func (s *slow) empty() {
	s.used = 1
	s.release()
	clear(s.blocks[0])
}

// locate returns the block of a tree of a segment, and where in it the tree begins.
func (s *slow) locate(segment, group uint64) (block int, at uint64) {
	block = bits.Len64(segment)
	if block > 0 {
		segment -= 1 << (block - 1)
	}
	return block, (segment*s.segment + group) * s.treeBits
}

// tree returns a tree of a segment.
func (s *slow) tree(segment, group uint64) tree {
	block, at := s.locate(segment, group)
	return tree{s.blocks[block], at}
}

// size returns the words that were taken, those that are kept for later included.
func (s *slow) size() (words uint64) {
	for _, b := range s.blocks {
		words += uint64(len(b))
	}
	return words
}
