package dynamic_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// small units take some 35 keys at 1 %.
var small = dynamic.Shape{Positions: 400, Hashes: 7, CounterBits: 4, Full: 207}

func add(t *testing.T, f filter.Filter, keys ...filter.Key) {
	t.Helper()
	if done, _, err := filter.AddBatch(f, keys); err != nil {
		t.Fatalf("after %d keys: %v", done, err)
	}
}

// fill adds keys of a stream until there are so many units, and returns them.
func fill(t *testing.T, f *dynamic.Filter, seed uint64, units int) (keys []filter.Key) {
	t.Helper()
	for i := uint64(0); f.Units() < units; i++ {
		keys = append(keys, (filtertest.Stream{Seed: seed}).Present(i))
		add(t, f, keys[i])
	}
	return keys
}

func wantAll(t *testing.T, f filter.Filter, keys []filter.Key) {
	t.Helper()
	for i, k := range keys {
		if !f.MayContain(k) {
			t.Fatalf("key %d of %d, %#x, is in the set and was not found", i, len(keys), k)
		}
	}
}

func TestKeysOfTheActiveUnitTakeNoRoom(t *testing.T) {
	f := filtertest.Make(t, dynamic.Build, small)
	keys := fill(t, f, 1, 2)
	first := keys[:len(keys)-1] // of which no further one fits into the first unit
	f = filtertest.Make(t, dynamic.Build, small)
	for range 100 {
		add(t, f, first...)
	}
	if f.Units() != 1 {
		t.Errorf("%d keys a hundred times are %d units, want 1", len(first), f.Units())
	}
	if info := f.Info(); info.Keys != uint64(100*len(first)) || !info.Exact {
		t.Errorf("copies are not counted: %+v", info)
	}
}

func TestDeleteGoesByTheUnitsThatAnswer(t *testing.T) {
	f := filtertest.Make(t, dynamic.Build, small)
	keys := fill(t, f, 1, 4)
	before := filtertest.Stored(t, f)
	alone := filtertest.Find(t, func(k filter.Key) bool { return f.Answering(k) == 0 })
	if err := f.Delete(alone); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("no unit answers: %v", err)
	}
	chance := slices.IndexFunc(keys, func(k filter.Key) bool { return f.Answering(k) > 1 })
	if err := f.Delete(keys[chance]); !errors.Is(err, filter.ErrPinned) {
		t.Errorf("a second unit answers by chance: %v", err)
	}
	if !slices.Equal(filtertest.Stored(t, f), before) {
		t.Error("a refused Delete changed the filter")
	}
	own := slices.IndexFunc(keys, func(k filter.Key) bool { return f.Answering(k) == 1 })
	if err := f.Delete(keys[own]); err != nil || f.MayContain(keys[own]) {
		t.Errorf("its own unit answers: %v, and then %d units", err, f.Answering(keys[own]))
	}
	wantAll(t, f, slices.Delete(keys, own, own+1))
}

// TestKeyOfTwoUnitsIsPinnedUntilTheyAreOne adds a key to two units, thins them out
// until they are merged, and then deletes both copies.
func TestKeyOfTwoUnitsIsPinnedUntilTheyAreOne(t *testing.T) {
	f := filtertest.Make(t, dynamic.Build, small)
	twice := filtertest.Stream{Seed: 2}.Present(0)
	add(t, f, twice)
	keys := fill(t, f, 1, 2)
	add(t, f, twice)
	if err := f.Delete(twice); !errors.Is(err, filter.ErrPinned) || f.Answering(twice) != 2 {
		t.Fatalf("in %d units: %v", f.Answering(twice), err)
	}
	for _, k := range keys {
		if err := f.Delete(k); err != nil && !errors.Is(err, filter.ErrPinned) {
			t.Fatal(err)
		}
		wantAll(t, f, []filter.Key{twice})
	}
	if f.Units() != 1 {
		t.Fatalf("%d units", f.Units())
	}
	for copies := 2; copies > 0; copies-- {
		wantAll(t, f, []filter.Key{twice})
		if err := f.Delete(twice); err != nil {
			t.Fatalf("%d copies: %v", copies, err)
		}
	}
	if f.MayContain(twice) {
		t.Error("it is still there")
	}
}

func TestPlainUnitsCannotDelete(t *testing.T) {
	s := small
	s.CounterBits = 1
	f := filtertest.Make(t, dynamic.Build, s)
	add(t, f, 1)
	if err := f.Delete(1); !errors.Is(err, errors.ErrUnsupported) || !f.MayContain(1) {
		t.Errorf("got %v", err)
	}
}

func TestNoUnitPassesItsBound(t *testing.T) {
	for _, s := range []dynamic.Shape{
		small,
		{Positions: 400, Hashes: 7, CounterBits: 1, Full: 207},
		{Positions: 64, Hashes: 3, CounterBits: 2, Full: 40},
		{Positions: 9, Hashes: 9, CounterBits: 8, Full: 9},
		{Positions: 1, Hashes: 1, CounterBits: 2, Full: 1},
		{Positions: 100, Hashes: 5, CounterBits: 4, Full: 5},
	} {
		filtertest.Invariants(t, s.Positions, 400, func() *dynamic.Filter { return filtertest.Make(t, dynamic.Build, s) }, codec.Whole)
		filtertest.Invariants(t, s.Positions, 100, func() *dynamic.Parallel {
			return filtertest.Make(t, dynamic.BuildParallel, dynamic.ParallelShape{Partitions: 3, Shape: s})
		}, parallelCodec.Whole)
	}
}

