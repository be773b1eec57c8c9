package filtertest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// Forge returns a file of the kind, of format version 1, whose checksums are
// right whatever the shape, the summary and the words of the payload are.
func (c Codec[F]) Forge(tb testing.TB, shape any, sum frame.Summary, words ...uint64) []byte {
	tb.Helper()
	payload := make([]byte, 0, 8*len(words))
	for _, word := range words {
		payload = binary.LittleEndian.AppendUint64(payload, word)
	}
	return seal(tb, frame.Header{Kind: c.Kind, Version: 1, Shape: frame.ShapeOf(shape), Summary: sum}, payload)
}

// Refuses checks that what [Codec.Forge] makes is refused as [Codec.RefusesFile]
// says.
func (c Codec[F]) Refuses(tb testing.TB, what, want string, shape any, sum frame.Summary, words ...uint64) {
	tb.Helper()
	c.RefusesFile(tb, what, want, c.Forge(tb, shape, sum, words...))
}

// RefusesFile checks that a file with the given fault is refused with an error
// that matches ErrCorrupt and has the wanted text.
func (c Codec[F]) RefusesFile(tb testing.TB, what, want string, file []byte) {
	tb.Helper()
	f, err := c.Read(bytes.NewReader(file))
	switch {
	case err == nil:
		tb.Errorf("%s: accepted as %+v, want %q", what, f.Info(), want)
	case !errors.Is(err, filter.ErrCorrupt) || !strings.Contains(err.Error(), want):
		tb.Errorf("%s: got %q, want ErrCorrupt and %q", what, err, want)
	}
}

// Alter returns the file with what change makes of its header and payload, and
// with the checksums and the length of that.
func Alter(tb testing.TB, file []byte, change func(h *frame.Header, payload []byte) []byte) []byte {
	tb.Helper()
	r, err := frame.Open(bytes.NewReader(file))
	if err != nil {
		tb.Fatalf("a file to be altered: %v", err)
	}
	payload, err := io.ReadAll(r)
	if err != nil {
		tb.Fatalf("a file to be altered: %v", err)
	}
	h := r.Header()
	payload = change(&h, payload)
	return seal(tb, h, payload)
}

// seal writes a file of the header, whose length of the payload it sets.
func seal(tb testing.TB, h frame.Header, payload []byte) []byte {
	tb.Helper()
	h.Payload = uint64(len(payload))
	return checker{TB: tb}.written(&frame.Image{
		Header:  h,
		Payload: func(w io.Writer) error { _, err := w.Write(payload); return err },
	})
}
