package bloom_test

import (
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestWordsMakeTheSameFilter makes filters from the words of others.
func TestWordsMakeTheSameFilter(t *testing.T) {
	classic, err := bloom.New(bloom.Config{Items: 1000})
	if err != nil {
		t.Fatal(err)
	}
	blocked, err := bloom.NewBlocked(bloom.Config{Items: 1000, FPR: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	keys := filtertest.Keys(1, 700)
	classic.AddBatch(keys)
	blocked.AddBatch(keys)

	f, err := bloom.FromWords(classic.Shape(), slices.Clone(classic.Words()))
	if err != nil {
		t.Fatal(err)
	}
	b, err := bloom.BlockedFromWords(blocked.Shape(), slices.Clone(blocked.Words()))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if !f.MayContain(k) || !b.MayContain(k) {
			t.Fatalf("%#x is absent", k)
		}
	}
	for i := range uint64(10_000) {
		k := (filtertest.Stream{Seed: 1}).Absent(i)
		if f.MayContain(k) != classic.MayContain(k) || b.MayContain(k) != blocked.MayContain(k) {
			t.Fatalf("%#x gets another answer", k)
		}
	}
	for name, c := range map[string]struct {
		words []uint64
		set   uint64
	}{"classic": {f.Words(), f.SetBits()}, "blocked": {b.Words(), b.SetBits()}} {
		counted := 0
		for _, w := range c.words {
			counted += bits.OnesCount64(w)
		}
		if c.set == 0 || uint64(counted) != c.set {
			t.Errorf("%s: %d bits are set, SetBits is %d", name, counted, c.set)
		}
	}
}

func TestBlockedFromWordsTakesOnlyWhatFits(t *testing.T) {
	s := bloom.BlockedShape{Blocks: 2, Hashes: 8}
	for n, want := range map[int]string{0: "0 words, want 16", 15: "15 words", 17: "17 words"} {
		if _, err := bloom.BlockedFromWords(s, make([]uint64, n)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d words: %v, want %q", n, err, want)
		}
	}
	if _, err := bloom.BlockedFromWords(bloom.BlockedShape{Blocks: 2, Hashes: 9}, make([]uint64, 16)); err == nil {
		t.Error("9 hashes were accepted")
	}
}
