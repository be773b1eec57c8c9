package kinds

import (
	"math"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestSaturatedFiltersSaySo: with far too many keys a filter either refuses some or says
// that it is of no use.
func TestSaturatedFiltersSaySo(t *testing.T) {
	saturated := 0
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			if k.Grows {
				t.Skip("it grows")
			}
			f := build(t, k, Config{Items: 10, FPR: 0.01})
			if f.Info().Saturated() {
				t.Error("an empty filter is saturated")
			}
			stream := filtertest.Stream{Seed: 1}
			for i := range uint64(20_000) {
				if _, err := f.Add(stream.Present(i)); err != nil {
					t.Skipf("it refuses: %v", err)
				}
			}
			info := f.Info()
			if yes := filtertest.MeasureRate(f, stream, 1000); yes != 1000 || !info.Saturated() {
				t.Errorf("%d of 1000 absent keys get a yes, saturated: %t, rate %g", yes, info.Saturated(), info.FPR)
			}
			if info.Keys == math.MaxInt64 && info.BitsPerKey() != 0 {
				t.Errorf("%g bits for each of endless keys", info.BitsPerKey())
			}
			saturated++
		})
	}
	if saturated == 0 {
		t.Error("no kind was filled")
	}
	if (filter.Info{FPR: 0.99}).Saturated() {
		t.Error("a rate of 0.99 counts as saturated")
	}
}

// TestRememberedPredictionsAreAskedForOnce, and errors each time.
func TestRememberedPredictionsAreAskedForOnce(t *testing.T) {
	asked := 0
	predict := remembered(func(c Config, n uint64) (filter.Prediction, error) {
		asked++
		if n == 0 {
			return filter.Prediction{}, filter.ErrFull
		}
		return filter.Prediction{FPR: c.FPR, FastBitsPerKey: float64(c.Items), HitLines: float64(n)}, nil
	})
	for i := range uint64(100) {
		for range 3 {
			c := Config{Items: i + 1, FPR: 1 / float64(i+2)}
			p, err := predict(c, 7*i)
			if (err != nil) != (i == 0) || i > 0 && p != (filter.Prediction{FPR: c.FPR, FastBitsPerKey: float64(c.Items), HitLines: float64(7 * i)}) {
				t.Fatalf("%+v with %d keys: %+v, %v", c, 7*i, p, err)
			}
		}
	}
	if asked != 99+3 {
		t.Errorf("asked %d times", asked)
	}
}
