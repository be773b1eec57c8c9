package deletable_test

import (
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

var subject = filtertest.Subject{
	Name: "deletable",
	New: func(items uint64, fpr float64) (filter.Filter, error) {
		return deletable.New(deletable.Config{Items: items, FPR: fpr})
	},
	Read: func(r io.Reader) (filter.Filter, error) { return deletable.Read(r) },
}

// collisionArray has a mark for every bit, as [Sum] describes it.
var collisionArray = filtertest.Subject{
	Name: "collision-array",
	New: func(items uint64, fpr float64) (filter.Filter, error) {
		return deletable.New(deletable.Config{Items: items, FPR: fpr, RegionShare: 0.5})
	},
	Read: subject.Read,
}

func TestConformance(t *testing.T)               { filtertest.Run(t, subject) }
func TestCollisionArrayConformance(t *testing.T) { filtertest.Run(t, collisionArray) }

func build(tb testing.TB, s deletable.Shape) *deletable.Filter {
	tb.Helper()
	return filtertest.Make(tb, deletable.Build, s)
}

// find returns the first key whose cells are as asked for.
func find(t *testing.T, s deletable.Shape, share func(cells []uint64) bool) filter.Key {
	t.Helper()
	return filtertest.Find(t, func(k filter.Key) bool { return share(s.Positions(k)) })
}

func wantDelete(t *testing.T, f *deletable.Filter, k filter.Key, want error) {
	t.Helper()
	before := f.AppendRaw(nil)
	if err := f.Delete(k); !errors.Is(err, want) {
		t.Errorf("deleting %#x: %v, want %v", k, err, want)
	}
	if want != nil && !slices.Equal(f.AppendRaw(nil), before) {
		t.Errorf("deleting %#x was refused and changed the filter", k)
	}
	if err := codec.Whole(f); err != nil {
		t.Error(err)
	}
}

// fig1 is the shape of [DlBF10] Fig. 1: four regions of seven cells.
var fig1 = deletable.Shape{Bits: 32, Hashes: 3, Regions: 4}

// TestKeyDoesNotCollideWithItself is about keys whose positions coincide, two of
// them or all.
func TestKeyDoesNotCollideWithItself(t *testing.T) {
	for _, s := range []deletable.Shape{fig1, {Bits: 32, Hashes: 3, Regions: 16}, {Bits: 33, Hashes: 4, Regions: 1}} {
		for _, distinct := range []int{1, 2} {
			k := find(t, s, func(p []uint64) bool { return len(p) == distinct })
			f := build(t, s)
			f.Add(k)
			if f.CleanRegions() != 1 {
				t.Errorf("%+v: a lone key with %d cells collided with itself", s, distinct)
			}
			wantDelete(t, f, k, nil)
			if info := f.Info(); info.Fill != 0 || info.Keys != 0 || f.MayContain(k) {
				t.Errorf("%+v: after deleting the only key: %+v", s, info)
			}
		}
	}
}

// TestInfoTellsDeletability compares the estimate with what can be deleted, in
// filters that are counted and in one that is sampled.
func TestInfoTellsDeletability(t *testing.T) {
	for _, n := range []uint64{10, 1000, 200_000} {
		f := filtertest.Make(t, deletable.New, deletable.Config{Items: n, FPR: 0.01, Deletability: 0.7})
		if f.Deletability() != 1 || f.CleanRegions() != 1 {
			t.Errorf("an empty filter: %v", f.Info().Details)
		}
		keys := filtertest.Keys(n, n)
		f.AddBatch(keys)
		told, details := f.Deletability(), f.Info().Details
		deleted, _, _, err := filter.DeleteBatch(f, keys)
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(deleted) / float64(n); told < got-0.02-1/float64(n) || told > got+0.02+1/float64(n) {
			t.Errorf("%d keys: Info tells %v, %.3f could be deleted", n, details, got)
		}
		if f.Deletability() > 0.01 && f.Len() > 0 {
			t.Errorf("%d keys: all that could be were deleted: %v", n, f.Info().Details)
		}
	}
}

// TestInfoTellsWhatChurnCosts holds the table of the package comment: keys are replaced one
// by one, and those that are pinned are forgotten, as a user would.
func TestInfoTellsWhatChurnCosts(t *testing.T) {
	const n, probes = 10_000, 100_000
	for rate, steps := range map[float64][]struct{ replaced, want, deletable float64 }{
		0.01:  {{0, 0.01, 0.90}, {0.1, 0.0117, 0.85}, {0.5, 0.0237, 0.65}, {1, 0.055, 0.40}, {2, 0.178, 0.12}, {5, 0.689, 0}},
		0.001: {{0, 0.001, 0.91}, {0.1, 0.0014, 0.86}, {0.5, 0.0053, 0.58}, {1, 0.0212, 0.28}, {2, 0.122, 0.05}, {5, 0.685, 0}},
	} {
		f := filtertest.Make(t, deletable.New, deletable.Config{Items: n, FPR: rate})
		stream := filtertest.Stream{Seed: 7}
		f.AddBatch(stream.Keys(n))
		oldest := uint64(0)
		for _, step := range steps {
			for ; float64(oldest) < step.replaced*n; oldest++ {
				_ = f.Delete(stream.Present(oldest))
				f.Add(stream.Present(n + oldest))
			}
			info := f.Info()
			if math.Abs(info.FPR/step.want-1) > 0.05 || math.Abs(f.Deletability()-step.deletable) > 0.03 {
				t.Errorf("asked %g, %g of the keys replaced: rate %.4f, %.2f can be deleted, want %v", rate, step.replaced, info.FPR, f.Deletability(), step)
			}
			if info.Overfull != (step.replaced > 0) {
				t.Errorf("asked %g, %g of the keys replaced: overfull is %t", rate, step.replaced, info.Overfull)
			}
			filtertest.CheckRate(t, "told", filtertest.MeasureRate(f, stream, probes), probes, info.FPR, 4)
		}
	}
}
