package evergreen

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

var shapes = []Shape{
	{FPR: 0.01, Hashes: 8, Width: 56},
	{FPR: 0.001, Hashes: 8, Width: 56, Salt: 3},
	{FPR: 1e-5, Hashes: 16, Width: 40},
	{FPR: 0.01, Hashes: 8, Width: 32},
	{FPR: 0.3, Hashes: 8, Width: 24},
	{FPR: 0.2, Hashes: 8, Width: 16},
}

// mustBuild returns a filter that is a table and stays one.
func mustBuild(tb testing.TB, s Shape) *Filter {
	tb.Helper()
	t, err := newTable(s, minBlocks, "")
	if err != nil {
		tb.Fatal(err)
	}
	t.size.least = minBlocks
	return fromTable(t)
}

// TestInvariantsHoldWhileGrowingAndShrinking goes up and down in waves and checks
// everything in between.
func TestInvariantsHoldWhileGrowingAndShrinking(t *testing.T) {
	effort.OneGoroutine(t)
	scale := 1
	if effort.Brief() {
		scale = 10
	}
	for _, s := range shapes {
		f := mustBuild(t, s)
		rng := rand.New(rand.NewPCG(uint64(s.Width), 5))
		var keys []filter.Key
		for _, goal := range []int{100, 10_000, 60_000, 30_000, 50_000, 5_000, 0, 20_000} {
			keys = reach(t, f, rng, keys, goal/scale)
			if err := f.check(); err != nil {
				t.Fatalf("%+v with %d keys: %v", s, goal, err)
			}
			wantKeys(t, f, keys)
		}
	}
}

// reach adds or deletes random keys until the filter has as many as wanted.
func reach(t *testing.T, f *Filter, rng *rand.Rand, keys []filter.Key, goal int) []filter.Key {
	t.Helper()
	for len(keys) < goal {
		k := filter.Key(rng.Uint64())
		if _, err := f.Add(k); err != nil {
			t.Fatalf("%+v: %d keys: %v", f.shape, len(keys), err)
		}
		keys = append(keys, k)
	}
	for len(keys) > goal {
		i, last := rng.IntN(len(keys)), len(keys)-1
		if err := f.Delete(keys[i]); err != nil {
			t.Fatalf("%+v: delete with %d keys: %v", f.shape, len(keys), err)
		}
		keys[i] = keys[last]
		keys = keys[:last]
	}
	return keys
}

// TestInvariantsHoldThroughAnything also has unions and intersections, and checks
// after every step.
func TestInvariantsHoldThroughAnything(t *testing.T) {
	effort.OneGoroutine(t)
	Eager(t)
	for i, s := range shapes {
		filtertest.Invariants(t, uint64(i), 60, func() *Filter { return mustBuild(t, s) }, (*Filter).check)
	}
}

func TestChecksFindDamage(t *testing.T) {
	for name, damage := range map[string]func(t *table){
		"bits":            func(t *table) { t.lines.at(0)[0] ^= 1 },
		"holds a fingerp": func(t *table) { r := t.store.Ref(3); t.store.Push(r, 3, t.store.Run(*r).At(0)) },
		"of block":        func(t *table) { t.size.grow(); t.store.Run(*t.store.Ref(0)).Set(0, 1<<addressBit(8, 56)) },
		"counted":         func(t *table) { t.stripes[0].keys++ },
		"and rate":        func(t *table) { t.meter.sum.Add(1) },
		"is not empty":    func(t *table) { t.lines.grow(300); t.lines.at(299)[1] = 1 },
		"to be kept":      func(t *table) { t.size.floor.Store(1000) },
		"has ref":         func(t *table) { t.size.grow(); *t.store.Ref(minBlocks) = 77 },
	} {
		f := mustBuild(t, Shape{FPR: 0.01, Hashes: 8, Width: 56})
		f.AddBatch(filtertest.Keys(1, 1000))
		for _, k := range filtertest.Keys(1, 1000) { // so that block 256 is empty
			if place(f.tab().mixer.mix(k), minBlocks+1) == minBlocks {
				f.Delete(k)
			}
		}
		damage(f.tab())
		if err := f.check(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the check says %v", name, err)
		}
	}
}
