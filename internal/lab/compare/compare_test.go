package compare

import (
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

func TestQuickRunsGiveTheExpectedVerdicts(t *testing.T) { labtest.Verdicts(t, Experiments(), nil) }

// brief are parameters for runs that take little time.
var brief = lab.Params{
	lab.Int("keys", 200), lab.Int("first size", 20), lab.Int("queries", 1_000), lab.Int("most damages", 30), lab.Int("sizes", 4),
}

// TestTrialsDoNotRace has more keys where memory is measured on a heap that others
// use, too: less would be lost in what these free. That experiment shares nothing.
func TestTrialsDoNotRace(t *testing.T) {
	labtest.Briefly(t, []lab.Experiment{abilities, growing, files}, brief)
	effort.OneGoroutine(t)
	labtest.Briefly(t, []lab.Experiment{compare}, lab.Params{lab.Int("keys", 5_000), lab.Int("queries", 2_000), lab.Int("rounds", 1)})
}

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	labtest.Seeded(t, []lab.Experiment{abilities, growing, files}, brief)
}

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }

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

func prediction(t *testing.T, c claim) filter.Prediction {
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
