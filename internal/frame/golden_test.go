package frame

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"reflect"
	"testing"
)

// The golden files were made from the description of the format by a program
// of its own, not by this package. They must never be made anew: a test that
// fails here means that files of users can no longer be read or compared.

func golden(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// goldenParts are the images of v1-parts.golden.
func goldenParts() []*Image {
	cuts := [][]uint64{sampleWords[:1], nil, sampleWords[1:]}
	images := make([]*Image, len(cuts))
	for i, words := range cuts {
		images[i] = sample(wordBytes(words))
		images[i].Header.Summary.SlowBits = uint64(i)
		images[i].Stamp(images[i].Header.Hash, uint16(i), uint16(len(cuts)))
	}
	return images
}

func TestWritesGoldenBytes(t *testing.T) {
	for name, images := range map[string][]*Image{
		"v1-plain.golden": {sample(wordBytes(sampleWords))},
		"v1-empty.golden": {{}},
		"v1-parts.golden": goldenParts(),
	} {
		if got := encode(t, images...); !bytes.Equal(got, golden(t, name)) {
			t.Errorf("%s: wrote\n%x, want\n%x", name, got, golden(t, name))
		}
	}
}

func TestReadsGoldenBytes(t *testing.T) {
	want := []content{{sample(wordBytes(sampleWords)).Header, wordBytes(sampleWords)}}
	for _, name := range []string{"v1-plain.golden", "v1-chunks.golden"} {
		if got := mustDecode(t, bytes.NewReader(golden(t, name))); !sameContent(got, want) {
			t.Errorf("%s: read %v, want %v", name, got, want)
		}
	}

	empty := mustDecode(t, bytes.NewReader(golden(t, "v1-empty.golden")))
	if !sameContent(empty, []content{{Header: Header{Parts: 1}}}) {
		t.Errorf("v1-empty.golden: read %v", empty)
	}

	parts := mustDecode(t, bytes.NewReader(golden(t, "v1-parts.golden")))
	for i, m := range goldenParts() {
		if !reflect.DeepEqual(parts[i].Header, m.Header) {
			t.Errorf("v1-parts.golden: part %d: %v, want %v", i, parts[i].Header, m.Header)
		}
	}
}

// TestManyChunksGolden pins the cuts of a payload too long to keep as a file.
func TestManyChunksGolden(t *testing.T) {
	const want = "4f16bf6fb6b87865af24ec309bf68b539d6951645919b0d44ce770e38d1a1ab3"
	sum := sha256.Sum256(encode(t, sample(pattern(600<<10+5))))
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("SHA-256 %s, want %s", got, want)
	}
}
