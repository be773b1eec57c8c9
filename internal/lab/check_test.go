package lab

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"

	"github.com/everbloom-go/everbloom/internal/theory"
)

func TestPrintedNumbersAreReadWithTheirPrecision(t *testing.T) {
	for _, c := range []struct {
		text        string
		value, half float64
	}{
		{"0.001463", 0.001463, 0.0000005},
		{"5.62e-17", 5.62e-17, 0.005e-17},
		{"53,428", 53428, 0.5},
		{"80 %", 0.8, 0.005},
		{"80%", 0.8, 0.005},
		{"2.53 times", 2.53, 0.005},
		{"-1.5", -1.5, 0.05},
		{"2E3", 2000, 500},
	} {
		p, err := parsePrinted(c.text)
		if err != nil || math.Abs(p.value-c.value) > 1e-12*math.Abs(c.value) || math.Abs(p.half-c.half) > 1e-9*c.half {
			t.Errorf("%s: %+v, %v, want %v ± %v", c.text, p, err, c.value, c.half)
		}
	}
	for _, text := range []string{"", "about 5", "%", "1e", "0x10p", "nan%x"} {
		if _, err := parsePrinted(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestVerdictsFollowTheNumbers(t *testing.T) {
	spread := Estimate{Mean: 0.52, Deviation: 0.1, N: 100} // standard error 0.01
	for _, c := range []struct {
		check Check
		want  Verdict
	}{
		{Exact("rounds to it", "0.001463", 0.0014634), Reproduced},
		{Exact("just rounds to it", "0.15", 0.145), Reproduced},
		{Exact("one digit off", "0.001463", 0.0014636), Differs},
		{Exact("not a number", "0.5", math.NaN()), Differs},
		{Exact("not printed as a number", "half", 0.5), Differs},
		{Measured("within four errors", "0.50", spread), Reproduced},
		{Measured("beyond them", "0.47", spread), Differs},
		{Measured("no trials", "0.5", Estimate{}), Differs},
		{Sampled("the paper was noisy, too", "0.47", spread, 100), Reproduced},
		{Sampled("but not that much", "0.45", spread, 100), Differs},
		{Rate("a coin", "0.5", 520, 1000), Reproduced},
		{Rate("a bad coin", "0.500", 600, 1000), Differs},
		{Rate("nothing in few", "0.001", 0, 1000), Reproduced},
		{Rate("nothing in many", "0.001", 0, 100_000), Differs},
		{Rate("the rounding of the print counts", "10 %", 1049, 10_000), Reproduced},
		{Rate("no key asked", "0.5", 0, 0), Differs},
		{Predicted("a formula", "p", 0.5, spread), Reproduced},
		{Predicted("another", "p", 0.47, spread), Differs},
		{PredictedRate("a formula", "p", 1.0/3, 3300, 9999), Reproduced},
		{PredictedRate("another", "p", 1.0/3, 3000, 9999), Differs},
		{Predicted("always the same", "p", 0.1, Mean(slices.Repeat([]float64{0.1}, 999))), Reproduced},
		{Holds("a claim", "always", "always", true, "tried"), Reproduced},
		{Holds("a claim", "always", "once not", false, "tried"), Differs},
		{Show("a time", "5 ns"), Shown},
	} {
		if c.check.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %+v", c.check.Name, c.check.Verdict, c.want, c.check)
		}
		if err := c.check.check(); err != nil {
			t.Error(err)
		}
		if (c.check.Verdict == Differs) != c.check.Unexpected() {
			t.Errorf("%s: unexpected: %t", c.check.Name, c.check.Unexpected())
		}
	}
}

// Honest measurements must pass and dishonest ones must not, whatever the numbers.
func TestCheckOfRatesIsRightAlmostAlways(t *testing.T) {
	effort.OneGoroutine(t)
	r := rand.New(rand.NewPCG(1, 2))
	const n, p, runs = 2000, 0.05, 2000
	honest, biased := 0, 0
	for range runs {
		yes, more := 0, 0
		for range n {
			if r.Float64() < p {
				yes++
			}
			if r.Float64() < 3*p {
				more++
			}
		}
		if Rate("", "0.05", yes, n).Verdict == Reproduced {
			honest++
		}
		if Rate("", "0.05", more, n).Verdict == Reproduced {
			biased++
		}
	}
	if honest < runs-1 || biased > 1 {
		t.Errorf("seed 1, 2: of %d runs %d honest and %d biased ones were accepted", runs, honest, biased)
	}
}

func TestDifferenceNeedsAReason(t *testing.T) {
	known := Exact("x", "1.0", 2).Because("the paper counts otherwise")
	if known.Reason != "the paper counts otherwise" || known.Unexpected() || known.check() != nil {
		t.Errorf("%+v", known)
	}
	if c := Exact("x", "1.0", 1).Because("never needed"); c.Reason != "" || c.Known || c.Verdict != Reproduced {
		t.Errorf("a reason changed a check that reproduces: %+v", c)
	}
	for _, c := range []Check{
		{Name: "x", Printed: "1", Ours: "2", Verdict: Differs},
		{Name: "x", Printed: "1", Ours: "2", Verdict: Differs, Reason: " "},
		{Name: "x", Printed: "1", Ours: "2", Tolerance: "none", Verdict: Reproduced, Reason: "but"},
		{Name: "x", Ours: "2", Tolerance: "none", Verdict: Reproduced},
		{Name: "x", Printed: "1", Ours: "1", Verdict: Reproduced},
		{Name: "x", Ours: "1", Verdict: Differs, Reason: "r"},
		{Name: "x", Ours: "1", Verdict: "fine"},
		{Name: "x", Verdict: Shown},
		{Ours: "1", Verdict: Shown},
	} {
		if c.check() == nil {
			t.Errorf("accepted: %+v", c)
		}
	}
	if err := Exact("x", "1.0", 2).Because("").check(); err == nil || !strings.Contains(err.Error(), "without a reason") {
		t.Errorf("an empty reason: %v", err)
	}
}

func TestTolerancesAreStatedWithTheNumbers(t *testing.T) {
	for _, c := range []struct {
		check Check
		want  string
	}{
		{Exact("", "0.15", 0.2), "0.1450 to 0.1550: the digits printed"},
		{Measured("", "0.50", Estimate{0.52, 0.1, 100}), "0.453 to 0.547: 4 standard errors, by Student's t, of our 100 trials, and the digits printed"},
		{Sampled("", "0.50", Estimate{0.52, 0.1, 100}, 2000), "0.452 to 0.548: 4 standard errors, by Student's t, of our 100 trials and the paper's 2000, and the digits printed"},
		{Rate("", "0.5", 500, 1000), "387 to 613: 4 standard deviations of the binomial distribution, and the digits printed"},
		{Predicted("", "p", 0.5, Estimate{0.52, 0.1, 100}), "0.458 to 0.542: 4 standard errors, by Student's t, of our 100 trials"},
	} {
		if c.check.Tolerance != c.want {
			t.Errorf("got  %s\nwant %s", c.check.Tolerance, c.want)
		}
	}
}

func TestOursIsWrittenLikeThePrint(t *testing.T) {
	for _, c := range []struct {
		check Check
		want  string
	}{
		{Exact("", "0.001463", 0.00146278), "0.00146278"},
		{Exact("", "5.62e-17", 1.9e-9), "1.9e-9"},
		{Exact("", "80 %", 0.79912), "79.91 %"},
		{Exact("", "53,428", 53428.2), "53428.20"},
		{Measured("", "80%", Estimate{0.799, 0.4, 1600}), "79.9 ± 2.0 %"},
		{Rate("", "80 %", 79_912, 100_000), "79912 of 100000: 79.91 %"},
		{Rate("", "0.8", 79_912, 100_000), "79912 of 100000: 0.7991"},
	} {
		if c.check.Ours != c.want {
			t.Errorf("%s: got %q, want %q", c.check.Printed, c.check.Ours, c.want)
		}
	}
}

func TestMeanHasTheRightInterval(t *testing.T) {
	e := Mean([]float64{1, 2, 3, 4, 5})
	if e.Mean != 3 || math.Abs(e.Deviation-math.Sqrt(2.5)) > 1e-12 || e.N != 5 {
		t.Errorf("%+v", e)
	}
	// Student's t with four degrees of freedom is further than 2.776 five times in 100.
	if lo, hi := e.Interval(1.959964); math.Abs((hi-lo)/2-2.77645*e.StandardError()) > 1e-4 || !e.Within(3.5, 1) || e.Within(30, 4) {
		t.Errorf("%v to %v", lo, hi)
	}
	if Mean(nil) != (Estimate{}) || Mean([]float64{7}).Mean != 7 {
		t.Error("none or one")
	}
	for _, c := range []struct {
		e    Estimate
		want string
	}{
		{Estimate{0.012345, 0.01, 10_000}, "0.01235 ± 0.00020"},
		{Estimate{1234.5, 100, 100}, "1234 ± 20"},
		{Estimate{5, 0, 3}, "5.000 ± 0"},
	} {
		if got := c.e.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestSharesAreInsideTheirIntervals(t *testing.T) {
	for _, c := range [][2]int{{0, 10}, {10, 10}, {3, 10}, {500, 1000}, {0, 0}} {
		p := Share(1, c[0], c[1])
		if p.Lo > p.Y || p.Hi < p.Y || p.Lo < 0 || p.Hi > 1 || c[1] > 0 && p.Lo == p.Hi {
			t.Errorf("%v: %+v", c, p)
		}
	}
}

func TestTimingsDoNotFailStrictRuns(t *testing.T) {
	good := Holds("x", "faster", "0.5", true, "medians").Timed()
	bad := Holds("x", "faster", "1.5", false, "medians").Timed()
	if good.Verdict != Reproduced || good.Reason != "" || !good.Timing {
		t.Errorf("%+v", good)
	}
	if bad.Verdict != Differs || bad.Unexpected() || bad.Reason == "" || bad.check() != nil {
		t.Errorf("%+v", bad)
	}
	if known := Holds("x", "faster", "1.5", false, "medians").Because("why").Timed(); known.Reason != "why" {
		t.Errorf("%+v", known)
	}
}

func TestMedianIsTheMiddle(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{7, 1, 100}, 7}} {
		if got := Median(c.values); got != c.want {
			t.Errorf("%v: got %g, want %g", c.values, got, c.want)
		}
	}
}

func TestSpreadIsOfTheDifference(t *testing.T) {
	a, b := Estimate{5, 2, 50}, Estimate{5, 1, 20}
	va, vb := 4.0/50, 1.0/20
	freedom := (va + vb) * (va + vb) / (va*va/49 + vb*vb/19)
	want := theory.StudentReach(Sigmas, int(freedom)+1) * math.Sqrt(va+vb)
	if got := Spread(a, b); math.Abs(got-want) > 1e-12 || got != Spread(b, a) {
		t.Errorf("%g and %g, want %g", got, Spread(b, a), want)
	}
	if got := Spread(Estimate{1, 0, 9}, Estimate{2, 0, 9}); got != 0 {
		t.Errorf("no spread: %g", got)
	}
	if got := Spread(Estimate{1, 0, 1}, a); math.IsInf(got, 0) || math.IsNaN(got) {
		t.Errorf("a number beside trials: %g", got)
	}
}
