package frame

import (
	"bytes"
	"io"
	"testing"
)

// benchWords is 8 MiB of payload.
const benchWords = 1 << 20

func BenchmarkWriteWords(b *testing.B) {
	words := randomWords(1, benchWords)
	m := sample(nil)
	m.Header.Payload = 8 * benchWords
	m.Payload = func(w io.Writer) error { return WriteWords(w, words) }
	b.SetBytes(8 * benchWords)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.WriteTo(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadWords(b *testing.B) {
	data := encode(b, sample(wordBytes(randomWords(1, benchWords))))
	dst := make([]uint64, benchWords)
	b.SetBytes(8 * benchWords)
	b.ReportAllocs()
	for b.Loop() {
		r, err := Open(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		if err := r.ReadWordsInto(dst); err != nil {
			b.Fatal(err)
		}
	}
}
