package bloom

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
)

// TestInvariantsHoldThroughAnything changes filters of odd shapes at random and
// checks them after each step.
func TestInvariantsHoldThroughAnything(t *testing.T) {
	for _, s := range []Shape{{Bits: 1, Hashes: 1}, {Bits: 65, Hashes: 3}, {Bits: 1000, Hashes: 4}, {Bits: 127, Hashes: 64}} {
		rng := rand.New(rand.NewPCG(s.Bits, 1))
		f, err := Build(s)
		if err != nil {
			t.Fatal(err)
		}
		for step := range 300 {
			change(t, rng, f, s)
			if err := f.check(); err != nil {
				t.Fatalf("%+v after step %d: %v", s, step, err)
			}
		}
	}
}

func change(t *testing.T, rng *rand.Rand, f *Filter, s Shape) {
	t.Helper()
	other, err := Build(s)
	if err != nil {
		t.Fatal(err)
	}
	keys := make([]filter.Key, rng.IntN(20))
	fill(rng, keys)
	switch rng.IntN(4) {
	case 0:
		f.AddBatch(keys)
	case 1:
		f.Add(filter.Key(rng.Uint64()))
	case 2:
		other.AddBatch(keys)
		f.Union(other)
	case 3:
		other.Union(f)
		other.AddBatch(keys)
		f.Intersect(other)
	}
}

func TestChecksFindDamage(t *testing.T) {
	f, err := Build(Shape{Bits: 70, Hashes: 2})
	if err != nil {
		t.Fatal(err)
	}
	f.words[1] |= 1 << 40
	if err := f.check(); err == nil {
		t.Error("a bit beyond the last was not found")
	}
	b := build(t, BlockedShape{Blocks: 2, Hashes: 8})
	b.words[3] ^= 1
	if err := b.check(); err == nil {
		t.Error("a bit that nobody counted was not found")
	}
}

// TestPicture draws small filters: what sets which bits never changes.
func TestPicture(t *testing.T) {
	f, err := Build(Shape{Bits: 64, Hashes: 3})
	if err != nil {
		t.Fatal(err)
	}
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
