package lab

import (
	"math"
	"testing"

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

func compare(t *testing.T, printed string, ours Estimate, trials int) judgement {
	t.Helper()
	p, err := parsePrinted(printed)
	if err != nil {
		t.Fatal(err)
	}
	return p.compare(ours, trials)
}

func TestVerdictsFollowTheNumbers(t *testing.T) {
	spread := Estimate{Mean: 0.52, Deviation: 0.1, N: 100} // standard error 0.01
	for name, c := range map[string]struct {
		got  judgement
		want Verdict
	}{
		"rounds to it":             {compare(t, "0.001463", Estimate{Mean: 0.0014634}, 0), Reproduced},
		"just rounds to it":        {compare(t, "0.15", Estimate{Mean: 0.145}, 0), Reproduced},
		"one digit off":            {compare(t, "0.001463", Estimate{Mean: 0.0014636}, 0), Differs},
		"not a number":             {compare(t, "0.5", Estimate{Mean: math.NaN()}, 0), Differs},
		"within four errors":       {compare(t, "0.50", spread, 0), Reproduced},
		"beyond them":              {compare(t, "0.47", spread, 0), Differs},
		"the paper was noisy, too": {compare(t, "0.47", spread, 100), Reproduced},
		"but not that much":        {compare(t, "0.45", spread, 100), Differs},
	} {
		if c.got.verdict != c.want {
			t.Errorf("%s: %+v, want %s", name, c.got, c.want)
		}
	}
}

func TestOursAndTolerancesAreWrittenLikeThePrint(t *testing.T) {
	for _, c := range []struct {
		got             judgement
		ours, tolerance string
	}{
		{compare(t, "0.15", Estimate{Mean: 0.2}, 0), "0.2000", "0.1450 to 0.1550: the digits printed"},
		{compare(t, "0.001463", Estimate{Mean: 0.00146278}, 0), "0.00146278", ""},
		{compare(t, "5.62e-17", Estimate{Mean: 1.9e-9}, 0), "1.9e-9", ""},
		{compare(t, "80 %", Estimate{Mean: 0.79912}, 0), "79.91 %", ""},
		{compare(t, "53,428", Estimate{Mean: 53428.2}, 0), "53428.20", ""},
		{compare(t, "80%", Estimate{0.799, 0.4, 1600}, 0), "79.9 ± 2.0 %", ""},
		{compare(t, "0.50", Estimate{0.52, 0.1, 100}, 0), "0.520 ± 0.020", "0.453 to 0.547: 4 standard errors, by Student's t, of our 100 trials, and the digits printed"},
		{compare(t, "0.50", Estimate{0.52, 0.1, 100}, 2000), "0.520 ± 0.020", "0.452 to 0.548: 4 standard errors, by Student's t, of our 100 trials and the paper's 2000, and the digits printed"},
	} {
		if c.got.ours != c.ours || c.tolerance != "" && c.got.tolerance != c.tolerance {
			t.Errorf("%+v, want %s, %s", c.got, c.ours, c.tolerance)
		}
	}
}

func TestMeanHasTheRightInterval(t *testing.T) {
	e := Mean([]float64{1, 2, 3, 4, 5})
	if e.Mean != 3 || math.Abs(e.Deviation-math.Sqrt(2.5)) > 1e-12 || e.N != 5 {
		t.Errorf("%+v", e)
	}
	// Student's t with four degrees of freedom is further than 2.776 five times in 100.
	if reach := e.Reach(1.959964); math.Abs(reach-2.77645*e.StandardError()) > 1e-4 {
		t.Errorf("reach %v", reach)
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
		{Estimate{5, 0, 3}, "5.00"},
	} {
		if got := c.e.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
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
