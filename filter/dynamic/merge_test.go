package dynamic_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestUnionsPackThinUnits unites a hundred filters of three keys.
func TestUnionsPackThinUnits(t *testing.T) {
	for _, width := range []int{1, 4} {
		s := small
		s.CounterBits = width
		f := filtertest.Make(t, dynamic.Build, s)
		var keys []filter.Key
		for i := range uint64(100) {
			other := filtertest.Make(t, dynamic.Build, s)
			three := filtertest.Keys(i, 3)
			add(t, other, three...)
			if err := f.Union(other); err != nil {
				t.Fatal(err)
			}
			keys = append(keys, three...)
			wantAll(t, f, keys)
		}
		if want := filtertest.Make(t, s.Predict, 300).Units + 2; float64(f.Units()) > want {
			t.Errorf("300 keys are %d units, want %g at most", f.Units(), want)
		}
		if err := codec.Whole(f); err != nil {
			t.Error(err)
		}
	}
}

// TestPackingLeavesNothingThatFits merges thousands of units of a key each, which all
// become one or fill some hundred units.
func TestPackingLeavesNothingThatFits(t *testing.T) {
	const units = 8000
	same, different := make([]filter.Key, units), filtertest.Keys(1, units)
	for name, keys := range map[string][]filter.Key{"one key": same, "different keys": different} {
		f, err := dynamic.Thin(small, keys)
		if err != nil {
			t.Fatal(err)
		}
		f.Pack()
		if f.Units() > 1+units/20 || keys[0] == keys[1] && f.Units() > 1 {
			t.Errorf("%s: %d units became %d", name, units, f.Units())
		}
		wantAll(t, f, keys)
		if err := codec.Whole(f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		sets := f.SetBits()
		slices.Sort(sets)
		if len(sets) > 1 && sets[0]+sets[1] <= small.Full {
			t.Errorf("%s: units with %d and %d positions set fit into one", name, sets[0], sets[1])
		}
	}
}

// TestUnionKeepsFullUnits checks that the lists are joined and the rates add up.
func TestUnionKeepsFullUnits(t *testing.T) {
	f, g := filtertest.Make(t, dynamic.Build, small), filtertest.Make(t, dynamic.Build, small)
	mine, others := fill(t, f, 1, 5), fill(t, g, 2, 8)
	rates := 1 - (1-f.Info().FPR)*(1-g.Info().FPR)
	if err := f.Union(g); err != nil {
		t.Fatal(err)
	}
	wantAll(t, f, slices.Concat(mine, others))
	if f.Units() != 12 { // the two active ones, with a key each, are one
		t.Errorf("5 and 8 units became %d", f.Units())
	}
	if got := f.Info().FPR; got > 1.0001*rates || got < 0.999*rates {
		t.Errorf("the rate is %g, want %g", got, rates)
	}
	if f.Len() != uint64(len(mine)+len(others)) {
		t.Errorf("%d keys, want %d", f.Len(), len(mine)+len(others))
	}
}

func TestUnionWithItselfDoublesTheCopies(t *testing.T) {
	f := filtertest.Make(t, dynamic.Build, small)
	keys := fill(t, f, 1, 4)
	n, rate := f.Len(), f.Info().FPR
	if err := f.Union(f); err != nil {
		t.Fatal(err)
	}
	if f.Units() != 4 || f.Len() != 2*n || f.Info().FPR != rate {
		t.Errorf("%d keys became %+v", n, f.Info())
	}
	for range 2 {
		wantAll(t, f, keys[:1])
		if err := f.Delete(keys[0]); err != nil {
			t.Error(err)
		}
	}
	if f.Answering(keys[0]) != 0 {
		t.Error("a key that was deleted as often as it was there is there")
	}
}

// TestEndlessDoublingStaysAFilter goes beyond what can be counted.
func TestEndlessDoublingStaysAFilter(t *testing.T) {
	f := filtertest.Make(t, dynamic.Build, small)
	keys := fill(t, f, 1, 3)
	for range 70 {
		if err := f.Union(f); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range keys {
		if err := f.Delete(k); err != nil && !errors.Is(err, filter.ErrPinned) {
			t.Fatal(err)
		}
	}
	wantAll(t, f, keys)
	if info := f.Info(); info.Exact || info.Keys == 0 {
		t.Errorf("got %+v", info)
	}
	if err := codec.Whole(f); err != nil {
		t.Error(err)
	}
}

// TestMutualUnionsDoNotWaitForEachOther would hang if a Union held two locks.
func TestMutualUnionsDoNotWaitForEachOther(t *testing.T) {
	config := dynamic.Config{Items: 200, FPR: 0.01, Partitions: 4}
	a, b := filtertest.Make(t, dynamic.NewParallel, config), filtertest.Make(t, dynamic.NewParallel, config)
	keys := filtertest.Keys(1, 40)
	add(t, a, keys[:20]...)
	add(t, b, keys[20:]...)
	var all sync.WaitGroup
	for range 3 {
		for _, pair := range [][2]*dynamic.Parallel{{a, b}, {b, a}, {a, a}} {
			all.Go(func() {
				if err := pair[0].Union(pair[1]); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	wantAll(t, a, keys)
	wantAll(t, b, keys)
}
