package elastic

import (
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/mem"
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
// bits of the filter and where in a tree a fingerprint lies follow from the rest;
// all expansions are settled. The floor is the number of doublings below which the
// filter does not shrink by itself. The summary must be true. The format is version
// 1: do not change.
const (
	formatVersion = 1
	headWords     = 5
)

// Snapshot captures the filter as it is now, in memory of its own. Writers wait
// meanwhile, and an expansion that is under way is finished.
func (f *Filter) Snapshot() io.WriterTo {
	f.mu.Lock()
	defer f.mu.Unlock()
	image := f.image()
	words, err := []uint64(nil), errClosed
	if !f.closed {
		words, err = mem.Words(image.Header.Payload / 8)
	}
	if err != nil {
		err = fmt.Errorf("elastic: snapshot: %w: %w", filter.ErrStorage, err)
		image.Payload = func(io.Writer) error { return err }
		return image
	}
	rest := words
	_ = f.encode(func(part []uint64) error { // cannot fail
		rest = rest[copy(rest, part):]
		return nil
	})
	image.Payload = func(w io.Writer) error { return frame.WriteWords(w, words) }
	return image
}

// Image is like Snapshot without the copy: nobody may change the filter before
// the result is written.
func (f *Filter) Image() io.WriterTo {
	f.mu.Lock()
	defer f.mu.Unlock()
	image := f.image()
	image.Payload = func(w io.Writer) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.closed {
			return errClosed
		}
		return f.encode(func(part []uint64) error { return frame.WriteWords(w, part) })
	}
	return image
}

// image returns the stored form but for the payload. It settles the filter.
func (f *Filter) image() *frame.Image {
	if !f.closed {
		f.settleAll()
	}
	return &frame.Image{
		Header: frame.Header{
			Kind:    frame.Elastic,
			Version: formatVersion,
			Shape:   frame.ShapeOf(f.shape),
			Summary: f.summary(),
			Payload: 8 * (headWords + f.head().streamWords(f.shape)),
		},
	}
}

func (f *Filter) summary() frame.Summary {
	return frame.Summary{
		Keys: f.keys, SetBits: f.set,
		FastBits: f.shape.fastBits(f.doublings), SlowBits: f.shape.SlowBitsAt(f.doublings),
	}
}

// head returns what the payload begins with.
func (f *Filter) head() head {
	h := head{doublings: uint64(f.doublings), floor: uint64(f.floor), keys: f.keys, prints: f.prints}
	if f.exact {
		h.exact = 1
	}
	return h
}

// countWidth returns the width of a bucket's count in files.
func (l *layout) countWidth() uint64 {
	most := l.slots
	if l.branches > 1 {
		most *= 2
	}
	return uint64(bits.Len64(most))
}

// encode hands the payload to emit, part by part. All trees are settled.
func (f *Filter) encode(emit func([]uint64) error) error {
	h := f.head()
	if err := emit([]uint64{h.doublings, h.floor, h.keys, h.exact, h.prints}); err != nil {
		return err
	}
	p := packer{emit: emit}
	for segment := range uint64(1) << f.doublings {
		for group := range f.slow.segment {
			all := f.slow.gather(f.slow.tree(segment, group), f.entries[:0])
			slices.SortFunc(all, compareEntries)
			if err := f.encodeTree(&p, group, all); err != nil {
				return err
			}
		}
	}
	return p.flush()
}

func compareEntries(a, b entry) int {
	switch {
	case a.branch != b.branch:
		return int(a.branch) - int(b.branch)
	case a.fp < b.fp:
		return -1
	case a.fp > b.fp:
		return 1
	}
	return 0
}

// encodeTree packs the buckets of a tree, whose entries are sorted.
func (f *Filter) encodeTree(p *packer, group uint64, all []entry) error {
	width := f.slow.width - uint64(f.doublings)
	for branch := range f.branchesOf(group) {
		n := 0
		for n < len(all) && all[n].branch == branch {
			n++
		}
		p.add(uint64(n), f.slow.countWidth())
		for _, e := range all[:n] {
			p.add(e.fp>>f.doublings, width)
		}
		all = all[n:]
	}
	return p.relieve()
}

// branchesOf returns how many buckets a tree has: the last of a segment may have
// fewer than others.
func (f *Filter) branchesOf(group uint64) uint64 {
	return min(f.slow.branches, f.shape.Bits-group*f.slow.branches)
}
