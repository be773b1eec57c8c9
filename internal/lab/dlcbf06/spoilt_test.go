package dlcbf06

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Every check must be able to fail: these have inputs that are wrong on purpose.

func TestEventsTellRatesApart(t *testing.T) {
	for _, c := range []struct {
		ours, trials int
		want         lab.Verdict
	}{
		{254, 10_000, lab.Reproduced},
		{285, 10_000, lab.Reproduced},
		{590, 10_000, lab.Differs},
		{100, 10_000, lab.Differs},
		{118, 2_000, lab.Differs},
		{0, 5, lab.Shown}, // twice the rate would not be seen
	} {
		if got := events("x", "254 of 10,000 trials", 254, c.ours, c.trials); got.Verdict != c.want {
			t.Errorf("%d of %d: %+v", c.ours, c.trials, got)
		}
	}
	if c := expected("x", "p", 0.01, 300, 10_000); c.Verdict != lab.Differs {
		t.Errorf("three times the expected: %+v", c)
	}
	if c := expected("x", "p", 0.001, 0, 10); c.Verdict != lab.Shown {
		t.Errorf("ten trials of a thousandth: %+v", c)
	}
	if c := expected("x", "p", 0.2, 4, 20); c.Verdict != lab.Shown {
		t.Errorf("0 to 12 of 20 trials would agree: %+v", c)
	}
}

// fakeTrials returns what trials would find in the fluid limit of a load.
func fakeTrials(load float64, n int) []table1Trial {
	trials := make([]table1Trial, n)
	r := rand.New(rand.NewPCG(1, 1))
	shares := theory.DLeftSteadyLoads(4, load, levels)
	for i := range trials {
		for level, share := range shares {
			trials[i].shares[level] = min(1, share*(1+0.007*r.NormFloat64()))
		}
	}
	return trials
}

func TestTable1SeesAnotherLoad(t *testing.T) {
	var right, wrong lab.Result
	loadResults(&right, fakeTrials(5.9956, 400))
	loadResults(&wrong, fakeTrials(6.05, 400))
	want(t, right.Checks, "simulation, load ≥ 7", lab.Reproduced)
	want(t, right.Checks, "simulation, load ≥ 6", lab.Reproduced)
	want(t, wrong.Checks, "simulation, load ≥ 7", lab.Differs)
	want(t, wrong.Checks, "fluid limit, load ≥ 7", lab.Reproduced) // which is no simulation
}

func TestTable1SeesRareEvents(t *testing.T) {
	trials := fakeTrials(6, 1000)
	var result lab.Result
	eventResults(&result, trials, paperSteps)
	for name, verdict := range verdicts(result.Checks) {
		if verdict == lab.Differs {
			t.Errorf("%s: %s", name, verdict)
		}
	}
	for i := range trials {
		trials[i].overflow, trials[i].last, trials[i].four = i == 7, i == 8, i < 30
	}
	result = lab.Result{}
	eventResults(&result, trials, paperSteps)
	for _, name := range []string{"overflow", "full buckets in the fourth subarray", "trials with four elements of one hash value at some time"} {
		want(t, result.Checks, name, lab.Differs)
	}
}

func TestRatesSeeAnotherAverage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(p float64) []sample {
		out := make([]sample, 2000)
		for i := range out {
			out[i] = sample{max(0, int(1e4*p+100*math.Sqrt(p)*r.NormFloat64()+0.5)), paperQueries}
		}
		return out
	}
	const name = "rate of false positives, average"
	want(t, dleftRates.checks(draw(0.001463)), name, lab.Reproduced)
	want(t, dleftRates.checks(draw(0.0018)), name, lab.Differs)
	want(t, cbfRates.checks(draw(0.0012)), name, lab.Differs)
}

func TestFailsafeSeesOverflowAndOtherRanges(t *testing.T) {
	fine := []float64{40, 60, 99}
	want(t, failsafeChecks(fine, 0, paperSteps), "moves in a trial", lab.Reproduced)
	want(t, failsafeChecks(fine, 1, paperSteps), "trials in which moving made no room", lab.Differs)
	want(t, failsafeChecks([]float64{20, 60}, 0, paperSteps), "moves in a trial", lab.Differs)
	want(t, failsafeChecks([]float64{60, 120}, 0, paperSteps), "moves in a trial", lab.Differs)
}

func TestFailsafeSeesWhetherCellsAreShared(t *testing.T) {
	at := func(mean float64, n int) lab.Verdict {
		return sharedCells(lab.Estimate{Mean: mean, Deviation: 8.5, N: n}, 68, 60).Verdict
	}
	if at(58, 2_000) != lab.Reproduced || at(68, 2_000) != lab.Differs || at(58, 6) != lab.Shown {
		t.Errorf("%s, %s, %s", at(58, 2_000), at(68, 2_000), at(58, 6))
	}
	alike := lab.Estimate{Mean: 63.8, Deviation: 4.4, N: 6} // by chance
	if c := sharedCells(alike, 68, 60); c.Verdict != lab.Shown {
		t.Errorf("%+v", c)
	}
}

// Throws into two bits: after two, half of the filters have one set bit, half two.
func TestOnesDeviation(t *testing.T) {
	if got := onesDeviation(2, 2); math.Abs(got-0.25) > 1e-12 {
		t.Errorf("%v, want 0.25", got)
	}
	if got := above(6, 8); math.Abs(got-0.1528) > 1e-4 {
		t.Errorf("more than 8 of Poisson 6: %v", got)
	}
}

func TestCounterChecksSeeHigherCounters(t *testing.T) {
	trials := make([]cbfTrial, 2000)
	for i := range trials {
		trials[i].largest = 9
		if i < 560 {
			trials[i].largest = 10
		}
		if i < 43 {
			trials[i].largest = 11
		}
		if i < 3 {
			trials[i].largest = 12
		}
	}
	for name, verdict := range verdicts(counterChecks(trials, paperSteps, 512)) {
		if verdict == lab.Differs && name != "trials that reached 9" {
			t.Errorf("%s: %s", name, verdict)
		}
	}
	for i := range trials {
		trials[i].largest += 2
	}
	got := counterChecks(trials, paperSteps, 512)
	for _, name := range []string{"trials that reached 11", "trials that reached 12", "trials that reached 12 or more", "trials that reached 13", "trials that reached 14"} {
		want(t, got, name, lab.Differs)
	}
}

func TestConstructionChecksSeeTheContrary(t *testing.T) {
	some, none := lab.Estimate{Mean: 5, Deviation: 1, N: 3}, lab.Estimate{N: 3}
	good := constructionChecks([]tally{{some, some, none}, {none, none, some}, {none, none, none}}, none, 10)
	bad := constructionChecks([]tally{{none, none, none}, {none, none, none}, {some, some, some}}, some, 10)
	for i, c := range good {
		if c.Verdict != lab.Reproduced || bad[i].Verdict != lab.Differs {
			t.Errorf("%s: %s, the contrary: %s", c.Name, c.Verdict, bad[i].Verdict)
		}
	}
}
