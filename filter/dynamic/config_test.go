package dynamic_test

import (
	"math"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestDefaultsAreAsDocumented(t *testing.T) {
	s, err := dynamic.Config{}.Shape()
	if err != nil {
		t.Fatal(err)
	}
	if s.Hashes != 10 || s.CounterBits != 4 || s.Salt != 0 {
		t.Errorf("got %+v", s)
	}
	// [DPBF19] Eq. (1) and the room for scatter, which is 0.4 % of a million keys.
	if eq1 := 1e6 * 10 / -math.Log1p(-math.Pow(0.001, 0.1)); float64(s.Positions) < eq1 || float64(s.Positions) > 1.005*eq1 {
		t.Errorf("%d positions, Eq. (1) gives %.0f", s.Positions, eq1)
	}
	p, err := dynamic.Config{}.ParallelShape()
	if err != nil {
		t.Fatal(err)
	}
	if p.Partitions != 16 || p.Capacity() < 62_500 || p.Capacity() > 65_000 {
		t.Errorf("got %+v with units for %d keys", p, p.Capacity())
	}
}

// TestUnitsTakeWhatWasAsked fills first units of all sizes with exactly the keys
// asked for: there must be no second one, and no rate above the asked one.
func TestUnitsTakeWhatWasAsked(t *testing.T) {
	for _, items := range []uint64{1, 2, 3, 10, 100, 1000, 5000} {
		for _, rate := range []float64{0.9, 0.5, 0.1, 0.01, 1e-4, 1e-9} {
			for salt := range uint64(5) {
				c := dynamic.Config{Items: items, FPR: rate, CounterBits: 1, Salt: salt}
				f := filtertest.Make(t, dynamic.New, c)
				filter.AddBatch(f, filtertest.Keys(salt, items))
				if f.Units() != 1 || f.Info().FPR > rate {
					t.Errorf("%+v: %d units, rate %g", c, f.Units(), f.Info().FPR)
				}
				if got := f.Shape().Capacity(); got < items || float64(got) > 2*float64(items)+10 {
					t.Errorf("%+v: expected to take %d keys", c, got)
				}
			}
		}
	}
}

func TestConfigReportsAllProblems(t *testing.T) {
	bad := dynamic.Config{Items: math.MaxUint64, FPR: 2, CounterBits: 5, Partitions: 99_999}
	_, one := bad.Shape()
	_, other := bad.ParallelShape()
	for _, want := range []string{"FPR: 2", "Items: 18446744073709551615", "CounterBits: 5, must be 1, 2, 4 or 8", "Partitions: 99999"} {
		if one == nil || !strings.Contains(one.Error(), want) || other == nil || !strings.Contains(other.Error(), want) {
			t.Errorf("got %v and %v, want also %q", one, other, want)
		}
	}
	if _, err := dynamic.New(dynamic.Config{Partitions: 1}); err == nil || !strings.Contains(err.Error(), "only a Parallel has them") {
		t.Errorf("a Filter with partitions: %v", err)
	}
}

func TestBuildRefusesBadShapes(t *testing.T) {
	good := dynamic.Shape{Positions: 100, Hashes: 5, CounterBits: 4, Full: 50}
	for want, change := range map[string]func(*dynamic.Shape){
		"Positions: 0":                    func(s *dynamic.Shape) { s.Positions = 0 },
		"Positions: 70368744177665":       func(s *dynamic.Shape) { s.Positions = 1<<46 + 1 },
		"Hashes: 0":                       func(s *dynamic.Shape) { s.Hashes = 0 },
		"Hashes: -1":                      func(s *dynamic.Shape) { s.Hashes = -1 },
		"Hashes: 65":                      func(s *dynamic.Shape) { s.Hashes, s.Full = 65, 70 },
		"Full: 4, must be 5 to 100":       func(s *dynamic.Shape) { s.Full = 4 },
		"Full: 101, must be 5 to 100":     func(s *dynamic.Shape) { s.Full = 101 },
		"CounterBits: 3, must be 1, 2, 4": func(s *dynamic.Shape) { s.CounterBits = 3 },
	} {
		s := good
		change(&s)
		if f, err := dynamic.Build(s); f != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
		p := dynamic.ParallelShape{Shape: s}
		if f, err := dynamic.BuildParallel(p); f != nil || err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Partitions: 0") {
			t.Errorf("%+v: %v, want %q and Partitions", p, err, want)
		}
		if got, err := s.Predict(10); err == nil || s.Capacity() != 0 {
			t.Errorf("%+v: predicted %+v for %d keys", s, got, s.Capacity())
		}
		if got, err := p.Predict(10); err == nil {
			t.Errorf("%+v: predicted %+v", p, got)
		}
	}
}

// TestPredictionsOfAbsurdSizes must neither panic nor wrap around.
func TestPredictionsOfAbsurdSizes(t *testing.T) {
	s := dynamic.Shape{Positions: 1, Hashes: 1, CounterBits: 8, Full: 1}
	huge := dynamic.Shape{Positions: 1 << 46, Hashes: 64, CounterBits: 8, Full: 1 << 46}
	many := dynamic.ParallelShape{Partitions: 4096, Shape: dynamic.Shape{Positions: 1, Hashes: 1, CounterBits: 1, Full: 1}}
	for _, predict := range []func(uint64) (filter.Prediction, error){s.Predict, huge.Predict, many.Predict} {
		p := filtertest.Make(t, predict, math.MaxUint64)
		if p.FastBitsPerKey < 1.0/(1<<14) || p.Units < 1 || !(p.FPR >= 0 && p.FPR <= 1) || math.IsNaN(p.HitLines) || math.IsNaN(p.MissLines) {
			t.Errorf("got %+v", p)
		}
	}
}

// TestPredictedLinesFollowTheLoop: four positions of a unit are read together, and a hit
// asks half of the other units before its own.
func TestPredictedLinesFollowTheLoop(t *testing.T) {
	s := dynamic.Shape{Positions: 100_000, Hashes: 7, CounterBits: 1, Full: 51_800}
	const fill = 0.518
	unit := 4 + math.Pow(fill, 4)*(1+fill+fill*fill)
	for units := uint64(1); units <= 3; units++ {
		p := filtertest.Make(t, s.Predict, units*s.Capacity())
		hit, miss := 7+unit*float64(units-1)/2, unit*float64(units)
		if math.Abs(p.HitLines/hit-1) > 0.02 || math.Abs(p.MissLines/miss-1) > 0.02 {
			t.Errorf("%d units: %+v, want %.2f lines for a hit and %.2f for a miss", units, p, hit, miss)
		}
	}
}

// TestListHasOneUnitMoreThanPrinted pins an erratum: the proof of [DPBF19] Theorem A.1 says
// that there are floor(alpha) units; these are the full ones, and the last comes on top.
func TestListHasOneUnitMoreThanPrinted(t *testing.T) {
	s := dynamic.Shape{Positions: 1 << 13, Hashes: 5, CounterBits: 1, Full: 1 << 13 / 5}
	for full := range uint64(4) {
		f := filtertest.Make(t, dynamic.Build, s)
		filter.AddBatch(f, filtertest.Keys(0, full*s.Capacity()+s.Capacity()/2))
		if f.Units() != int(full)+1 {
			t.Errorf("%d full units and a half: %d units", full, f.Units())
		}
	}
}
