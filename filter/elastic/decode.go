package elastic

import (
	"fmt"
	"io"

	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// Read reads what Snapshot wrote.
func Read(src io.Reader) (*Filter, error) { return ReadSlow(src, "") }

// ReadSlow is Read with the slow memory in a new file of the given path, see
// [Config].SlowFile.
func ReadSlow(src io.Reader, slowFile string) (*Filter, error) {
	r, s, err := frame.OpenAs(src, frame.Elastic, formatVersion, Shape.check)
	if err != nil {
		return nil, err
	}
	h, err := readHead(r, s)
	if err != nil {
		return nil, err
	}
	words, err := r.ReadRest(h.streamWords(s), mem.Words)
	if err != nil {
		return nil, err
	}
	f, err := build(s, slowFile)
	if err != nil {
		return nil, err
	}
	if err := f.decode(r, h, &unpacker{words: words}); err != nil {
		_ = f.Close() // the first error says what is wrong
		return nil, err
	}
	return f, nil
}

// A head is what a payload begins with.
type head struct{ doublings, floor, keys, exact, prints uint64 }

// readHead reads and checks it, and that the payload has the length that follows
// from it.
func readHead(r *frame.Reader, s Shape) (head, error) {
	var w [headWords]uint64
	if err := r.ReadWordsInto(w[:]); err != nil {
		return head{}, err
	}
	h := head{w[0], w[1], w[2], w[3], w[4]}
	switch {
	case h.doublings > uint64(s.Growth):
		return h, r.Corrupt("doublings", h.doublings, fmt.Sprintf("at most %d", s.Growth))
	case h.floor > h.doublings:
		return h, r.Corrupt("floor", h.floor, fmt.Sprintf("at most %d, the doublings", h.doublings))
	case h.exact > 1:
		return h, r.Corrupt("counted", h.exact, "0 or 1")
	case h.prints > 2*uint64(s.Slots)*(s.Bits<<h.doublings):
		return h, r.Corrupt("fingerprints", h.prints, fmt.Sprintf("at most twice %d in each of %d buckets", s.Slots, s.Bits<<h.doublings))
	}
	if limit := h.keysLimit(s); limit != "" {
		return h, r.Corrupt("keys", h.keys, limit)
	}
	return h, nil
}

// keysLimit compares the number of keys with that of fingerprints and returns what it
// should be, if it is wrong. A key has k fingerprints, or fewer if some of its numbers
// are equal, and more copies after a union.
func (h head) keysLimit(s Shape) string {
	switch {
	case h.keys > h.prints, h.exact == 1 && h.keys == 0 && h.prints > 0, h.exact == 0 && h.prints == 0:
		return fmt.Sprintf("1 to %d, the fingerprints", h.prints)
	case h.exact == 1 && h.prints > h.keys*uint64(s.Hashes):
		return fmt.Sprintf("at least %d for %d fingerprints", h.prints/uint64(s.Hashes), h.prints)
	}
	return ""
}

// streamWords returns the words that the buckets take in a file.
func (h head) streamWords(s Shape) uint64 {
	l := newLayout(s)
	counts := (s.Bits << h.doublings) * l.countWidth()
	return (counts + h.prints*(l.width-h.doublings) + 63) / 64
}

// decode fills the empty filter from the buckets of a file, which have been read:
// there is a count for each bucket that memory is taken for. Empty buckets are
// short in files: a small one can ask for up to 440 times its length
// (TestFilesAskForBoundedMemory), as empty filters do. Package mem refuses what the
// machine does not have; who reads files of strangers on a large one limits their
// length.
func (f *Filter) decode(r *frame.Reader, h head, u *unpacker) error {
	for segment := range uint64(1) << h.doublings {
		if segment == 1<<f.doublings {
			if err := f.slow.grow(); err != nil {
				return err
			}
			f.doublings++
		}
		if err := f.decodeSegment(r, u, h, segment); err != nil {
			return err
		}
	}
	if f.prints != h.prints {
		return r.Corrupt("fingerprints", h.prints, f.prints)
	}
	if tail := 64*uint64(len(u.words)) - u.at; u.next(tail) != 0 {
		return r.Corrupt("payload", "bits behind the last bucket", "zeros")
	}
	f.floor, f.keys, f.exact = int(h.floor), h.keys, h.exact == 1
	if err := f.light(); err != nil {
		return err
	}
	if err := r.CheckSummary(f.summary()); err != nil {
		return err
	}
	return r.Close()
}

// decodeSegment reads the buckets of a segment.
func (f *Filter) decodeSegment(r *frame.Reader, u *unpacker, h head, segment uint64) error {
	for group := range f.slow.segment {
		t := f.slow.tree(segment, group)
		for branch := range f.branchesOf(group) {
			n := u.next(f.slow.countWidth())
			if f.prints += n; f.prints > h.prints {
				return r.Corrupt("fingerprints", h.prints, "more")
			}
			if err := f.decodeBucket(r, u, h, segment, t, branch, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// decodeBucket reads n fingerprints of a branch.
func (f *Filter) decodeBucket(r *frame.Reader, u *unpacker, h head, segment uint64, t tree, branch, n uint64) error {
	last := uint64(0)
	for range n {
		v := u.next(f.slow.width - h.doublings)
		if v < last {
			return r.Corrupt("fingerprint", fmt.Sprintf("%#x", v), fmt.Sprintf("at least %#x, the one before", last))
		}
		last = v
		if !f.slow.add(t, branch, v<<h.doublings|segment) {
			return r.Corrupt(fmt.Sprintf("segment %d", segment), "a bucket tree overflows", nil)
		}
	}
	return nil
}

// light makes the bits that belong to the buckets.
func (f *Filter) light() error {
	a, err := newFast(f.shape.Bits << f.doublings)
	if err != nil {
		return err
	}
	for segment := range uint64(1) << f.doublings {
		for group := range f.slow.segment {
			counts := f.slow.counts(f.slow.tree(segment, group))
			first := segment<<f.sizeBits + group*f.slow.branches
			for branch := range f.branchesOf(group) {
				if f.slow.countOf(counts, branch) > 0 {
					f.set += a.set(first + branch)
				}
			}
		}
	}
	f.publish(a)
	return nil
}
