package kinds

import (
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// TestConformance runs the suite through the table, so that no kind can have a
// row and escape it.
func TestConformance(t *testing.T) {
	if !effort.UnderRace { // which looks at all kinds here, and at few in their packages
		effort.PlainOnly(t)
	}
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			filtertest.Run(t, filtertest.Subject{
				Name: k.Name,
				New:  func(items uint64, fpr float64) (filter.Filter, error) { return k.New(Config{Items: items, FPR: fpr}) },
				Read: func(r io.Reader) (filter.Filter, error) { return Read(r) },
			})
		})
	}
}

// TestPredictedBitsAreThoseOfTheFilter allows for the rounding of a division and
// a multiplication only, unless the memory follows from the keys.
func TestPredictedBitsAreThoseOfTheFilter(t *testing.T) {
	effort.OneGoroutine(t)
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			for _, items := range []uint64{1, 2, 10, 63, 1000, effort.PickVariant[uint64](1234, 12_345, 12_345)} {
				for _, rate := range []float64{0.9, 0.1, 0.01, 1e-3, 1e-6} {
					c := Config{Items: items, FPR: rate}
					p := predict(t, k, c, items)
					f, slack := build(t, k, c), 1e-9
					if k.Grows {
						f, slack = filled(t, k, c, items, filtertest.Stream{Seed: 1}), 0.2
					}
					info := f.Info()
					fast, slow := p.FastBitsPerKey*float64(items), p.SlowBitsPerKey*float64(items)
					if !near(fast, info.FastBits, slack) || !near(slow, info.SlowBits, slack) {
						t.Errorf("%+v: predicted %g fast and %g slow bits, built %d and %d", c, fast, slow, info.FastBits, info.SlowBits)
					}
				}
			}
		})
	}
}

func near(x float64, n uint64, slack float64) bool { return math.Abs(x-float64(n)) <= slack*float64(n) }

// TestPredictedRateIsMeasured takes many small filters, because the rate of a
// single one scatters, and loads beside the one asked for.
func TestPredictedRateIsMeasured(t *testing.T) {
	effort.PlainOnly(t)
	totalKeys, totalProbes := effort.Pick[uint64](9000, 40_000), effort.Pick(45_000, 200_000)
	allItems := effort.Pick([]uint64{3000}, []uint64{3000, 20_000})
	rates := effort.Pick([]float64{0.1, 0.01}, []float64{0.1, 0.01, 0.001})
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			for _, items := range allItems {
				for _, rate := range rates {
					for _, keys := range []uint64{items / 2, items, 2 * items} {
						if keys > items && refuses[k.Name] {
							continue
						}
						c := Config{Items: items, FPR: rate}
						filters := int(totalKeys / items)
						hits := 0
						for i := range filters {
							hits += measure(t, k, c, keys, filtertest.Stream{Seed: uint64(i)}, totalProbes/filters)
						}
						p := predict(t, k, c, keys)
						checkRate(t, fmt.Sprintf("%+v with %d keys", c, keys), hits, totalProbes, p.FPR)
					}
				}
			}
		})
	}
}

// refuses names the kinds that take few keys beyond those they were made for.
var refuses = map[string]bool{"dleft": true}

// measure fills a filter and counts false positives.
func measure(t *testing.T, k Kind, c Config, keys uint64, s filtertest.Stream, probes int) int {
	t.Helper()
	return filtertest.MeasureRate(filled(t, k, c, keys, s), s, probes)
}

// filled returns a filter with so many keys of a stream.
func filled(t *testing.T, k Kind, c Config, keys uint64, s filtertest.Stream) filter.Filter {
	t.Helper()
	f := build(t, k, c)
	for _, key := range s.Keys(keys) {
		if _, err := f.Add(key); err != nil {
			t.Fatal(err)
		}
	}
	// Predictions are for filters that have done what they put off.
	if lazy, ok := f.(interface{ FinishResize() }); ok {
		lazy.FinishResize()
	}
	return f
}

// checkRate allows for the spread of the measurement and for a twentieth on top,
// since the filters that were measured are themselves a sample: what remains of
// filtertest.RateSlack where many are taken together.
func checkRate(t *testing.T, name string, hits, probes int, predicted float64) {
	t.Helper()
	const slack, sigmas = 0.05, 4
	low, _ := theory.BinomialInterval(float64(probes), predicted*(1-slack), sigmas)
	_, high := theory.BinomialInterval(float64(probes), predicted*(1+slack), sigmas)
	if h := float64(hits); h < low || h > high {
		t.Errorf("%s: %d yeses among %d, predicted rate %.3g gives %.0f to %.0f", name, hits, probes, predicted, low, high)
	}
}

// above is by how much, relatively, the expected rate of a kind may be above the asked
// one: bloom and counting have the bits of the formula for the best number of hashes,
// and the next whole number of hashes.
func above(kind string, c Config) float64 {
	switch {
	case kind != "bloom" && kind != "counting":
		return 0
	case c.FPR < 0.15 && c.Items >= 100:
		return 0.016
	}
	return 0.03
}

