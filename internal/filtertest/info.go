package filtertest

import (
	"encoding/json"
	"math"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

// infoIsConsistent looks at filters that are empty, half full and full.
func infoIsConsistent(c checker) {
	for _, n := range []uint64{1, 100, effort.Pick[uint64](10_000, 100_000)} {
		f := c.make(n, 0.01)
		kind := f.Info().Kind
		for _, part := range [][]filter.Key{nil, c.keys(n, n)[:n/2], c.keys(n, n)[n/2:]} {
			c.addAll(f, part)
			info := f.Info()
			c.checkInfo(info)
			if info.Kind != kind {
				c.Errorf("the kind was %q and is %q", kind, info.Kind)
			}
			if info.Capacity != 0 && info.Capacity < n {
				c.Errorf("a filter asked for %d keys says it was made for %d", n, info.Capacity)
			}
		}
		c.checkKeys(f.Info(), n)
	}
}

// checkInfo checks what holds at any moment.
func (c checker) checkInfo(info filter.Info) {
	if info.Kind == "" {
		c.Errorf("Info has no kind: %+v", info)
	}
	if !(info.FPR >= 0 && info.FPR <= 1) {
		c.Errorf("the rate is %g, want 0 to 1", info.FPR)
	}
	if !(info.Fill >= 0 && info.Fill <= 1) {
		c.Errorf("the fill is %g, want 0 to 1", info.Fill)
	}
	if info.FastBits == 0 {
		c.Error("queries read no memory: FastBits is 0")
	}
	if info.Duplicates > filter.DuplicatesPin {
		c.Errorf("duplicates are %v, which is nothing known", info.Duplicates)
	}
	if info.Unbounded && info.Overfull {
		c.Error("the filter grows by itself and says it is overfull")
	}
	if _, err := json.Marshal(info); err != nil {
		c.Errorf("Info cannot be written as JSON: %v", err)
	}
}

// checkKeys compares Info's number of keys with the true one. A count must be
// right. The estimate of a Bloom filter at its capacity has a standard deviation
// of a quarter of the root of n; other kinds may have more, so six roots are
// allowed, and 2 % for the bias of a formula.
func (c checker) checkKeys(info filter.Info, n uint64) {
	tolerance := 0.0
	if !info.Exact {
		tolerance = 8 + 6*math.Sqrt(float64(n)) + float64(n)/50
	}
	if math.Abs(float64(info.Keys)-float64(n)) > tolerance {
		c.Errorf("Info tells %d keys (exact: %t) after %d distinct ones were added, want that but for %.0f",
			info.Keys, info.Exact, n, tolerance)
	}
}

// overfullIsTold puts in what the filter was made for, and then twice as much and
// some more. A kind that refuses needs no warning, and one that rounds its
// capacity up beyond that is left alone.
func overfullIsTold(c checker) {
	for _, n := range []uint64{1, 10, 1000, effort.Pick[uint64](10_000, 50_000)} {
		f := c.make(n, 0.01)
		keys := c.keys(23, 2*n+50)
		c.addAll(f, keys[:n])
		info := f.Info()
		if info.Overfull {
			c.Errorf("a filter for %d keys holds them and says it is overfull: %+v", n, info)
		}
		if c.addWhatFits(f, keys[n:]) < len(keys[n:]) || info.Unbounded || info.Capacity == 0 || info.Capacity >= 2*n {
			continue
		}
		info = f.Info()
		c.checkInfo(info)
		if !info.Overfull || info.FPR < 0.01 && n > 10 {
			c.Errorf("a filter for %d keys at 1 %% holds %d and does not say it is overfull: %+v", n, len(keys), info)
		}
	}
}

// infoSurvivesSaturation puts many times more keys into a filter than it was made
// for: every bit is set, estimates are infinite, and Info must answer all the
// same.
func infoSurvivesSaturation(c checker) {
	stream := c.stream(113)
	for _, items := range []uint64{10, 100} {
		f := c.make(items, 0.1)
		c.addWhatFits(f, stream.Keys(3000))
		answer := make(chan filter.Info, 1)
		go func() { answer <- f.Info() }()
		select {
		case info := <-answer:
			c.checkInfo(info)
			c.checkPrediction(f, stream, "saturated", 1000)
		case <-time.After(30 * time.Second): // a guard against hanging, no measure of speed
			c.Fatal("Info of a saturated filter does not return")
		}
	}
}
