package evergreen_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// By its own account a filter is above the asked rate by a 128th at most, which stripes keep
// to themselves, and by what a single key may add to a full block before others are split.
func TestAccountIsAboveTheRateByOneKeyAtMost(t *testing.T) {
	for _, rate := range []float64{1e-3, 1e-5} {
		f := filtertest.Make(t, evergreen.New, evergreen.Config{FPR: rate})
		keys := filtertest.Keys(1, 140_000)
		if _, _, err := f.AddBatch(keys[:120_000]); err != nil {
			t.Fatal(err)
		}
		last, most, step := f.Info().FPR, 0.0, 0.0
		for _, k := range keys[120_000:] {
			if _, err := f.Add(k); err != nil {
				t.Fatal(err)
			}
			now := f.Info().FPR
			most, step, last = max(most, now), max(step, now-last), now
		}
		if most > rate*(1+1.0/128)+step {
			t.Errorf("%g: %g, and one key adds %g", rate, most, step)
		}
		if (step > rate/128) != (rate < 1e-4) {
			t.Errorf("%g: one key adds %g", rate, step)
		}
	}
}