// TestExpectedRateIsAtMostTheAskedRate goes through sizes and rates at the keys that were
// asked for, and for kinds that grow and keep the rate, at a hundred times as many.
func TestExpectedRateIsAtMostTheAskedRate(t *testing.T) {
	effort.PlainOnly(t)
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			for _, items := range []uint64{1, 2, 7, 100, 1000, 12_345, 1_000_000, 20_000_000} {
				for rate := 0.45; rate > 1e-7; rate *= 0.37 {
					c := Config{Items: items, FPR: rate}
					numbers := []uint64{items}
					if k.Grows && !k.Drifts && items <= 12_345 {
						numbers = append(numbers, 2*items, 10*items, 100*items)
					}
					for _, n := range numbers {
						if p := predict(t, k, c, n); p.FPR > rate*(1+above(k.Name, c)+1e-9) {
							t.Errorf("%+v with %d keys: expected rate %g, %.4f of the asked one", c, n, p.FPR, p.FPR/rate)
						}
					}
				}
			}
		})
	}
}

// TestRateOfSmallFiltersScattersAroundThePredictedOne takes 40 filters of 1,000 keys, as
// many as tell their mean from the asked rate. Single ones may lie above: scatter has
// the standard deviations that the configs of the kinds tell.
func TestRateOfSmallFiltersScattersAroundThePredictedOne(t *testing.T) {
	effort.PlainOnly(t)
	const filters, items, probes, sigmas = 40, 1000, 20_000, 4
	scatter := map[string]float64{"bloom": 0.05, "counting": 0.05, "deletable": 0.05, "blocked": 0.1}
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			for _, rate := range []float64{0.01, 0.001} {
				c := Config{Items: items, FPR: rate}
				predicted := predict(t, k, c, items).FPR
				one := scatter[k.Name]
				total := 0
				for i := range filters {
					hits := measure(t, k, c, items, filtertest.Stream{Seed: uint64(i)}, probes)
					total += hits
					if _, most := theory.BinomialInterval(probes, rate*(1+above(k.Name, c)+sigmas*one), sigmas); float64(hits) > most {
						t.Errorf("%g asked: filter %d has %d yeses among %d", rate, i, hits, probes)
					}
				}
				slack := above(k.Name, c) + sigmas*one/math.Sqrt(filters)
				if _, most := theory.BinomialInterval(filters*probes, rate*(1+slack), sigmas); float64(total) > most {
					t.Errorf("%g asked, %g predicted: %d yeses among %d of %d filters", rate, predicted, total, filters*probes, filters)
				}
			}
		})
	}
}

// finer names the kinds that give less than half the asked rate: because smaller
// cells would make them slower, or because they leave room for more keys.
var finer = map[string]bool{"dleft": true, "scalable": true, "partition": true, "elastic": true, "perennial": true}

func TestPredictionsMakeSense(t *testing.T) {
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			for _, rate := range []float64{0.1, 0.01, 1e-3, 1e-5} {
				c := Config{Items: 1_000_000, FPR: rate}
				p := predict(t, k, c, c.Items)
				if p.FPR > rate*1.05 || p.FPR < rate/2 && !finer[k.Name] {
					t.Errorf("%g asked, %g predicted", rate, p.FPR)
				}
				if p.HitLines < 1 || p.MissLines < 1 || p.MissLines > p.HitLines+1e-9 {
					t.Errorf("at rate %g a hit reads %g lines, a miss %g", rate, p.HitLines, p.MissLines)
				}
				if entropy := -math.Log2(rate); p.FastBitsPerKey+p.SlowBitsPerKey < entropy {
					t.Errorf("at rate %g: %g bits per key, no filter needs less than %g", rate, p.FastBitsPerKey, entropy)
				}
				if full, err := k.Predict(c, 2*c.Items); refuses[k.Name] {
					if !errors.Is(err, filter.ErrFull) {
						t.Errorf("at rate %g: twice the keys: %+v, %v", rate, full, err)
					}
				} else if err != nil || full.FPR <= p.FPR && !k.Grows {
					t.Errorf("at rate %g: with twice the keys the rate is %g, not above %g", rate, full.FPR, p.FPR)
				}
			}
			if p := predict(t, k, Config{}, 0); p.FPR != 0 || math.IsInf(p.FastBitsPerKey, 0) || math.IsNaN(p.MissLines) {
				t.Errorf("of an empty filter: %+v", p)
			}
		})
	}
}

// TestLinesOfKnownKinds: at its best a Bloom filter is half full, so that of 7
// positions the first 4 are read, and the others one by one if those are set.
func TestLinesOfKnownKinds(t *testing.T) {
	for name, want := range map[string][2]float64{
		"bloom": {7, 4 + 1.75/16}, "blocked": {1, 1}, "counting": {7, 2 + 4.0/4 + 1.0/64}, "dleft": {4, 4},
	} {
		k, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		p := predict(t, k, Config{Items: 1_000_000, FPR: 0.01}, 1_000_000)
		if p.HitLines != want[0] || math.Abs(p.MissLines-want[1]) > 0.1 {
			t.Errorf("%s: a hit reads %g lines, a miss %g, want %g", name, p.HitLines, p.MissLines, want)
		}
	}
}

func predict(t *testing.T, k Kind, c Config, n uint64) filter.Prediction {
	t.Helper()
	p, err := k.Predict(c, n)
	if err != nil {
		t.Fatalf("%s for %+v: %v", k.Name, c, err)
	}
	return p
}
