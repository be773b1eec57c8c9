package compare

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/filtertest"
	"github.com/everbloom-go/everbloom/filter/kinds"
	"github.com/everbloom-go/everbloom/lab"
)

// tiny are parameters for runs under the race detector, which takes ten times as
// long. The first of a name counts.
var tiny = lab.Params{lab.Int("keys", 500), lab.Int("queries", 2_000), lab.Int("rounds", 1), lab.Int("most damages", 30), lab.Int("sizes", 4)}

// run does the quick variant and reports every verdict that is not as known: all
// reproduce but those that are named. Timings may come out either way.
func run(t *testing.T, x lab.Experiment, differing ...string) *lab.Result {
	t.Helper()
	params := x.Quick
	if filtertest.UnderRace {
		params = append(slices.Clone(tiny), params...)
	}
	result, err := x.Do(t.Context(), &lab.Env{Params: params, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range result.Checks {
		t.Log(c.Verdict, "|", c.Name, "|", c.Printed, "|", c.Ours, "|", c.Tolerance)
		if names[c.Name] {
			t.Errorf("two checks are called %q", c.Name)
		}
		names[c.Name] = true
		if strings.HasPrefix(c.Name, timing) || c.Verdict == lab.Shown {
			continue
		}
		if filtertest.UnderRace && !strings.HasPrefix(c.Name, "no ") {
			continue // too few keys
		}
		if known := slices.Contains(differing, c.Name); known != (c.Verdict == lab.Differs) || c.Unexpected() {
			t.Errorf("seed 1: %s: %s: %s, ours %s, tolerance %s", c.Verdict, c.Name, c.Printed, c.Ours, c.Tolerance)
		}
	}
	return result
}

func TestCompare(t *testing.T) {
	result := run(t, compare)
	if rows := len(result.Tables[0].Rows); rows != len(kinds.All())+2 {
		t.Errorf("%d rows", rows)
	}
}

func TestAbilities(t *testing.T) {
	result := run(t, abilities)
	for _, row := range result.Tables[0].Rows {
		t.Log(strings.Join(row, " | "))
	}
}

func TestGrowing(t *testing.T) { run(t, growing) }

func TestFiles(t *testing.T) { run(t, files) }

func TestExperimentsStopWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, x := range Experiments() {
		if _, err := x.Do(ctx, &lab.Env{Params: x.Quick}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", x.ID, err)
		}
	}
}

func TestRateChecksSeeWhatIsTooHigh(t *testing.T) {
	for yes, want := range map[int]lab.Verdict{100: lab.Reproduced, 10: lab.Reproduced, 160: lab.Differs} {
		found := []*finding{{entrant: entrant{name: "some"}, yes: yes, asked: 10_000}}
		if c := rateChecks(found, 0.01)[0]; c.Verdict != want {
			t.Errorf("%d: %+v", yes, c)
		}
	}
	found := []*finding{{entrant: entrant{name: "some"}, yes: 1, asked: 10_000, denied: 1}}
	if c := rateChecks(found, 0.01)[1]; c.Verdict != lab.Differs {
		t.Errorf("a denied member: %+v", c)
	}
}

func TestEveryClaimIsCheckedAndCanFail(t *testing.T) {
	checks := readmeChecks()
	if len(checks) != len(claims)+2 {
		t.Fatalf("%d checks for %d claims and two", len(checks), len(claims))
	}
	for i, c := range claims {
		wrong := lab.Exact("spoilt", c.printed, 1.6*c.value(prediction(t, c)))
		if wrong.Verdict != lab.Differs {
			t.Errorf("claim %d would pass with much more: %+v", i, wrong)
		}
	}
}

func prediction(t *testing.T, c claim) kinds.Prediction {
	t.Helper()
	k, err := kinds.ByName(c.kind)
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.Predict(kinds.Config{Items: 1_000_000, FPR: c.rate}, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWithinTakesTheLowestRateThatFits(t *testing.T) {
	c := curve{offers: []offer{{rate: 0.1, all: 5}, {rate: 0.01, all: 10}, {rate: 0.02, all: 9}, {rate: 0.001, all: 15}}}
	for bits, want := range map[float64]float64{4: 0, 5: 0.1, 9.5: 0.02, 14: 0.01, 99: 0.001} {
		if got, ok := c.within(bits); got.rate != want || ok != (want > 0) {
			t.Errorf("%v bits: %+v, %v", bits, got, ok)
		}
	}
}

func TestMemoryChecksSeeARivalThatIsNoBetter(t *testing.T) {
	list := allotments{
		{bits: 84, name: "evergreen", fits: true, offer: offer{rate: 0.01}},
		{bits: 84, name: "dleft", fits: true, offer: offer{rate: 0.001}},
		{bits: 84, name: "elastic"},
	}
	if c := list.checks()[0]; c.Verdict != lab.Reproduced {
		t.Errorf("%+v", c)
	}
	list[1].offer.rate = 0.02
	if c := list.checks()[0]; c.Verdict != lab.Differs || !strings.Contains(c.Ours, "dleft") {
		t.Errorf("%+v", c)
	}
}

func TestFastestGoesByTheSumOfBothAnswers(t *testing.T) {
	entry := func(name string, ns float64) *finding {
		return &finding{entrant: entrant{name: name}, times: times{present: {ns}, absent: {ns}}}
	}
	if c := fastest([]*finding{entry("blocked", 5), entry("bloom", 7)}); c.Verdict != lab.Reproduced {
		t.Errorf("%+v", c)
	}
	if c := fastest([]*finding{entry("blocked", 5), entry("bloom", 4)}); c.Verdict != lab.Differs || !c.Known {
		t.Errorf("%+v", c)
	}
}

// A kind that is described wrongly must be found out, column by column.
func TestConductSeesAWrongTable(t *testing.T) {
	spoilt := func(name string, change func(*kinds.Kind)) bench {
		k, err := kinds.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		change(&k)
		return bench{kind: k, keys: newKeys((&lab.Env{Seed: 1}).Rand(0)), n: 2000, rate: 0.01, queries: 5000, times: 8}
	}
	for _, c := range []struct {
		name string
		try  func(bench) (trial, error)
		b    bench
	}{
		{"growth", bench.tryGrowth, spoilt("bloom", func(k *kinds.Kind) { k.Grows = true })},
		{"drift", bench.tryGrowth, spoilt("dynamic", func(k *kinds.Kind) { k.Drifts = false })},
		{"pins", bench.tryDelete, spoilt("deletable", func(k *kinds.Kind) { k.Pins = false })},
		{"twice", bench.tryTwice, spoilt("counting", func(k *kinds.Kind) { k.Duplicates = filter.DuplicatesIgnored })},
		{"absent", bench.tryAbsent, spoilt("counting", func(k *kinds.Kind) { k.AbsentDelete = "refused" })},
		{"merge", bench.tryMerge, spoilt("evergreen", func(k *kinds.Kind) { k.Merging = "∪ ∩, equal shape" })},
		{"intersection", bench.tryMerge, spoilt("dynamic", func(k *kinds.Kind) { k.UnionOnly = false })},
	} {
		if got, err := c.try(c.b); err != nil || got.ok {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

func TestFileChecksSeeWhatWasNotNoticed(t *testing.T) {
	for i, f := range []file{{flips: 5, cuts: 5, trailing: 5, unequal: 1}, {flips: 5, flipsOK: 1}, {cuts: 5, cutsOK: 1}, {trailing: 5, trailingOK: 1}} {
		if c := f.checks(100)[i]; c.Verdict != lab.Differs {
			t.Errorf("%+v", c)
		}
	}
}
