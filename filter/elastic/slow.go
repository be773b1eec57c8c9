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
}

func newSlow(s Shape, from mem.Allocator) (*slow, error) {
	_, heap := from.(mem.Heap)
	b := &slow{layout: newLayout(s), from: from, keeps: !heap}
	return b, b.grow()
}

// grow adds a block of empty buckets: the first segment, or as many as there are.
func (s *slow) grow() error {
	if s.used < len(s.blocks) {
		clear(s.blocks[s.used])
		s.used++
		return nil
	}
	words, err := s.from.Words(s.blockWords(s.used))
	if err != nil {
		return fmt.Errorf("elastic: %w: %w", filter.ErrStorage, err)
	}
	s.blocks = append(s.blocks, words)
	s.used++
	return nil
}

// shrink drops the last block.
func (s *slow) shrink() {
	s.used--
	if !s.keeps {
		s.blocks[s.used] = nil
		s.blocks = s.blocks[:s.used]
	}
}

// tree returns a tree of a segment.
func (s *slow) tree(segment, group uint64) tree {
	block := bits.Len64(segment)
	if block > 0 {
		segment -= 1 << (block - 1)
	}
	return tree{s.blocks[block], (segment*s.segment + group) * s.treeBits}
}

// size returns the words in use.
func (s *slow) size() (words uint64) {
	for _, b := range s.blocks[:s.used] {
		words += uint64(len(b))
	}
	return words
}
