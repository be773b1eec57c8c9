package counting_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// shapes from one counter up, of all widths, some of which end within a word.
var shapes = []counting.Shape{
	{Counters: 1, Hashes: 1, CounterBits: 4},
	{Counters: 32, Hashes: 3, CounterBits: 2},
	{Counters: 32, Hashes: 3, CounterBits: 4},
	{Counters: 32, Hashes: 3, CounterBits: 8},
	{Counters: 127, Hashes: 64, CounterBits: 4, Salt: 1},
	{Counters: 1001, Hashes: 7, CounterBits: 2, Salt: 2},
	{Counters: 1001, Hashes: 7, CounterBits: 4, Salt: 3},
	{Counters: 1001, Hashes: 7, CounterBits: 8, Salt: 4},
	{Counters: 100_000, Hashes: 5, CounterBits: 4},
}

// some returns up to n keys of a small pool, with repetitions.
func some(rng *rand.Rand, n int) []filter.Key {
	keys := make([]filter.Key, rng.IntN(n+1))
	for i := range keys {
		keys[i] = (filtertest.Stream{}).Present(rng.Uint64N(200))
	}
	return keys
}

// plainOf returns the Bloom filter of the same positions with the keys.
func plainOf(t *testing.T, s counting.Shape, keys []filter.Key) *bloom.Filter {
	t.Helper()
	f := filtertest.Make(t, bloom.Build, bloom.Shape{Bits: s.Counters, Hashes: s.Hashes, Salt: s.Salt})
	f.AddBatch(keys)
	return f
}

// TestBloomIsTheFilterOfTheKeys adds and deletes, and compares with a plain filter
// that was given what is left.
func TestBloomIsTheFilterOfTheKeys(t *testing.T) {
	for _, s := range shapes {
		rng := rand.New(rand.NewPCG(s.Counters, 5))
		f := build(t, s)
		keys := some(rng, 60)
		f.AddBatch(keys)
		left := len(keys) / 3
		for _, k := range keys[left:] {
			remove(t, f, k)
		}
		got, err := f.Bloom()
		if err != nil {
			t.Fatal(err)
		}
		want := plainOf(t, s, keys[:left])
		switch {
		case f.Saturated() == 0:
			if !bytes.Equal(filtertest.Stored(t, got), filtertest.Stored(t, want)) {
				t.Errorf("%+v: not the plain filter of the %d keys", s, left)
			}
		default: // a superset
			if err := want.Union(got); err != nil || !bytes.Equal(filtertest.Stored(t, got), filtertest.Stored(t, want)) {
				t.Errorf("%+v: the plain filter lacks bits of the keys: %v", s, err)
			}
		}
		for i := range uint64(300) {
			if k := (filtertest.Stream{}).Absent(i); got.MayContain(k) != f.MayContain(k) {
				t.Fatalf("%+v: the filters disagree about %#x", s, k)
			}
		}
	}
}

// TestUnionIsAsIfAllWereAdded compares the counters of a union with those of a
// filter to which all keys were added.
func TestUnionIsAsIfAllWereAdded(t *testing.T) {
	for _, s := range shapes {
		rng := rand.New(rand.NewPCG(s.Counters, 6))
		for range 20 {
			mine, others := some(rng, 40), some(rng, 40)
			a, b, both := build(t, s), build(t, s), build(t, s)
			a.AddBatch(mine)
			b.AddBatch(others)
			both.AddBatch(mine)
			both.AddBatch(others)
			if err := a.Union(b); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(filtertest.Stored(t, a), filtertest.Stored(t, both)) {
				t.Fatalf("%+v: the union of %d and %d keys is another filter", s, len(mine), len(others))
			}
			if err := codec.Whole(a); err != nil {
				t.Fatal(err)
			}
			for _, k := range append(mine, others...) {
				remove(t, a, k)
			}
			if a.Len() != 0 || a.Saturated() == 0 && a.Info().Fill != 0 {
				t.Fatalf("%+v: all keys deleted: %+v", s, a.Info())
			}
		}
	}
}

