package bloom

import (
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestInvariantsHoldThroughAnything has odd shapes.
func TestInvariantsHoldThroughAnything(t *testing.T) {
	for _, s := range []Shape{{Bits: 1, Hashes: 1}, {Bits: 65, Hashes: 3}, {Bits: 1000, Hashes: 4}, {Bits: 127, Hashes: 64}} {
		filtertest.Invariants(t, s.Bits, 300, func() *Filter { return filtertest.Make(t, Build, s) }, (*Filter).check)
	}
	for _, s := range []BlockedShape{{Blocks: 1, Hashes: 8}, {Blocks: 3, Hashes: 16}} {
		filtertest.Invariants(t, s.Blocks, 300, func() *Blocked { return build(t, s) }, (*Blocked).check)
	}
}

func TestChecksFindDamage(t *testing.T) {
	f := filtertest.Make(t, Build, Shape{Bits: 70, Hashes: 2})
	f.words[1] |= 1 << 40
	if err := f.check(); err == nil {
		t.Error("a bit beyond the last was not found")
	}
	b := build(t, BlockedShape{Blocks: 2, Hashes: 8})
	b.words[3] ^= 1
	if err := b.check(); err == nil {
		t.Error("a bit that is not counted was not found")
	}
}

// TestPicture draws small filters: what sets which bits never changes.
func TestPicture(t *testing.T) {
	f := filtertest.Make(t, Build, Shape{Bits: 64, Hashes: 3})
	b := build(t, BlockedShape{Blocks: 1, Hashes: 8})
	var hash filter.Hash
	for _, word := range []string{"hello", "world"} {
		f.Add(hash.String(word))
		b.Add(hash.String(word))
	}
	compare(t, "bloom", f.words, classicPicture)
	compare(t, "blocked", b.words, blockedPicture)
}

func compare(t *testing.T, name string, words []uint64, want string) {
	t.Helper()
	got := strings.TrimSpace(bitvec.Vector(words).String())
	if got != strings.TrimSpace(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
	}
}

const classicPicture = `
....................1.1..........................1.1..........1.
`

const blockedPicture = `
....................1.........................................1.
.1....................................................1.........
....1.............1.............................................
...........................1........................1...........
....1..................................................1........
.................1.....................1........................
....................................1........................1..
..1..........................................1..................
`
