package everbloom

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

func TestSequencesAreAdded(t *testing.T) {
	for _, n := range []int{0, 1, seqBatch, 3*seqBatch + 1} {
		s := mustNew(t, Needs{Items: 2000})
		words := make([]string, n)
		for i := range words {
			words[i] = word(i)
		}
		got, err := AddSeq(s, slices.Values(words), s.Hash().String)
		if err != nil || got < n-n/100 || got > n {
			t.Errorf("%d of %d words are new, %v", got, n, err)
		}
		wantWords(t, s, 0, n)
	}
	full := mustNew(t, Needs{Items: 100, Kind: "dleft"})
	endless := func(yield func(uint64) bool) {
		for i := uint64(0); yield(i); i++ {
		}
	}
	if n, err := AddSeq(full, endless, full.Hash().Uint64); n < 100 || !errors.Is(err, filter.ErrFull) {
		t.Errorf("%d keys, %v", n, err)
	}
}

type point struct {
	X, Y int16
	name string
	tags []string
}

func TestValuesOfAllFieldsMakeTheKey(t *testing.T) {
	key, err := KeyFunc[point](filter.Hash{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[filter.Key]point{}
	for _, p := range []point{
		{},
		{X: 1},
		{Y: 1},
		{X: -1},
		{name: "ab"},
		{name: "a", tags: []string{"b"}},
		{tags: []string{"ab"}},
		{tags: []string{"a", "b"}},
		{tags: []string{"", "ab"}},
		{tags: []string{"ab", ""}},
		{X: 256},
	} {
		k := key(p)
		if other, ok := seen[k]; ok {
			t.Errorf("%+v and %+v have one key", p, other)
		}
		if seen[k] = p; key(p) != k {
			t.Errorf("%+v has two keys", p)
		}
	}
}

func TestEqualFloatsHaveOneKey(t *testing.T) {
	ofFloat, err1 := KeyFunc[float32](filter.Hash{})
	ofComplex, err2 := KeyFunc[complex128](filter.Hash{})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	minus := math.Copysign(0, -1)
	if ofFloat(0) != ofFloat(float32(minus)) || ofComplex(0) != ofComplex(complex(minus, minus)) {
		t.Error("0 and -0 have two keys")
	}
}

// TestKeysOfValuesNeverChange pins what stored sets depend on.
func TestKeysOfValuesNeverChange(t *testing.T) {
	type value struct {
		A bool
		B int8
		C float32
		D complex64
		E string
		F [2]uint16
		G []byte
	}
	key, err := KeyFunc[value](filter.Hash{})
	if err != nil {
		t.Fatal(err)
	}
	got := key(value{true, -2, 0.5, 1 + 2i, "text", [2]uint16{3, 4}, []byte{5}})
	if want := filter.Key(0x710a271c2c8dab7d); got != want {
		t.Errorf("key %#x, must stay %#x", got, want)
	}
}

func TestPlainValuesHaveTheKeysOfASet(t *testing.T) {
	type name string
	h := filter.SipHash(secret)
	ofString, err1 := KeyFunc[name](h)
	ofBytes, err2 := KeyFunc[[]byte](h)
	ofNumber, err3 := KeyFunc[uint32](h)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	if ofString("alice") != h.String("alice") || ofBytes([]byte("alice")) != h.String("alice") || ofNumber(7) != h.Uint64(7) {
		t.Error("the keys of strings, bytes and numbers differ from those of a set")
	}
}

func TestTypesWithoutAValueAreRefused(t *testing.T) {
	type tree struct {
		Name string
		Kids []tree
	}
	if _, err := KeyFunc[tree](filter.Hash{}); err != nil {
		t.Errorf("a tree of values: %v", err)
	}
	type list []list
	if _, err := KeyFunc[list](filter.Hash{}); err != nil {
		t.Errorf("a list of such lists: %v", err)
	}
	_, pointer := KeyFunc[struct{ Next *int }](filter.Hash{})
	_, inside := KeyFunc[struct{ Items [3]struct{ M map[string]int } }](filter.Hash{})
	_, dynamic := KeyFunc[any](filter.Hash{})
	for want, err := range map[string]error{
		".Next is of kind ptr": pointer, ".Items[].M is of kind map": inside, "interface {} is of kind interface": dynamic,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
