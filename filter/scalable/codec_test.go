package scalable_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/frame"
)

var codec = filtertest.Codec[*scalable.Filter]{
	Kind: frame.Scalable, Read: scalable.Read, Files: os.DirFS("testdata"),
}

// TestGoldenFilesAreReadForever has files of format version 1. They are never
// written again: every release must read them and give these answers.
func TestGoldenFilesAreReadForever(t *testing.T) {
	keys := filtertest.KeysOf("the quick brown fox jumps over a lazy dog in the field of hay and rye") // one comes twice
	for name, shape := range map[string]scalable.Shape{
		"scalable-v1.golden":   {Items: 3, FPR: 0.01, Salt: 3},
		"scalable16-v1.golden": {Items: 100, FPR: 1e-6},
	} {
		made := filtertest.Make(t, scalable.Build, shape)
		made.AddBatch(keys)
		f := codec.ReadsGolden(t, name, made, keys)
		if f.Len() != 15 || f.Shape() != shape {
			t.Errorf("%s: %d keys in %d units of shape %+v", name, f.Len(), f.Units(), f.Shape())
		}
	}
}

func TestForgedFilesAreRefused(t *testing.T) {
	type (
		shape = scalable.Shape
		sum   = frame.Summary
	)
	s := shape{Items: 2, FPR: 0.5}
	// unit returns a unit of one block with so many bits set in its first word.
	unit := func(blocks, hashes, keys, first uint64) []uint64 {
		return append([]uint64{blocks, hashes, keys, first}, make([]uint64, 7)...)
	}
	join := func(units ...[]uint64) (words []uint64) {
		for _, u := range units {
			words = append(words, u...)
		}
		return words
	}
	one, two := sum{Keys: 1, SetBits: 1, FastBits: 512}, sum{Keys: 3, SetBits: 3, FastBits: 1024}
	for what, words := range map[string][]uint64{
		"one key in one unit":     unit(1, 8, 1, 1),
		"three keys in two units": join(unit(1, 8, 2, 3), unit(1, 8, 1, 1)),
	} {
		right := one
		if len(words) > 11 {
			right = two
		}
		if _, err := scalable.Read(bytes.NewReader(codec.Forge(t, s, right, words...))); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for _, c := range []struct {
		what, want string
		shape      shape
		sum        sum
		words      []uint64
	}{
		{"no units", "no units", s, sum{}, nil},
		{"half a head", "bytes: 16, want 24", s, one, []uint64{1, 8}},
		{"no blocks", "unit 0: bloom: Blocks: 0", s, one, unit(0, 8, 1, 1)},
		{"many blocks", "unit 0: blocks: 2, want at most 1 in 64 bytes", s, one, unit(2, 8, 1, 1)},
		{"absurd blocks", "unit 0: blocks: 18446744073709551615", s, one, unit(1<<64-1, 8, 1, 1)},
		{"odd hashes", "Hashes: 9", s, one, unit(1, 9, 1, 1)},
		{"absurd hashes", "unit 0: hashes: 9223372036854775816", s, one, unit(1, 1<<63+8, 1, 1)},
		{"more keys than fit", "3 keys of 2", s, one, unit(1, 8, 3, 7)},
		{"more keys than bits", "2 keys with 8 hashes have set 1 bits", s, one, unit(1, 8, 2, 1)},
		{"more bits than keys set", "1 keys with 8 hashes have set 9 bits", s, one, unit(1, 8, 1, 511)},
		{"a second unit too early", "unit 0 of 2: 1 keys of 2", s, two, join(unit(1, 8, 1, 1), unit(1, 8, 1, 1))},
		{"too small for its keys", "give a rate of", shape{Items: 400, FPR: 0.01}, one, unit(1, 8, 1, 1)},
		{"far too small for its keys", "unit 0: blocks: 1, want at least 68719476736 for 17592186044416 keys", shape{Items: 1 << 44, FPR: 0.5}, one, unit(1, 8, 1, 1)},
	} {
		codec.Refuses(t, c.what, c.want, c.shape, c.sum, c.words...)
	}
}

func FuzzRead(f *testing.F) { codec.FuzzRead(f) }
