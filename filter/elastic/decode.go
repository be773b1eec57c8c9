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
	d := decoder{Reader: r, head: h, stream: stream{words: words}, f: f}
	if err := d.decode(); err != nil {
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

// A decoder fills an empty filter from the buckets of a file, which have been read:
// there is a count for each bucket that memory is taken for. Empty buckets are short in
// files: a small one can ask for up to 440 times its length, as empty filters do. Package mem refuses what the
// machine does not have; where files come from others, limit their length.
type decoder struct {
	*frame.Reader
	head
	stream
	f     *Filter
	found uint64 // fingerprints
}

func (d *decoder) decode() error {
	f, t := d.f, &d.f.table
	for segment := range uint64(1) << d.doublings {
		if segment == 1<<t.slow.doublings {
			if err := t.slow.reserve(t.slow.doublings + 2); err != nil {
				return err
			}
			t.slow.extend()
		}
		for group := range t.slow.segment {
			if err := d.tree(segment, group); err != nil {
				return err
			}
		}
	}
	if d.found != d.prints {
		return d.Corrupt("fingerprints", d.prints, d.found)
	}
	if tail := 64*uint64(len(d.words)) - d.at; d.next(tail) != 0 {
		return d.Corrupt("payload", "bits behind the last bucket", "zeros")
	}
	f.floor, f.exact = int(d.floor), d.exact == 1
	t.keys.Store(int64(d.keys))
	t.prints.Store(int64(d.prints))
	if err := t.setAll(f.shape.Bits << d.doublings); err != nil {
		return err
	}
	if err := d.CheckSummary(f.summary()); err != nil {
		return err
	}
	return d.Close()
}

// tree reads the buckets of a tree.
func (d *decoder) tree(segment, group uint64) error {
	t := &d.f.table
	for branch := range t.slow.branchesOf(group) {
		n := d.next(t.slow.countWidth())
		if d.found += n; d.found > d.prints {
			return d.Corrupt("fingerprints", d.prints, "more")
		}
		last := uint64(0)
		for range n {
			v := d.next(t.slow.width - d.doublings)
			if v < last {
				return d.Corrupt("fingerprint", fmt.Sprintf("%#x", v), fmt.Sprintf("at least %#x, the one before", last))
			}
			last = v
			if !t.slow.tree(segment, group).add(branch, v<<d.doublings|segment) {
				return d.Corrupt(fmt.Sprintf("segment %d", segment), "a bucket tree overflows", nil)
			}
		}
	}
	return nil
}
