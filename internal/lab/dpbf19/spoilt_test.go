package dpbf19

import (
	"math"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// Every check must be able to fail: these have inputs that are wrong on purpose.

// want fails unless a check whose name begins so has the verdict.
func want(t *testing.T, checks []lab.Check, name string, verdict lab.Verdict) {
	t.Helper()
	for _, c := range checks {
		if strings.HasPrefix(c.Name, name) {
			if c.Verdict != verdict {
				t.Errorf("%q: %q, want %q: %s, %s", c.Name, c.Verdict, verdict, c.Ours, c.Tolerance)
			}
			return
		}
	}
	t.Errorf("there is no check %q", name)
}

func TestFigure1SeesRatesAbove(t *testing.T) {
	shape, err := wish.Shape()
	if err != nil {
		t.Fatal(err)
	}
	set := func(yes, listed int) []rates {
		a := answers{yes: yes, queries: 1_000_000, told: 5e-5}
		return []rates{{spread: a, near: a, listed: answers{yes: listed, queries: 100_000, told: 0.0095}, units: 96}}
	}
	for _, c := range []struct {
		yes, listed int
		dpbf, dbf   lab.Verdict
	}{
		{60, 950, lab.Reproduced, lab.Reproduced},
		{300, 950, lab.Differs, lab.Reproduced},
		{60, 500, lab.Reproduced, lab.Differs},
		{60, 2000, lab.Reproduced, lab.Differs},
	} {
		fig := newFigure1(list(shape))
		fig.add(100_000, set(c.yes, c.listed))
		checks := fig.result().Checks
		want(t, checks, "DPBF, 100000 ids spread", c.dpbf)
		want(t, checks, "DPBF, 100000 ids in runs", c.dpbf)
		want(t, checks, "DBF, 100000", c.dbf)
	}
}

func TestTimeChecksAreAboutDirection(t *testing.T) {
	names := []string{"DPBF", "DBF", "plain"}
	at := func(n, units int, dpbf, dbf float64) race {
		return race{n: n, units: units, names: names, absent: []float64{dpbf, dbf, 40}, present: []float64{dpbf, dbf, 40}}
	}
	fast := timeChecks([]race{at(100, 1, 30, 40), at(1e7, 9553, 100, 120_000)})
	slow := timeChecks([]race{at(100, 1, 30, 40), at(1e7, 9553, 100, 50)})
	for _, name := range []string{"a query of the list", "the list gets slower", "Figure 2", "Abstract"} {
		want(t, fast, name, lab.Reproduced)
		want(t, slow, name, lab.Differs)
	}
	want(t, timeChecks([]race{at(100, 1, 30, 40), at(1e5, 98, 30, 800)}), "DBF / DPBF", lab.Shown)
}

func TestExampleSeesAnotherSet(t *testing.T) {
	for name, c := range map[string]struct {
		set   []int
		check string
	}{
		"one more on the left":   {append([]int{1}, exampleIDs...), "Figures 4 and 5"},
		"without 31":             {exampleIDs[:8], "Figure 3: puBFMap"},
		"without 10":             {[]int{4, 5, 8, 17, 19, 22, 25, 31}, "Figure 3: element 10"},
		"one less on the right":  {[]int{4, 5, 8, 10, 17, 19, 25, 31}, "Figure 4: elements of A in M1,1"},
		"as in the paper, twice": {append(exampleIDs, exampleIDs...), ""},
	} {
		result, err := fig345.Do(t.Context(), &lab.Env{Params: lab.Params{lab.Ints("A", c.set...)}})
		if err != nil {
			t.Fatal(err)
		}
		if c.check != "" {
			want(t, result.Checks, c.check, lab.Differs)
			continue
		}
		for _, check := range result.Checks {
			if check.Verdict == lab.Differs {
				t.Errorf("%s: %s: %s", name, check.Name, check.Ours)
			}
		}
	}
}

func TestSpaceChecksSeeBrokenBounds(t *testing.T) {
	shape, err := wish.Shape()
	if err != nil {
		t.Fatal(err)
	}
	good := counted{name: "whole units of 1,024", n: 10_240, s: 10, tree: 10, internal: 9, paper: 20 * shape.UnitBits}
	for _, c := range []struct {
		spoil func(*counted)
		check string
	}{
		{func(c *counted) { c.s = 9 }, "Eq. (2)"},
		{func(c *counted) { c.tree = 11 }, "uBFs of the CPBPT: at most s, if"},
		{func(c *counted) { c.paper++ }, "uBFs in all"},
		{func(c *counted) { c.internal = 11 }, "internal nodes"},
		{func(c *counted) { c.empty = 1 }, "uBFs of the CPBPT: at most s, one"},
		{func(c *counted) { c.s = 12 }, "10240 ids that fill"},
	} {
		spoilt := good
		c.spoil(&spoilt)
		want(t, spaceChecks([]counted{good}, shape), c.check, lab.Reproduced)
		want(t, spaceChecks([]counted{spoilt, good}, shape), c.check, lab.Differs)
	}
	even := counted{name: "spread evenly", n: 100_000, s: 98_819, tree: 128, internal: 127, paper: 2}
	want(t, spaceChecks([]counted{even}, shape), "100000 ids spread evenly", lab.Reproduced)
	want(t, spaceChecks([]counted{even}, shape), "uBFs of the CPBPT, 100000 ids, spread evenly", lab.Reproduced)
	even.s, even.tree = 98_600, 50_000 // a binomial number would spread that far
	want(t, spaceChecks([]counted{even}, shape), "100000 ids spread evenly", lab.Differs)
	want(t, spaceChecks([]counted{even}, shape), "uBFs of the CPBPT, 100000 ids, spread evenly", lab.Differs)
	want(t, spaceChecks([]counted{good}, shape), "uBFs of the CPBPT, 10240 ids, whole units", lab.Reproduced)
	want(t, spaceChecks([]counted{good}, shape), "paper's layout, times the list, made-up ids: whole", lab.Reproduced)
	good.tree, good.paper = 9, 21*shape.UnitBits
	want(t, spaceChecks([]counted{good}, shape), "uBFs of the CPBPT, 10240 ids, whole units", lab.Differs)
	want(t, spaceChecks([]counted{good}, shape), "paper's layout, times the list, made-up ids: whole", lab.Differs)
	good.paper = 20 * shape.UnitBits
	if c := onRealData(good, shape); c.Verdict != lab.Reproduced {
		t.Errorf("whole units on real data: %+v", c)
	}
}

func TestMergeChecksSeeFaults(t *testing.T) {
	fine := merged{union: true, n: 100, ours: answers{yes: 50, queries: 1_000_000, told: 9e-5}, plain: answers{yes: 1_000, queries: 1_000_000}}
	for _, c := range []struct {
		spoil func(*merged)
		check string
	}{
		{func(m *merged) { m.ours.yes = 200 }, "rate after"},
		{func(m *merged) { m.ours.told = 1.1e-4 }, "largest rate"},
		{func(m *merged) { m.wrong = true }, "results that deny"},
		{func(m *merged) { m.plain.yes = 10 }, "rate of a plain filter"},
	} {
		spoilt := fine
		c.spoil(&spoilt)
		want(t, mergeChecks([]merged{fine}), c.check, lab.Reproduced)
		want(t, mergeChecks([]merged{spoilt}), c.check, lab.Differs)
	}
}

func TestTheoremSeesOtherRates(t *testing.T) {
	p := newPoint(unitShape(2_000, 0.01), 0.01, 9.9)
	if !(p.low < p.proof && p.proof < p.high) || p.high/p.low > 1.02 {
		t.Fatalf("%+v", p)
	}
	at := func(factor float64) []lab.Check {
		p := p
		p.yes, p.asked = 10_000, 100_000
		p.rate = lab.Estimate{Mean: factor * p.proof, Deviation: 0.002, N: 40}
		p.units = lab.Estimate{Mean: 10, N: 40}
		return listChecks([]listPoint{p})
	}
	want(t, at(1), "f_t = 0.01, α = 9.9: rate", lab.Reproduced)
	want(t, at(1.1), "f_t = 0.01, α = 9.9: rate", lab.Differs)
	want(t, at(0.9), "f_t = 0.01, α = 9.9: rate", lab.Differs)
	want(t, at(1), "f_t = 0.01: Theorem A.1", lab.Reproduced)
	want(t, at(0.8), "f_t = 0.01: Theorem A.1", lab.Differs)
	p.yes, p.asked = 0, 1e6
	p.proof = 1e-3
	if c := p.followsProof(); c.Verdict != lab.Differs {
		t.Errorf("none of a million at 1e-3: %+v", c)
	}
	if math.IsNaN(p.low) || math.IsNaN(p.high) {
		t.Error("no interval")
	}
}

// The formula as it is printed in textbooks is exact enough where units are few.
func TestUnitsDeviation(t *testing.T) {
	n, m := 50.0, 64.0
	plain := m*(m-1)*math.Pow(1-2/m, n) + m*math.Pow(1-1/m, n) - m*m*math.Pow(1-1/m, 2*n)
	if got := unitsDeviation(n, m); math.Abs(got-math.Sqrt(plain)) > 1e-9 {
		t.Errorf("%v, want %v", got, math.Sqrt(plain))
	}
	if got := unitsDeviation(1000, 1<<22); got < 0.3 || got > 0.4 {
		t.Errorf("1000 ids in 2^22 units: %v", got)
	}
}
