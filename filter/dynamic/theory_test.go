package dynamic_test

import (
	"errors"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// ebf returns the units of [EBF21] Sec. 5: k = 5, threshold 0.2.
func ebf(positions uint64, width int) dynamic.Shape {
	return dynamic.Shape{Positions: positions, Hashes: 5, CounterBits: width, Full: positions / 5}
}

// queries is how many an experiment asks: enough to see the rate, or as many times
// more as the environment says.
func queries(t *testing.T) int {
	t.Helper()
	if effort.UnderRace {
		return 20_000 * trials(t)
	}
	return 100_000 * trials(t)
}

// trials is how many times longer an experiment runs than is quick.
func trials(t *testing.T) int {
	t.Helper()
	text := os.Getenv("EVERBLOOM_TRIALS")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("EVERBLOOM_TRIALS: %q", text)
	}
	return n
}

// nextUnit adds keys until a unit more is there, and takes none of its own.
func nextUnit(t *testing.T, f *dynamic.Filter, next *uint64) {
	t.Helper()
	for units := f.Units(); f.Units() == units; *next++ {
		if _, err := f.Add((filtertest.Stream{}).Present(*next)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRateIsThatOfTheTheorem is [DPBF19] Theorem A.1: the rate of 1 to 64 full
// units, measured, beside the bound and its linear approximation.
func TestRateIsThatOfTheTheorem(t *testing.T) {
	effort.PlainOnly(t)
	probes := queries(t)
	for _, c := range []struct {
		shape dynamic.Shape
		rate  float64 // of a full unit
	}{
		{ebf(1<<15, 1), 0.00032},
		{ebf(1<<15, 4), 0.00032},
		{dynamic.Shape{Positions: 10_000, Hashes: 7, CounterBits: 1, Full: 5180}, math.Pow(0.518, 7)}, // 1 %
	} {
		f := filtertest.Make(t, dynamic.Build, c.shape)
		next := uint64(0)
		for _, units := range []int{1, 2, 4, 8, 16, 32, 48, 64} {
			for f.Units() <= units {
				nextUnit(t, f, &next)
			}
			bound := theory.DynamicFPRBound(c.rate, float64(units))
			hits := filtertest.MeasureRate(f, filtertest.Stream{}, probes)
			t.Logf("%d units, %d keys: measured %.5f, theorem %.5f, linear %.5f",
				units, next, float64(hits)/float64(probes), bound, theory.DynamicLinearFPR(c.rate, float64(units)))
			// A unit is called full up to k positions early: 1 % of the rate. Its one
			// key beyond the full units does not count.
			low, _ := theory.BinomialInterval(float64(probes), 0.985*bound, 4)
			_, high := theory.BinomialInterval(float64(probes), 1.005*bound, 4)
			if h := float64(hits); h < low || h > high {
				t.Errorf("%+v, %d units: %d yeses of %d, want %.0f to %.0f", c.shape, units, hits, probes, low, high)
			}
			if got := f.Info().FPR; math.Abs(got/bound-1) > 0.015 {
				t.Errorf("%+v, %d units: Info tells a rate of %g, the theorem %g", c.shape, units, got, bound)
			}
		}
	}
}

// TestPartialUnitsFollowTheProof measures between the whole numbers, where the
// last unit counts as well.
func TestPartialUnitsFollowTheProof(t *testing.T) {
	probes := queries(t)
	s := ebf(1<<13, 1)
	m, k, capacity := float64(s.Positions), float64(s.Hashes), float64(s.Capacity())
	for _, alpha := range []float64{0.5, 1.5, 2.75, 9.9} {
		n := uint64(alpha * capacity)
		f := filtertest.Make(t, dynamic.Build, s)
		filter.AddBatch(f, (filtertest.Stream{}).Keys(n))
		want := theory.DynamicFPR(m, k, capacity, float64(n))
		filtertest.CheckRate(t, "alpha "+strconv.FormatFloat(alpha, 'g', -1, 64),
			filtertest.MeasureRate(f, filtertest.Stream{}, probes), probes, want, 4)
		if bound := theory.DynamicFPRBound(math.Pow(0.2, 5), alpha); want < bound*0.98 {
			t.Errorf("alpha %g: rate %g is below the bound %g", alpha, want, bound)
		}
	}
}

func TestFormulas(t *testing.T) {
	for _, c := range []struct {
		where          string
		got, want, tol float64
	}{
		{"[DPBF19] Theorem A.1, alpha < 1", theory.DynamicFPRBound(1e-4, 0.99), 0, 0},
		{"[DPBF19] Theorem A.1, alpha = 1", theory.DynamicFPRBound(1e-4, 1), 1e-4, 1e-15},
		{"[DPBF19] Theorem A.1, by multiplication", theory.DynamicFPRBound(0.1, 3.7), 1 - 0.9*0.9*0.9, 1e-15},
		{"[DPBF19] Theorem A.1, linear", theory.DynamicLinearFPR(1e-4, 64.5), 64e-4, 1e-15},
		{"[DPBF19] n_t inverts the rate", theory.BloomFPR(1e6, 7, theory.DynamicCapacity(1e6, 7, 1e-4)), 1e-4, 1e-9},
		{"[EBF21] k = 5, 0.2, 2^18 bits: keys of a unit", theory.DynamicCapacity(1<<18, 5, 0.00032), 11_699, 0.5},
		{"[EBF21] 2^20 keys: units", 1 << 20 / theory.DynamicCapacity(1<<18, 5, 0.00032), 89.63, 0.005},
		{"one unit", theory.DynamicFPR(1000, 5, 100, 100), theory.BloomFPR(1000, 5, 100), 1e-15},
		{"a unit and a half", theory.DynamicFPR(1000, 5, 100, 150), 1 - (1-theory.BloomFPR(1000, 5, 100))*(1-theory.BloomFPR(1000, 5, 50)), 1e-15},
		{"no keys", theory.DynamicFPR(1000, 5, 100, 0), 0, 0},
		{"units asked without mistakes", theory.DynamicMissUnits(0, 64), 64, 0},
		{"units asked with mistakes", theory.DynamicMissUnits(0.5, 3), 1 + 0.5 + 0.25, 1e-15},
		{"units asked for a hit without mistakes", theory.DynamicHitUnits(0, 64), 32.5, 0},
		{"units asked for a hit", theory.DynamicHitUnits(0.5, 3), (1 + 1.5 + 1.75) / 3, 1e-15},
		{"units asked for a hit, both formulas", theory.DynamicHitUnits(1.01e-6/64, 64), theory.DynamicHitUnits(0.99e-6/64, 64), 1e-4},
		{"pinned alone", theory.DynamicPinned(0.01, 1), 0, 0},
		{"pinned", theory.DynamicPinned(0.01, 3), 1 - 0.99*0.99, 1e-15},
	} {
		if !(math.Abs(c.got-c.want) <= c.tol) {
			t.Errorf("%s: %.9g, want %.9g", c.where, c.got, c.want)
		}
	}
}

// TestLinearIsNoLowerBound is an erratum: the proof of Theorem A.1 ends with
// f_D >= floor(alpha) f_t. That is above the true rate, and above 1 in the end.
func TestLinearIsNoLowerBound(t *testing.T) {
	const m, k = 100_000, 7
	n := math.Floor(theory.DynamicCapacity(m, k, 0.01))
	for _, alpha := range []float64{2, 10, 64, 150} {
		rate, linear := theory.DynamicFPR(m, k, n, alpha*n), theory.DynamicLinearFPR(0.01, alpha)
		if rate >= linear {
			t.Errorf("alpha %g: rate %g, linear %g", alpha, rate, linear)
		}
	}
	if theory.DynamicLinearFPR(0.01, 150) <= 1 {
		t.Error("150 units of 1 % have a linear rate below 1")
	}
}

// TestListHasOneUnitMoreThanPrinted is an erratum, too: the proof says that there
// are floor(alpha) units; these are the full ones, and the last comes on top.
func TestListHasOneUnitMoreThanPrinted(t *testing.T) {
	s := ebf(1<<13, 1)
	for _, alpha := range []float64{0.5, 1.5, 2.5, 5.5} {
		f := filtertest.Make(t, dynamic.Build, s)
		filter.AddBatch(f, (filtertest.Stream{}).Keys(uint64(alpha*float64(s.Capacity()))))
		if want := int(math.Floor(alpha)) + 1; f.Units() != want {
			t.Errorf("alpha %g: %d units, want %d", alpha, f.Units(), want)
		}
	}
}

// TestQueriesAskAsManyUnits counts the units that 20 full ones are asked.
func TestQueriesAskAsManyUnits(t *testing.T) {
	f := filtertest.Make(t, dynamic.Build, dynamic.Shape{Positions: 10_000, Hashes: 7, CounterBits: 1, Full: 5180})
	next := uint64(0)
	for f.Units() <= 20 {
		nextUnit(t, f, &next)
	}
	hit, miss := 0, 0
	for i := range next - 1 {
		hit += f.Asked((filtertest.Stream{}).Present(i))
		miss += f.Asked((filtertest.Stream{}).Absent(i))
	}
	// The last unit, with one key, is asked as well.
	rate := math.Pow(0.518, 7)
	for _, c := range []struct{ got, want float64 }{
		{float64(hit)/float64(next-1) - 1, theory.DynamicHitUnits(rate, 20)},
		{float64(miss)/float64(next-1) - 1, theory.DynamicMissUnits(rate, 20)},
	} {
		if math.Abs(c.got/c.want-1) > 0.02 {
			t.Errorf("%g units are asked, want %g", c.got, c.want)
		}
	}
}

// TestRatesAtPeakSizes has what the program of [EBF21] measures for its DBF with
// units of 2^18 bits, k = 5 and threshold 0.2, at 2^14 keys times 1, 2, 4, …, 64.
func TestRatesAtPeakSizes(t *testing.T) {
	const m, k = 1 << 18, 5
	unitKeys := theory.DynamicCapacity(m, k, 0.00032)
	n := float64(1 << 14)
	for _, want := range []float64{3.2e-4, 7.7e-4, 1.7e-3, 3.5e-3, 7.1e-3, 1.4e-2, 2.8e-2} {
		if got := theory.DynamicFPR(m, k, unitKeys, n); math.Abs(got/want-1) > 0.05 {
			t.Errorf("%.0f keys: rate %g, measured there %g", n, got, want)
		}
		n *= 2
	}
}

// TestPinnedShareIsAsPredicted asks all units about all keys.
func TestPinnedShareIsAsPredicted(t *testing.T) {
	f := filtertest.Make(t, dynamic.Build, dynamic.Shape{Positions: 10_000, Hashes: 7, CounterBits: 1, Full: 5180})
	next := uint64(0)
	for f.Units() <= 20 {
		nextUnit(t, f, &next)
	}
	pinned := 0
	for i := range next {
		if f.Answering((filtertest.Stream{}).Present(i)) > 1 {
			pinned++
		}
	}
	filtertest.CheckRate(t, "pinned keys of 20 full units", pinned, int(next), theory.DynamicPinned(math.Pow(0.518, 7), 20), 4)
}

// TestDeletingAllLeavesThePinned deletes 2^20 keys from units of 2^18 positions, as
// they were added, in the long form. The list gets shorter as keys go, so that half
// as many are pinned as at the start; another pass finds nearly all of them alone.
func TestDeletingAllLeavesThePinned(t *testing.T) {
	positions, keys := uint64(1)<<12, uint64(1)<<14
	if trials(t) > 1 {
		positions, keys = 1<<18, 1<<20
	}
	f := filtertest.Make(t, dynamic.Build, ebf(positions, 4))
	stream := filtertest.Stream{Seed: 8}
	filter.AddBatch(f, stream.Keys(keys))
	units, rate, left := float64(f.Units()), f.Info().FPR, stream.Keys(keys)
	for pass, most := range []float64{0.75 * theory.DynamicPinned(0.00032, units), 0.001} {
		var pinned []filter.Key
		for _, k := range left {
			if err := f.Delete(k); errors.Is(err, filter.ErrPinned) {
				pinned = append(pinned, k)
			} else if err != nil {
				t.Fatal(err)
			}
		}
		left = pinned
		t.Logf("%.0f units, rate %.4f, pass %d: %d of %d pinned, %d units and %d keys left", units, rate, pass, len(left), keys, f.Units(), f.Len())
		if float64(len(left)) > most*float64(keys) || f.Len() != uint64(len(left)) {
			t.Errorf("pass %d: %d of %d pinned, want %.0f at most; %d keys are left", pass, len(left), keys, most*float64(keys), f.Len())
		}
	}
}

func TestPredictionIsWhatComes(t *testing.T) {
	for _, c := range []dynamic.Config{
		{Items: 1000, FPR: 0.01},
		{Items: 1000, FPR: 0.3, CounterBits: 1},
		{Items: 100, FPR: 1e-4, CounterBits: 8},
		{Items: 20_000, FPR: 0.001, CounterBits: 2},
	} {
		s, err := c.Shape()
		if err != nil {
			t.Fatal(err)
		}
		f := filtertest.Make(t, dynamic.Build, s)
		if p, info := filtertest.Make(t, s.Predict, 0), f.Info(); p.FastBitsPerKey != float64(info.FastBits) || p.FPR != 0 || p.Units != 1 {
			t.Errorf("%+v, empty: predicted %+v, is %+v", c, p, info)
		}
		for n := range 20 * c.Items {
			f.Add((filtertest.Stream{Seed: 9}).Present(n))
			if (n+1)%(c.Items/2) != 0 {
				continue
			}
			p, info := filtertest.Make(t, s.Predict, n+1), f.Info()
			if units := float64(f.Units()); p.Units > units+1 || units > p.Units+1 {
				t.Errorf("%+v, %d keys: %g units, predicted %g", c, n+1, units, p.Units)
			}
			if n+1 == c.Items && (p.Units != 1 || f.Units() != 1 || p.FPR > c.FPR || info.FPR > c.FPR) {
				t.Errorf("%+v, filled as asked: predicted %+v, is %+v", c, p, info)
			}
			if n > 2*c.Items && math.Abs(p.FPR/info.FPR-1) > 0.1 {
				t.Errorf("%+v, %d keys: rate %g, predicted %g", c, n+1, info.FPR, p.FPR)
			}
		}
	}
}