// TestIntersectionOwesTheFewerCopies deletes from an intersection, in random order,
// what is in both, as often as in the operand with fewer copies. None may be
// refused, and none lost before its last copy has gone.
func TestIntersectionOwesTheFewerCopies(t *testing.T) {
	for _, s := range shapes {
		rng := rand.New(rand.NewPCG(s.Counters, 7))
		for range 20 {
			a, b := build(t, s), build(t, s)
			var mine, others filtertest.Set
			addTo(a, &mine, some(rng, 60))
			addTo(b, &others, some(rng, 60))
			if err := a.Intersect(b); err != nil {
				t.Fatal(err)
			}
			mine.Intersect(&others)
			if rng.IntN(2) == 0 { // what is added later is owed, too
				addTo(a, &mine, some(rng, 20))
			}
			if err := codec.Whole(a); err != nil {
				t.Fatal(err)
			}
			for mine.Len() > 0 {
				k := mine.At(rng.IntN(mine.Len()))
				remove(t, a, k)
				mine.Delete(k)
				for k := range mine.All() {
					if !a.MayContain(k) {
						t.Fatalf("%+v: %#x is in the intersection and was not found", s, k)
					}
				}
			}
		}
	}
}

func addTo(f *counting.Filter, set *filtertest.Set, keys []filter.Key) {
	for _, k := range keys {
		f.Add(k)
		set.Add(k)
	}
}

// TestKeysAreCountedUntilAnIntersection follows Info through merges.
func TestKeysAreCountedUntilAnIntersection(t *testing.T) {
	s := counting.Shape{Counters: 20_000, Hashes: 7, CounterBits: 4}
	keys := filtertest.Keys(1, 1500)
	filled := func(part []filter.Key) *counting.Filter {
		f := build(t, s)
		f.AddBatch(part)
		return f
	}
	f := filled(keys[:1000])
	if err := f.Union(filled(keys[500:])); err != nil || f.Info().Keys != 2000 || !f.Info().Exact {
		t.Errorf("1000 and 1000: %v, %+v", err, f.Info())
	}
	if err := f.Intersect(f); err != nil || f.Info().Keys != 2000 || !f.Info().Exact {
		t.Errorf("intersected with itself: %v, %+v", err, f.Info())
	}
	f = filled(keys[:1000])
	if err := f.Intersect(filled(keys[500:])); err != nil || f.Info().Exact || math.Abs(float64(f.Len())-540) > 60 {
		t.Errorf("500 in common, and some by chance: %v, %+v", err, f.Info())
	}
	before := f.Len()
	if err := f.Union(filled(keys[:1000])); err != nil || f.Info().Exact || f.Len() < before {
		t.Errorf("a count after an estimate: %v, %+v", err, f.Info())
	}
	f = filled(keys)
	if err := f.Intersect(build(t, s)); err != nil || f.Len() != 0 || !f.Info().Exact {
		t.Errorf("intersected with nothing: %v, %+v", err, f.Info())
	}
}

// TestEndlessDoublingIsEstimated merges a filter with itself until its keys could
// not be counted in a word.
func TestEndlessDoublingIsEstimated(t *testing.T) {
	f := build(t, counting.Shape{Counters: 1000, Hashes: 7, CounterBits: 4})
	f.AddBatch(filtertest.Keys(1, 50))
	for i := range 200 {
		if err := f.Union(f); err != nil {
			t.Fatal(err)
		}
		if err := codec.Whole(f); err != nil {
			t.Fatalf("doubled %d times: %v", i+1, err)
		}
		if info := f.Info(); info.Keys < 50-5 {
			t.Fatalf("doubled %d times: %+v", i+1, info)
		}
		if g, err := counting.Read(bytes.NewReader(filtertest.Stored(t, f))); err != nil || g.Len() != f.Len() {
			t.Fatalf("doubled %d times, stored and read: %v", i+1, err)
		}
	}
	if info := f.Info(); info.Exact || info.Keys > 60 {
		t.Errorf("doubled 200 times: %+v", info)
	}
}