// TestListsShrinkWithTheKeys deletes at random, and in the order of the Adds. The
// units that are left have at least three eighths of a full one's positions each
// on average, but for one and the active one.
func TestListsShrinkWithTheKeys(t *testing.T) {
	effort.OneGoroutine(t)
	for name, inOrder := range map[string]bool{"oldest first": true, "at random": false} {
		f := filtertest.Make(t, dynamic.Build, dynamic.Shape{Positions: 4000, Hashes: 14, CounterBits: 4, Full: 2000})
		keys := fill(t, f, 1, 40)
		if !inOrder {
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		}
		pinned := uint64(0)
		for i, k := range keys {
			if err := f.Delete(k); errors.Is(err, filter.ErrPinned) {
				pinned++
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if i%500 != 0 {
				continue
			}
			wantAll(t, f, keys[i+1:])
			var sum uint64
			for _, set := range f.SetBits() {
				sum += set
			}
			if most := sum/750 + 2; uint64(f.Units()) > most {
				t.Errorf("%s, %d keys are left: %d units with %d positions set, want %d at most", name, len(keys)-i-1, f.Units(), sum, most)
			}
		}
		if f.Units() > 1 || f.Len() != pinned {
			t.Errorf("%s: %d units and %d keys are left of all, %d were pinned", name, f.Units(), f.Len(), pinned)
		}
	}
}

// TestRoomIsUsedAgain keeps a list at one size while all its keys are replaced ten
// times over.
func TestRoomIsUsedAgain(t *testing.T) {
	f := filtertest.Make(t, dynamic.Build, dynamic.Shape{Positions: 2000, Hashes: 14, CounterBits: 4, Full: 1000})
	keys := fill(t, f, 1, 20)
	rng := rand.New(rand.NewPCG(3, 4))
	most := 0
	for i := range uint64(10 * len(keys)) {
		at := rng.IntN(len(keys))
		if err := f.Delete(keys[at]); err != nil {
			if errors.Is(err, filter.ErrPinned) {
				continue
			}
			t.Fatal(err)
		}
		keys[at] = (filtertest.Stream{Seed: 2}).Present(i)
		add(t, f, keys[at])
		most = max(most, f.Units())
	}
	wantAll(t, f, keys)
	if most > 2*20 {
		t.Errorf("20 units of keys took up to %d", most)
	}
	t.Logf("20 units of keys: %d units at most, %d in the end", most, f.Units())
}

// TestChangesAtTheEdgeAreCheap adds and deletes where a unit is just full, and
// where two units are just merged: structure must not change at each step.
func TestChangesAtTheEdgeAreCheap(t *testing.T) {
	f := filtertest.Make(t, dynamic.Build, dynamic.Shape{Positions: 2000, Hashes: 14, CounterBits: 4, Full: 1000})
	keys := fill(t, f, 1, 3)
	changes, units := 0, f.Units()
	for back := range len(keys) / 2 { // at every size, from the edge down
		for range 5 {
			k := keys[len(keys)-1-back]
			if errors.Is(f.Delete(k), filter.ErrPinned) {
				continue
			}
			add(t, f, k)
			if f.Units() != units {
				changes, units = changes+1, f.Units()
			}
		}
		f.Delete(keys[len(keys)-1-back])
		if f.Units() != units {
			changes, units = changes+1, f.Units()
		}
	}
	if changes > 4 {
		t.Errorf("the number of units changed %d times", changes)
	}
}

// TestSaturatedCountersGoWithTheirUnit: counters of two bits stick at three, but
// a unit without keys is clean.
func TestSaturatedCountersGoWithTheirUnit(t *testing.T) {
	f := filtertest.Make(t, dynamic.Build, dynamic.Shape{Positions: 64, Hashes: 3, CounterBits: 2, Full: 40})
	for range 5 {
		add(t, f, 1)
	}
	for i := range 5 {
		wantAll(t, f, []filter.Key{1})
		if err := f.Delete(1); err != nil {
			t.Fatalf("copy %d: %v", i, err)
		}
	}
	if f.MayContain(1) || f.Info().Fill != 0 {
		t.Errorf("a filter without keys: %+v", f.Info())
	}
}

// TestCopiesSurviveSaturatingMerges has a key with ten copies in each of two
// units: together more than four bits can count.
func TestCopiesSurviveSaturatingMerges(t *testing.T) {
	const copies = 10
	f, g := filtertest.Make(t, dynamic.Build, small), filtertest.Make(t, dynamic.Build, small)
	for range copies {
		add(t, f, 1)
		add(t, g, 1, 2)
	}
	if err := f.Union(g); err != nil {
		t.Fatal(err)
	}
	if f.Units() != 1 || f.Len() != 3*copies {
		t.Fatalf("%d units with %d keys", f.Units(), f.Len())
	}
	for i := range 2 * copies {
		wantAll(t, f, []filter.Key{1, 2})
		if err := f.Delete(1); err != nil {
			t.Fatalf("copy %d: %v", i, err)
		}
	}
	for i := range copies {
		wantAll(t, f, []filter.Key{2})
		if err := f.Delete(2); err != nil {
			t.Fatalf("copy %d: %v", i, err)
		}
	}
	if f.MayContain(1) || f.MayContain(2) {
		t.Error("a filter without keys answers")
	}
}
