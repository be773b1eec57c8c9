package evergreen_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// of returns a filter for the config with the keys.
func of(t *testing.T, c evergreen.Config, keys ...[]filter.Key) *evergreen.Filter {
	t.Helper()
	f := filtertest.Make(t, evergreen.New, c)
	for _, part := range keys {
		if _, _, err := f.AddBatch(part); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// wantExactly checks that a filter of whole keys has these and no others.
func wantExactly(t *testing.T, what string, f *evergreen.Filter, parts ...[]filter.Key) {
	t.Helper()
	want := slices.Concat(parts...)
	got := slices.Collect(f.Keys())
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || f.Len() != uint64(len(want)) {
		t.Errorf("%s: %d keys by Keys, %d by Len, want %d", what, len(got), f.Len(), len(want))
	}
	if err := f.Check(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// TestSetOperationsOfUnequalSizes has filters of other sizes, rates and salts.
func TestSetOperationsOfUnequalSizes(t *testing.T) {
	effort.OneGoroutine(t)
	n := 30_000
	if effort.Brief() {
		n = 3000
	}
	keys := filtertest.Keys(1, uint64(n+3000))
	left, common, right := keys[:n], keys[n:n+1000], keys[n+1000:]
	for _, c := range []evergreen.Config{{FPR: 0.01}, {FPR: 0.01, Salt: 5}, {FPR: 1e-5, Items: 20_000}} {
		a := func() *evergreen.Filter { return of(t, evergreen.Config{FPR: 0.01}, left, common) }
		b := func() *evergreen.Filter { return of(t, c, common, right) }
		for name, op := range map[string]struct {
			run      func(f, other *evergreen.Filter) error
			ab, ba   [][]filter.Key
			operands func() (*evergreen.Filter, *evergreen.Filter)
		}{
			"union":        {run: func(f, o *evergreen.Filter) error { return f.Union(o) }, ab: [][]filter.Key{left, common, right}, ba: [][]filter.Key{left, common, right}},
			"intersection": {run: func(f, o *evergreen.Filter) error { return f.Intersect(o) }, ab: [][]filter.Key{common}, ba: [][]filter.Key{common}},
			"difference":   {run: func(f, o *evergreen.Filter) error { return f.Difference(o) }, ab: [][]filter.Key{left}, ba: [][]filter.Key{right}},
		} {
			f, o := a(), b()
			if err := op.run(f, o); err != nil {
				t.Fatal(err)
			}
			wantExactly(t, name, f, op.ab...)
			wantExactly(t, "the other operand of "+name, o, common, right)
			f, o = b(), a()
			if err := op.run(f, o); err != nil {
				t.Fatal(err)
			}
			wantExactly(t, name+" the other way", f, op.ba...)
		}
	}
}

func TestSetOperationsWithItself(t *testing.T) {
	keys := filtertest.Keys(2, 5000)
	f := of(t, evergreen.Config{}, keys)
	if err := errors.Join(f.Union(f), f.Intersect(f)); err != nil {
		t.Fatal(err)
	}
	wantExactly(t, "union and intersection with itself", f, keys)
	if err := f.Difference(f); err != nil {
		t.Fatal(err)
	}
	wantExactly(t, "difference with itself", f)
}

// TestCompactMergesCountCopies adds keys to one filter once and to the other twice.
func TestCompactMergesCountCopies(t *testing.T) {
	effort.OneGoroutine(t)
	keys := filtertest.Keys(3, 2000)
	for _, width := range []int{24, 32, 40} {
		c := evergreen.Config{FPR: 0.01, Width: width}
		once, twice := of(t, c, keys), of(t, c, keys, keys)
		if err := twice.Union(once); err != nil || twice.Len() != 6000 {
			t.Errorf("%d bits: union has %d keys, want 6000: %v", width, twice.Len(), err)
		}
		if err := twice.Intersect(once); err != nil || twice.Len() != 2000 {
			t.Errorf("%d bits: intersection has %d keys, want 2000: %v", width, twice.Len(), err)
		}
		if err := once.Union(once); err != nil || once.Len() != 4000 {
			t.Errorf("%d bits: union with itself has %d keys, want 4000: %v", width, once.Len(), err)
		}
		if err := once.Difference(twice); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%d bits: difference: %v, want ErrUnsupported", width, err)
		}
		if err := errors.Join(once.Check(), twice.Check()); err != nil {
			t.Error(err)
		}
	}
}

// TestIntersectCountsEveryCopy makes sure that keys with many copies are not
// counted again after some went.
func TestIntersectCountsEveryCopy(t *testing.T) {
	c := evergreen.Config{FPR: 0.01, Width: 32}
	key := filtertest.Keys(4, 1)
	for a := range 5 {
		for b := range 5 {
			f, o := of(t, c, slices.Repeat(key, a)), of(t, c, slices.Repeat(key, b))
			if err := f.Intersect(o); err != nil || f.Len() != uint64(min(a, b)) {
				t.Errorf("%d copies with %d: %d left, %v", a, b, f.Len(), err)
			}
		}
	}
}

func TestMergesRefuseWhatCannotBe(t *testing.T) {
	full, narrow := of(t, evergreen.Config{FPR: 0.01}), of(t, evergreen.Config{FPR: 0.01, Width: 32})
	salted := of(t, evergreen.Config{FPR: 0.01, Width: 32, Salt: 1})
	for _, pair := range [][2]*evergreen.Filter{{full, narrow}, {narrow, full}, {narrow, salted}} {
		for _, err := range []error{pair[0].Union(pair[1]), pair[0].Intersect(pair[1]), pair[0].Difference(pair[1])} {
			if !errors.Is(err, filter.ErrIncompatible) {
				t.Errorf("%+v with %+v: %v", pair[0].Shape(), pair[1].Shape(), err)
			}
		}
	}
	var none *evergreen.Filter
	for _, other := range []filter.Filter{nil, none, &filtertest.Exact{}} {
		if err := full.Union(other); !errors.Is(err, filter.ErrIncompatible) {
			t.Errorf("union with %T: %v", other, err)
		}
	}
}

// TestUnionBeyondTheLimitChangesNothing unites compact filters that are too many
// together.
func TestUnionBeyondTheLimitChangesNothing(t *testing.T) {
	s := evergreen.Shape{FPR: 0.01, Hashes: 8, Width: 16}
	a, b := filtertest.Make(t, evergreen.Build, s), filtertest.Make(t, evergreen.Build, s)
	half := int(s.Capacity()/2 + 100)
	a.AddBatch(filtertest.Keys(1, uint64(half)))
	b.AddBatch(filtertest.Keys(2, uint64(half)))
	if err := a.Union(b); !errors.Is(err, filter.ErrFull) || a.Len() != uint64(half) {
		t.Errorf("%v, and %d keys, want ErrFull and %d", err, a.Len(), half)
	}
}

func TestKeysCanBreakAndChange(t *testing.T) {
	keys := filtertest.Keys(6, 3000)
	f := of(t, evergreen.Config{}, keys)
	seen := 0
	for range f.Keys() {
		if seen++; seen == 10 {
			break
		}
	}
	for k := range f.Keys() {
		if err := f.Delete(k); err != nil {
			t.Fatal(err)
		}
		seen++
	}
	if seen != 3010 || f.Len() != 0 {
		t.Errorf("saw %d keys, %d are left", seen, f.Len())
	}
	for range of(t, evergreen.Config{Width: 32}, keys).Keys() {
		t.Fatal("a compact filter gives keys")
	}
}

func TestClonesAreIndependent(t *testing.T) {
	effort.OneGoroutine(t)
	keys := filtertest.Keys(7, 12_000)
	for _, width := range []int{56, 32} {
		f := of(t, evergreen.Config{Width: width}, keys)
		g, err := f.Clone()
		if err != nil {
			t.Fatal(err)
		}
		filter.DeleteBatch(f, keys)
		if g.Len() != 12_000 || f.Len() != 0 || g.Blocks() <= f.Blocks() {
			t.Errorf("clone has %d keys in %d blocks, the original %d in %d", g.Len(), g.Blocks(), f.Len(), f.Blocks())
		}
		if err := g.Check(); err != nil {
			t.Error(err)
		}
		filter.DeleteBatch(g, keys)
		if g.Blocks() != f.Blocks() {
			t.Errorf("the clone shrinks to %d blocks, the original to %d", g.Blocks(), f.Blocks())
		}
	}
}
