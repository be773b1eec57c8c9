package timing

import (
	"math"
	"testing"
	"time"
)

func TestMedianAndSpread(t *testing.T) {
	for _, test := range []struct {
		samples        []float64
		median, spread float64
	}{
		{[]float64{7}, 7, 0},
		{[]float64{4, 2}, 3, 1.0 / 2 / 3},
		{[]float64{3, 1, 2}, 2, 0.25},
		{[]float64{10, 30, 20, 50, 40}, 30, 1.0 / 3},
		{[]float64{1, 1, 1, 1, 1000}, 1, 0},
	} {
		if m, s := Median(test.samples), Spread(test.samples); m != test.median || math.Abs(s-test.spread) > 1e-12 {
			t.Errorf("%v: median %g, spread %g; want %g, %g", test.samples, m, s, test.median, test.spread)
		}
	}
}

func TestQuantileReachesBothEnds(t *testing.T) {
	samples := []float64{5, 1, 9}
	if lo, hi := Quantile(samples, 0), Quantile(samples, 1); lo != 1 || hi != 9 {
		t.Errorf("from %g to %g", lo, hi)
	}
	if samples[0] != 5 {
		t.Error("the samples were sorted in place")
	}
}

func TestNothingMeasuredIsNaN(t *testing.T) {
	for name, x := range map[string]float64{
		"median": Median(nil), "spread": Spread(nil),
		"ratio without a": Ratio(nil, []float64{1}), "ratio without b": Ratio([]float64{1}, nil),
	} {
		if !math.IsNaN(x) {
			t.Errorf("%s: %g", name, x)
		}
	}
}

func TestRatioIgnoresDriftCommonToBoth(t *testing.T) {
	// The machine is ten times slower in the second round, for both.
	a, b := []float64{2, 20, 2.2}, []float64{4, 40, 4.4}
	if got := Ratio(a, b); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("ratio %g, want 0.5", got)
	}
}

func TestRatioOfUnequalRoundsIsThatOfTheMedians(t *testing.T) {
	if got := Ratio([]float64{1, 2, 3}, []float64{4}); got != 0.5 {
		t.Errorf("ratio %g, want 0.5", got)
	}
}

func TestTurnsTellContendersApart(t *testing.T) {
	var now time.Duration
	turns := NewTurns(func() time.Duration { return now })
	for range 3 {
		turns.Time(Lap{"slow", "work"}, 100, func() { now += 3 * time.Microsecond })
		turns.Time(Lap{"fast", "work"}, 100, func() { now += time.Microsecond })
	}
	if slow, fast := turns.Nanos(Lap{"slow", "work"}), turns.Nanos(Lap{"fast", "work"}); slow != 30 || fast != 10 {
		t.Errorf("%v and %v ns", slow, fast)
	}
	r := Rounds{}
	r.Add(turns)
	if r.Nanos("slow", "work") != 30 || r.Nanos("fast", "work") != 10 || r.Speedup("fast", "slow", "work") != 3 {
		t.Errorf("%v", r)
	}
	if turns.Nanos(Lap{"absent", "work"}) != 0 || r.Nanos("absent", "work") != 0 {
		t.Error("a contender without turns took time")
	}
}

// One round in which the machine was busy does not change the median of the ratios.
func TestSpeedupIsThatOfTheMedianRound(t *testing.T) {
	r := Rounds{{"a", "w"}: {10, 100, 10}, {"b", "w"}: {20, 20, 30}}
	if got := r.Speedup("a", "b", "w"); got != 2 {
		t.Errorf("%v", got)
	}
}
