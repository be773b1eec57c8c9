package frame

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// chunkEdges are payload lengths around which chunking could go wrong.
var chunkEdges = []int{
	0, 1, 7, 8, 9, 4095, 4096, 4097,
	chunkSize - 1, chunkSize, chunkSize + 1,
	2*chunkSize - 1, 2 * chunkSize, 2*chunkSize + 1,
	maxChunk - 1, maxChunk, maxChunk + 1,
}

func TestRoundTripAroundChunkLimits(t *testing.T) {
	for _, n := range chunkEdges {
		m := sample(pattern(n))
		data := encode(t, m)
		chunks := (n + chunkSize - 1) / chunkSize
		if want := m.Header.size() + n + chunks*headSize; len(data) != want {
			t.Errorf("%d bytes of payload: %d in all, want %d", n, len(data), want)
		}
		for name, r := range map[string]io.Reader{
			"whole": bytes.NewReader(data),
			"half":  iotest.HalfReader(bytes.NewReader(data)),
			"eof":   iotest.DataErrReader(bytes.NewReader(data)),
		} {
			got := mustDecode(t, r)
			if !sameContent(got, []content{{m.Header, pattern(n)}}) {
				t.Errorf("%d bytes of payload, %s reader: content differs", n, name)
			}
		}
	}
}

// TestCutsOfWritesDoNotShow writes one payload in pieces of random length:
// equal images must give equal bytes.
func TestCutsOfWritesDoNotShow(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, n := range chunkEdges {
		payload := pattern(n)
		m := sample(payload)
		want := encode(t, m)
		m.Payload = func(w io.Writer) error {
			for rest := payload; len(rest) > 0; {
				piece := min(len(rest), 1+rng.IntN(1<<rng.IntN(21)))
				if k, err := w.Write(rest[:piece]); k != piece || err != nil {
					return fmt.Errorf("wrote %d of %d: %w", k, piece, err)
				}
				rest = rest[piece:]
			}
			return nil
		}
		for range 3 {
			if !bytes.Equal(encode(t, m), want) {
				t.Fatalf("seed %d: %d bytes of payload: bytes depend on the cuts", seed, n)
			}
		}
	}
}

func TestPayloadOfOtherLengthIsAnError(t *testing.T) {
	for _, promised := range []uint64{0, 9, 11, chunkSize, chunkSize + 10} {
		m := sample(pattern(10))
		m.Header.Payload = promised
		if _, err := m.WriteTo(io.Discard); err == nil || !strings.HasPrefix(err.Error(), "frame: payload: ") {
			t.Errorf("10 bytes for %d promised: %v", promised, err)
		}
	}
	none := &Image{Header: Header{Payload: 1}}
	if _, err := none.WriteTo(io.Discard); err == nil {
		t.Error("no payload function for 1 byte promised: no error")
	}
}

func TestPayloadErrorsAreNotLost(t *testing.T) {
	broken := errors.New("broken")
	m := sample(pattern(10))
	m.Payload = func(io.Writer) error { return broken }
	if _, err := m.WriteTo(io.Discard); !errors.Is(err, broken) {
		t.Errorf("error of the payload function: %v", err)
	}
	m.Payload = func(w io.Writer) error {
		_, _ = w.Write(pattern(11))
		_, _ = w.Write(pattern(10))
		return nil
	}
	if _, err := m.WriteTo(io.Discard); err == nil {
		t.Error("a payload function that ignores errors of Write passed")
	}
}

// failingWriter accepts limit bytes, then fails; short makes it accept less
// than it was given without saying why.
type failingWriter struct {
	limit int
	short bool
}

var errDisk = errors.New("disk full")

func (f *failingWriter) Write(p []byte) (int, error) {
	n := min(len(p), f.limit)
	f.limit -= n
	if n < len(p) && !f.short {
		return n, errDisk
	}
	return n, nil
}

func TestFailingWriterIsReportedAtEveryByte(t *testing.T) {
	m := sample(pattern(50))
	size := len(encode(t, m))
	for limit := range size {
		n, err := m.WriteTo(&failingWriter{limit: limit})
		if !errors.Is(err, errDisk) || n != int64(limit) {
			t.Fatalf("failure after %d bytes: %d, %v", limit, n, err)
		}
		if _, err := m.WriteTo(&failingWriter{limit: limit, short: true}); !errors.Is(err, io.ErrShortWrite) {
			t.Fatalf("short write after %d bytes: %v", limit, err)
		}
	}
}

func TestInvalidHeaderIsNotWritten(t *testing.T) {
	many := make(Shape, maxFields+1)
	for i := range many {
		many[i].Name = fmt.Sprintf("f%d", i)
	}
	for want, h := range map[string]Header{
		"part: 3 of 3":                     {Part: 3, Parts: 3},
		"part: 1 of 1":                     {Part: 1},
		"hash length: 65, want at most 64": {Hash: make([]byte, 65)},
		"header: length: 5078":             {Hash: make([]byte, 5000)},
		"is read as":                       {Hash: aliased()},
		"fields of the shape: 33, want":    {Shape: many},
		"payload length: 1125899906842625": {Payload: maxPayload + 1},
		`name: ""`:                         {Shape: Shape{{"", Uint(1)}}},
		`name: "set_bits"`:                 {Shape: Shape{{"set_bits", Uint(1)}}},
		"name: k, want another":            {Shape: Shape{{"k", Uint(1)}, {"k", Uint(2)}}},
		"fpr: NaN":                         {Shape: Shape{{"fpr", Float(math.NaN())}}},
		"fpr: +Inf":                        {Shape: Shape{{"fpr", Float(math.Inf(1))}}},
	} {
		var b bytes.Buffer
		_, err := (&Image{Header: h}).WriteTo(&b)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
		if b.Len() > 0 {
			t.Errorf("%q: wrote %d bytes before refusing", want, b.Len())
		}
	}
}

// TestLargestHeaderFits has as many fields as there may be, with the longest names.
func TestLargestHeaderFits(t *testing.T) {
	h := Header{Parts: 1, Hash: make([]byte, maxHash)}
	for i := range maxFields {
		h.Shape = append(h.Shape, Field{fmt.Sprintf("%032d", i), Float(-0.5)})
	}
	got := mustDecode(t, bytes.NewReader(encode(t, &Image{Header: h})))
	if !sameContent(got, []content{{Header: h}}) {
		t.Errorf("read %v", got)
	}
}

func TestFailedImageWritesNothing(t *testing.T) {
	failure := errors.New("no memory")
	image := Failed(failure)
	image.Stamp([]byte("hash"), 0, 1)
	var b bytes.Buffer
	if n, err := image.WriteTo(&b); n != 0 || b.Len() != 0 || !errors.Is(err, failure) {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
}

// aliased is a hash whose length does not fit into its byte, made so that it is taken
// for the fields of a shape.
func aliased() Opaque {
	var s Shape
	for i := range 7 {
		s = append(s, Field{fmt.Sprintf("%026d", i), Uint(0)})
	}
	s[0].Name += "more"
	return s.appendTo(nil)[:256]
}
