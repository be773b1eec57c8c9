package dleft

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func add(tb testing.TB, f *Filter, keys ...filter.Key) {
	tb.Helper()
	for _, k := range keys {
		if _, err := f.Add(k); err != nil {
			tb.Fatalf("add %#x: %v", k, err)
		}
	}
}

func TestCountersStickAtTheirLargest(t *testing.T) {
	for counter := 1; counter <= 6; counter++ {
		f := build(t, Shape{Subtables: 4, Buckets: 5, Cells: 8, Remainder: 16 - counter, Counter: counter})
		copies := 1 << counter
		for i := 1; i <= copies+3; i++ {
			add(t, f, 9)
			if stuck := f.stuck == 1; stuck != (i >= copies) || f.Len() != uint64(i) || f.Info().Exact == stuck {
				t.Fatalf("%d bits, %d copies: stuck %t, Len %d", counter, i, stuck, f.Len())
			}
		}
		for i := copies + 2; i >= 0; i-- {
			if err := f.Delete(9); err != nil || !f.MayContain(9) || f.Len() != uint64(i) {
				t.Fatalf("%d bits, %d copies left: %v, there: %t, Len %d", counter, i, err, f.MayContain(9), f.Len())
			}
		}
		// Now it is known that no copy is left, though the cell is never freed.
		if err := f.Delete(9); !errors.Is(err, filter.ErrNotFound) || !f.MayContain(9) {
			t.Errorf("%d bits: delete beyond the last copy: %v", counter, err)
		}
		if err := f.check(); err != nil {
			t.Error(err)
		}
	}
}

// TestRateIsExact compares Info with the share of all values of the hash that get
// a yes.
func TestRateIsExact(t *testing.T) {
	for _, s := range []Shape{
		{Subtables: 4, Buckets: 5, Cells: 8, Remainder: 3, Counter: 2},
		{Subtables: 1, Buckets: 1, Cells: 1, Remainder: 1, Counter: 1},
		{Subtables: 4, Buckets: 31, Cells: 8, Remainder: 14, Counter: 2},
		{Subtables: 2, Buckets: 100, Cells: 6, Remainder: 2, Counter: 2, Salt: 1},
	} {
		f := build(t, s)
		rng := rand.New(rand.NewPCG(1, 2))
		for range s.cells() * 3 / 4 {
			f.Add(filter.Key(rng.Uint64()))
		}
		hits := uint64(0)
		for v := range f.space {
			if _, ok := f.seek(f.mend(v)); ok {
				hits++
			}
		}
		if want := float64(hits) / float64(f.space); math.Abs(f.Info().FPR-want) > 1e-12 {
			t.Errorf("%+v: Info tells %g, the rate is %g", s, f.Info().FPR, want)
		}
	}
}

func TestInfoTellsLoadAndStuckCounters(t *testing.T) {
	f := filtertest.Make(t, New, Config{Items: 100, FPR: 0.01})
	for k := range filter.Key(10) {
		add(t, f, k, k, k, k)
	}
	info := f.Info()
	if info.Keys != 40 || info.Capacity != 100 || info.Overfull || info.Fill != 10/160.0 || info.Exact {
		t.Errorf("%+v", info)
	}
	want := []filter.Detail{{Name: "keys per bucket", Value: "0.500"}, {Name: "stuck counters", Value: "10"}}
	if len(info.Details) != 2 || info.Details[0] != want[0] || info.Details[1] != want[1] {
		t.Errorf("details %+v, want %+v", info.Details, want)
	}
}
