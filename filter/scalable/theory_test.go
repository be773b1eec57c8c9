package scalable_test

import (
	"math"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// compoundFPR is the sum of the rates of units.
//
//	[DBF10], scalable filters: sum over i < units of 2f / ((i+2)(i+3)) = f units/(units+2)
func compoundFPR(f float64, units int) float64 { return f * float64(units) / float64(units+2) }

func TestRatesAddUp(t *testing.T) {
	for i, want := range []float64{3, 6, 10, 15, 21} {
		if got := scalable.UnitFPR(0.01, i); math.Abs(got*want-0.01) > 1e-15 {
			t.Errorf("unit %d has rate %g, want 0.01/%g", i, got, want)
		}
	}
	sum := 0.0
	for i := range 1000 {
		sum += scalable.UnitFPR(0.01, i)
		if bound := compoundFPR(0.01, i+1); math.Abs(sum-bound) > 1e-12 || bound >= 0.01 {
			t.Fatalf("%d units add up to %g, want %g", i+1, sum, bound)
		}
	}
}

// TestBitsPerKey holds the table of the package comment: all units full, and with the
// next one.
func TestBitsPerKey(t *testing.T) {
	for _, c := range []struct {
		items  uint64
		rate   float64
		filled map[int]float64 // by the number of units
		begun  map[int]float64
	}{
		{1 << 20, 0.01, map[int]float64{1: 12.6, 2: 13.8, 4: 16.0, 8: 19.7, 14: 23.0}, map[int]float64{1: 41.3, 2: 34.8, 4: 35.2, 8: 41.1, 14: 46.7}},
		{1 << 20, 0.001, map[int]float64{1: 19.2, 2: 20.8, 4: 23.1, 8: 26.6, 14: 30.1}, map[int]float64{1: 62.4, 2: 51.4, 4: 49.9, 8: 54.7, 14: 61.2}},
		{1000, 0.01, map[int]float64{1: 14.0, 2: 15.1, 4: 17.0, 8: 20.1, 14: 23.1}, map[int]float64{1: 45.4, 2: 37.6, 4: 36.8, 8: 41.7, 14: 46.9}},
		{1000, 0.001, map[int]float64{1: 21.4, 2: 23.1, 4: 24.9, 8: 27.4, 14: 30.3}, map[int]float64{1: 69.4, 2: 56.3, 4: 52.9, 8: 55.9, 14: 61.4}},
	} {
		s := filtertest.Make(t, scalable.Config.Shape, scalable.Config{Items: c.items, FPR: c.rate})
		for units, want := range c.filled {
			n := s.Items * (1<<units - 1)
			p := filtertest.Make(t, s.Predict, n)
			if got := p.FastBitsPerKey; math.Abs(got-want) > 0.06 || p.Units != float64(units) {
				t.Errorf("%d at %g, %d units: %.2f bits per key in %g units, want %g", c.items, c.rate, units, got, p.Units, want)
			}
			if got := filtertest.Make(t, s.Predict, n+1).FastBitsPerKey * float64(n+1) / float64(n); math.Abs(got-c.begun[units]) > 0.06 {
				t.Errorf("%d at %g, %d units and a new one: %.2f bits per key, want %g", c.items, c.rate, units, got, c.begun[units])
			}
			if bound := compoundFPR(c.rate, units); p.FPR > bound || c.items > 1<<16 && p.FPR < 0.95*bound {
				t.Errorf("%d at %g, %d units: predicted rate %g, bound %g", c.items, c.rate, units, p.FPR, bound)
			}
		}
	}
}

func keysFrom(s filtertest.Stream, first, n uint64) []filter.Key {
	keys := make([]filter.Key, n)
	for i := range keys {
		keys[i] = s.Present(first + uint64(i))
	}
	return keys
}

func TestPredictedLines(t *testing.T) {
	s := filtertest.Make(t, scalable.Config.Shape, scalable.Config{Items: 1000, FPR: 0.01})
	for units, want := range map[int]float64{1: 1, 2: 1 + 1.0/3, 3: 1 + 2.0/7 + 2.0/7} {
		p, err := s.Predict(s.Items * (1<<units - 1))
		if err != nil || math.Abs(p.HitLines-want) > 1e-9 || p.MissLines != float64(units) {
			t.Errorf("%d units: %+v, %v, want %g lines for a hit", units, p, err, want)
		}
	}
	if p, err := s.Predict(0); err != nil || p.FPR != 0 || p.Units != 1 || p.HitLines != 1 {
		t.Errorf("empty: %+v, %v", p, err)
	}
}
