package filtertest

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// ExactKind marks the stored form of an [Exact], which is an envelope as other kinds
// have it. The payload is two words for each key in ascending order: the key and its
// count. No release reads it.
const ExactKind frame.Kind = 65000

type exactShape struct {
	Items, Room         uint64
	Bounded, Duplicates uint8
}

func (s exactShape) check() error {
	if s.Room == 0 || s.Room > maxRoom || s.Bounded > 1 || s.Duplicates > uint8(filter.DuplicatesPin) {
		return errors.New("no shape of an exact filter")
	}
	return nil
}

// Snapshot captures the filter as it is now.
func (f *Exact) Snapshot() io.WriterTo {
	s := exactShape{Items: f.config.Items, Room: f.room, Duplicates: uint8(f.config.Duplicates)}
	if f.config.Bounded {
		s.Bounded = 1
	}
	var words []uint64
	for _, e := range slices.SortedFunc(slices.Values(f.set.entries), func(a, b entry) int { return cmp.Compare(a.key, b.key) }) {
		words = append(words, uint64(e.key), e.count)
	}
	return &frame.Image{
		Header: frame.Header{
			Kind: ExactKind, Version: 1, Shape: frame.ShapeOf(s),
			Summary: frame.Summary{Keys: f.set.Total()}, Payload: 8 * uint64(len(words)),
		},
		Payload: func(w io.Writer) error { return frame.WriteWords(w, words) },
	}
}

// ReadExact reads what Snapshot of an [Exact] wrote.
func ReadExact(src io.Reader) (*Exact, error) {
	r, s, err := frame.OpenAs(src, ExactKind, 1, exactShape.check)
	if err != nil {
		return nil, err
	}
	f := &Exact{
		config: ExactConfig{Items: s.Items, Bounded: s.Bounded == 1, Duplicates: filter.Duplicates(s.Duplicates)},
		room:   s.Room,
	}
	words, err := r.ReadWords(r.Left()/16*2, func(n uint64) ([]uint64, error) { return make([]uint64, n), nil })
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(words); i += 2 {
		if words[i+1] == 0 || i > 0 && words[i-2] >= words[i] {
			return nil, r.Corrupt("key", words[i], "one above that before, with a count")
		}
		f.set.addCount(filter.Key(words[i]), words[i+1])
	}
	if keys := r.Header().Summary.Keys; keys != f.set.Total() {
		return nil, r.Corrupt("summary: keys", keys, f.set.Total())
	}
	return f, r.Close()
}
