package filtertest

import (
	"errors"
	"io"
	"testing"
	"testing/fstest"

	"github.com/everbloom-go/everbloom/filter"
)

// codec is the stored form of an Exact with the faults, in frames. Its golden
// file has no fault: it is of golden without hooks.
func (h hooks) codec(tb testing.TB) Codec[*faulty] {
	tb.Helper()
	read := h.read
	if read == nil {
		read = ReadExact
	}
	plain, _ := hooks{}.golden()
	return Codec[*faulty]{
		Kind: ExactKind,
		Read: func(r io.Reader) (*faulty, error) {
			f, err := read(r)
			if err != nil {
				return nil, err
			}
			return &faulty{f, h}, nil
		},
		Files: fstest.MapFS{"words.golden": {Data: Stored(tb, plain)}},
	}
}

// golden returns the filter of the golden file, and its keys.
func (h hooks) golden() (*faulty, []filter.Key) {
	keys := KeysOf("some words that are kept for ever")
	f := NewExact(ExactConfig{})
	for _, k := range keys {
		_, _ = f.Add(k)
	}
	return &faulty{f, h}, keys
}

var errPlanted = errors.New("planted")
