package scalable_test

import (
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/theory"
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

// TestGeometricRates holds the table of docs/papers/dbf10.md: bits per key at 1 %
// for geometric rates with three ratios and for that of this package.
func TestGeometricRates(t *testing.T) {
	geometric := func(r float64) func(i int) float64 {
		return func(i int) float64 { return 0.01 * (1 - r) * math.Pow(r, float64(i)) }
	}
	for name, c := range map[string]struct {
		rate func(i int) float64
		want map[int]float64 // by the number of units
	}{
		"r = 0.5": {geometric(0.5), map[int]float64{1: 11.6, 4: 15.7, 8: 23.6, 14: 38.4, 24: 80.0}},
		"r = 0.8": {geometric(0.8), map[int]float64{1: 13.8, 4: 15.2, 8: 17.7, 14: 22.0, 24: 28.7}},
		"r = 0.9": {geometric(0.9), map[int]float64{1: 15.7, 4: 16.4, 8: 17.6, 14: 19.7, 24: 22.9}},
		"ours": {
			func(i int) float64 { return scalable.UnitFPR(0.01, i) },
			map[int]float64{1: 12.6, 4: 16.0, 8: 19.7, 14: 23.0, 24: 26.1},
		},
	} {
		bits, keys := 0.0, 0.0
		for i := range 24 {
			n := math.Exp2(float64(i))
			perKey, _ := theory.BlockedBits(c.rate(i))
			bits, keys = bits+n*perKey, keys+n
			if want, ok := c.want[i+1]; ok && math.Abs(bits/keys-want) > 0.051 {
				t.Errorf("%s, %d units: %.2f bits per key, want %g", name, i+1, bits/keys, want)
			}
		}
	}
}

// checkpoints are the sizes at which a growing filter is measured: up to a million
// keys, ten million in the long form, fewer under the race detector.
func checkpoints() []uint64 {
	all := []uint64{1000, 2000, 5000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000}
	switch {
	case os.Getenv("EVERBLOOM_TRIALS") != "":
		return all
	case effort.Brief():
		return all[:6]
	}
	return all[:8]
}

// TestRateHoldsWhileTheSetGrows grows filters from a thousand keys and measures the
// rate on the way: never above the asked one, and as predicted.
func TestRateHoldsWhileTheSetGrows(t *testing.T) {
	effort.PlainOnly(t)
	probes := 200_000
	if text := os.Getenv("EVERBLOOM_TRIALS"); text != "" {
		trials, err := strconv.Atoi(text)
		if err != nil || trials < 1 {
			t.Fatalf("EVERBLOOM_TRIALS: %q", text)
		}
		probes *= trials
	}
	for _, rate := range []float64{0.01, 0.001} {
		f := filtertest.Make(t, scalable.New, scalable.Config{Items: 1000, FPR: rate})
		stream := filtertest.Stream{Seed: 4}
		next := uint64(0)
		for _, n := range checkpoints() {
			for ; next < n; next += 1000 {
				f.AddBatch(keysFrom(stream, next, 1000))
			}
			hits := filtertest.MeasureRate(f, stream, probes)
			p := filtertest.Make(t, f.Shape().Predict, n)
			t.Logf("asked %g, %8d keys: %2d units, %.1f bits per key, measured %.6f, predicted %.6f, bound %.6f",
				rate, n, f.Units(), f.Info().BitsPerKey(), float64(hits)/float64(probes), p.FPR, compoundFPR(rate, f.Units()))
			if _, most := theory.BinomialInterval(float64(probes), rate, 4); float64(hits) > most {
				t.Errorf("asked %g, %d keys: %d yeses of %d, want %.0f at most", rate, n, hits, probes, most)
			}
			low, _ := theory.BinomialInterval(float64(probes), p.FPR*(1-filtertest.RateSlack), 4)
			_, high := theory.BinomialInterval(float64(probes), p.FPR*(1+filtertest.RateSlack), 4)
			if h := float64(hits); h < low || h > high {
				t.Errorf("asked %g, %d keys: %d yeses of %d, predicted %.0f to %.0f", rate, n, hits, probes, low, high)
			}
			wantNear(t, f, n, p)
		}
		if lost := countLost(f, stream, next); lost > 0 {
			t.Errorf("asked %g: %d of %d keys were not found", rate, lost, next)
		}
	}
}

// wantNear checks the number of units and bits, and the estimate of keys. False
// positives are not added, so that a unit may begin a little later than predicted.
func wantNear(t *testing.T, f *scalable.Filter, n uint64, p filter.Prediction) {
	t.Helper()
	info := f.Info()
	if units := float64(f.Units()); units != p.Units && units != p.Units-1 || units == p.Units && info.FastBits != uint64(math.Round(p.FastBitsPerKey*float64(n))) {
		t.Errorf("%d keys: %g units of %d bits, predicted %+v", n, units, info.FastBits, p)
	}
	if math.Abs(float64(info.Keys)/float64(n)-1) > 0.005 {
		t.Errorf("%d keys: estimated %d", n, info.Keys)
	}
	if info.FPR > p.FPR*1.0001 || info.FPR < p.FPR*0.95 {
		t.Errorf("%d keys: Info tells a rate of %g, predicted %g", n, info.FPR, p.FPR)
	}
}

func keysFrom(s filtertest.Stream, first, n uint64) []filter.Key {
	keys := make([]filter.Key, n)
	for i := range keys {
		keys[i] = s.Present(first + uint64(i))
	}
	return keys
}

func countLost(f *scalable.Filter, s filtertest.Stream, n uint64) (lost int) {
	for i := range n {
		if !f.MayContain(s.Present(i)) {
			lost++
		}
	}
	return lost
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
