package dynamic_test

import (
	"math"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestRateIsThatOfOneList: a query looks at one of eight lists, so that the rate is
// that of an eighth of the units. It also shows that the choice of a list leaves
// positions evenly spread.
func TestRateIsThatOfOneList(t *testing.T) {
	effort.OneGoroutine(t)
	const keys, probes = 64_000, 100_000
	for salt := range uint64(2) {
		config := dynamic.Config{Items: 8000, FPR: 0.01, CounterBits: 1, Partitions: 8, Salt: salt}
		f := filtertest.Make(t, dynamic.NewParallel, config)
		filter.AddBatch(f, filtertest.Keys(1, keys))
		hits := filtertest.MeasureRate(f, filtertest.Stream{Seed: 1}, probes)
		filtertest.CheckRate(t, "against Info", hits, probes, f.Info().FPR, 4)
		if rate := float64(hits) / probes; rate < 0.06 || rate > 0.085 {
			t.Errorf("8 units of 1 %% in each list have a rate of %g", rate)
		}
		if p := filtertest.Make(t, f.Shape().Predict, keys); p.FPR < 0.9*f.Info().FPR || p.FPR > 1.1*f.Info().FPR || math.Mod(p.Units, 8) != 0 {
			t.Errorf("predicted %+v, is %+v", p, f.Info())
		}
	}
}

// TestOneListIsAFilter: with one list there is nothing to split.
func TestOneListIsAFilter(t *testing.T) {
	config := dynamic.Config{Items: 500, FPR: 0.01, Salt: 3}
	f := filtertest.Make(t, dynamic.New, config)
	config.Partitions = 1
	p := filtertest.Make(t, dynamic.NewParallel, config)
	if p.Shape().Shape != f.Shape() {
		t.Fatalf("shapes %+v and %+v", p.Shape(), f.Shape())
	}
	add(t, f, filtertest.Keys(1, 3000)...)
	add(t, p, filtertest.Keys(1, 3000)...)
	for i := range uint64(10_000) {
		if k := (filtertest.Stream{Seed: 1}).Absent(i); f.MayContain(k) != p.MayContain(k) {
			t.Fatalf("%#x gets two answers", k)
		}
	}
	if p.Len() != f.Len() {
		t.Errorf("%d and %d keys", p.Len(), f.Len())
	}
}
