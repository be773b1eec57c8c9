package filtertest

import (
	"errors"
	"io"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// framedKind is the number of a kind that only these tests have.
const framedKind frame.Kind = 999

// A framedShape is the shape of an Exact that is stored in a frame.
type framedShape struct{ Room uint64 }

// framed is the Snapshot of an Exact as real kinds have it: a frame with the keys,
// each once, in ascending order.
func framed(f *Exact) io.WriterTo {
	var words []uint64
	for k := range f.set.All() {
		words = append(words, uint64(k))
	}
	slices.Sort(words)
	return &frame.Image{
		Header: frame.Header{
			Kind: framedKind, Version: 1, Shape: frame.ShapeOf(framedShape{f.room}),
			Summary: frame.Summary{Keys: uint64(len(words))}, Payload: 8 * uint64(len(words)),
		},
		Payload: func(w io.Writer) error { return frame.WriteWords(w, words) },
	}
}

// readFramed reads what framed wrote.
func readFramed(src io.Reader) (*Exact, error) {
	r, err := frame.Open(src)
	if err != nil {
		return nil, err
	}
	if err := r.Header().Expect(framedKind, 1); err != nil {
		return nil, err
	}
	return readFramedKeys(r)
}

// readFramedKeys reads the rest of a frame whatever its kind is.
func readFramedKeys(r *frame.Reader) (*Exact, error) {
	var s framedShape
	if err := r.Header().Fill(&s); err != nil {
		return nil, err
	}
	f := &Exact{room: s.Room}
	words, err := r.ReadWords(r.Left()/8, func(n uint64) ([]uint64, error) { return make([]uint64, n), nil })
	if err != nil {
		return nil, err
	}
	for i, word := range words {
		if i > 0 && words[i-1] >= word {
			return nil, r.Corruptf("key %d is out of order", i)
		}
		f.set.Add(filter.Key(word))
	}
	if keys := r.Header().Summary.Keys; keys != uint64(len(words)) || s.Room == 0 {
		return nil, r.Corruptf("summary: %d keys, found %d, room for %d", keys, len(words), s.Room)
	}
	return f, r.Close()
}

// codec is the stored form of an Exact with the faults, in frames. Its golden
// file has no fault: it is of golden without hooks.
func (h hooks) codec(tb testing.TB) Codec[*faulty] {
	tb.Helper()
	read := h.read
	if read == nil {
		read = readFramed
	}
	plain, _ := hooks{}.golden()
	return Codec[*faulty]{
		Kind: framedKind,
		Read: func(r io.Reader) (*faulty, error) {
			f, err := read(r)
			if err != nil {
				return nil, err
			}
			return h.framed(f), nil
		},
		Files: fstest.MapFS{"words.golden": {Data: Stored(tb, plain)}},
	}
}

// framed makes f one that is stored in a frame.
func (h hooks) framed(f *Exact) *faulty {
	if h.snapshot == nil {
		h.snapshot = framed
	}
	return &faulty{f, h}
}

// golden returns the filter of the golden file, and its keys.
func (h hooks) golden() (*faulty, []filter.Key) {
	keys := KeysOf("some words that are kept for ever")
	f := NewExact(ExactConfig{})
	for _, k := range keys {
		_, _ = f.Add(k)
	}
	return h.framed(f), keys
}

var errPlanted = errors.New("planted")
