package elastic

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/packed"
)

// A filter is stored in the common envelope (internal/frame) as kind 9:
//
//	shape    bits, hashes, hashbits, slots, branches, growth, threshold, salt
//	payload  words, little endian:
//	         doublings | floor | keys | 1 if they are counted, else 0 | fingerprints
//	         and then without gaps, the lowest bits of a word first, bucket by bucket:
//	         count, as wide as the largest possible | count fingerprints, ascending
//	         unused bits of the last word are clear
//
// Fingerprints are those of the stored size, quotients by it of w-log2(m) bits. The
// bits of the filter and where in a tree a fingerprint lies follow from the rest; all
// trees are split. The floor is the number of doublings below which the filter does not
// shrink by itself. The summary must be true. The format is version 1: do not change.
const (
	formatVersion = 1
	headWords     = 5
)

// A stream is numbers without gaps in words.
type stream struct {
	words []uint64
	at    uint64 // bit
}

// put appends a number of the given width, at most 63 bits.
func (s *stream) put(v, width uint64) {
	if width > 0 { // else there may be no word left
		packed.SetBits(s.words, s.at, width, v)
	}
	s.at += width
}

// next returns the next number of the given width, at most 63 bits.
func (s *stream) next(width uint64) (v uint64) {
	if width > 0 {
		v = packed.Bits(s.words, s.at, width)
	}
	s.at += width
	return v
}

// Snapshot captures the filter as it is now, in memory of its own. Writers wait
// meanwhile, and a doubling that is under way is finished.
func (f *Filter) Snapshot() io.WriterTo {
	f.stripes.lockAll()
	defer f.stripes.unlockAll()
	if f.closed {
		return frame.Failed(errClosed)
	}
	f.table.splitAll()
	f.setKeys(f.table.keys.Load(), f.exact) // the delete before may not have come to it yet
	h := f.head()
	words, err := mem.Words(headWords + h.streamWords(f.shape))
	if err != nil {
		return frame.Failed(fmt.Errorf("elastic: snapshot: %w: %w", filter.ErrStorage, err))
	}
	copy(words, []uint64{h.doublings, h.floor, h.keys, h.exact, h.prints})
	f.table.encode(&stream{words: words[headWords:]})
	return frame.Words(frame.Elastic, formatVersion, f.shape, f.summary(), words)
}

func (f *Filter) summary() frame.Summary {
	e := f.table.slow.doublings
	return frame.Summary{
		Keys: f.Len(), SetBits: uint64(f.table.set.Load()),
		FastBits: fastBits(f.shape.Bits << e), SlowBits: f.shape.SlowBitsAt(e),
	}
}

// head returns what the payload begins with.
func (f *Filter) head() head {
	h := head{doublings: uint64(f.table.slow.doublings), floor: uint64(f.floor), keys: f.Len(), prints: uint64(f.table.prints.Load())}
	if f.exact {
		h.exact = 1
	}
	return h
}

// encode appends all buckets. All trees are split.
func (t *table) encode(to *stream) {
	e := t.slow.doublings
	width, countWidth := t.slow.width-uint64(e), t.slow.countWidth()
	for segment, group := range t.slow.trees() {
		all := t.slow.tree(segment, group).gather(t.entries[:0])
		slices.SortFunc(all, func(a, b entry) int {
			return cmp.Or(cmp.Compare(a.branch, b.branch), cmp.Compare(a.fp, b.fp))
		})
		for branch := range t.slow.branchesOf(group) {
			n := 0
			for n < len(all) && all[n].branch == branch {
				n++
			}
			to.put(uint64(n), countWidth)
			for _, p := range all[:n] {
				to.put(p.fp>>e, width)
			}
			all = all[n:]
		}
	}
}
