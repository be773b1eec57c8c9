package dlcbf06

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

// differing has the checks that are known to differ in quick runs, by experiment.
var differing = map[string][]string{
	"dlcbf06/worked":   {"Sec. 4: ratio at r = 14, c = 16/3", "Sec. 5.1: odds that five elements share a hash value", "Abstract, Sec. 1: savings at a rate of 10 %"},
	"dlcbf06/table1":   {"trials outside the printed range of rates", "Sec. 5.1: odds of a load of 9, for a set of elements"},
	"dlcbf06/cbf":      {"overflow of counters in both filters", "trials outside the printed range of rates"},
	"dlcbf06/overflow": {"elements at a load of 6.5", "the same at 53,428 elements"},
}

func TestVerdictsAreAsKnown(t *testing.T) { labtest.Verdicts(t, Experiments(), differing) }

// brief are parameters for runs that take little time.
var brief = lab.Params{
	lab.Int("trials", 2), lab.Int("trials with 53,428 elements", 2), lab.Int("further trials", 2), lab.Int("steps", 200), lab.Int("queries", 100),
	lab.Int("steps between looks", 50), lab.Int("keys", 2_400), lab.Ints("cells", 2),
}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	labtest.Seeded(t, Experiments(), brief)
}

func TestExperimentsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }

// verdicts returns those of the checks by name.
func verdicts(checks []lab.Check) map[string]lab.Verdict {
	out := map[string]lab.Verdict{}
	for _, c := range checks {
		out[c.Name] = c.Verdict
	}
	return out
}

// want fails unless a check has the verdict.
func want(t *testing.T, checks []lab.Check, name string, verdict lab.Verdict) {
	t.Helper()
	if got := verdicts(checks)[name]; got != verdict {
		t.Errorf("%q: %q, want %q", name, got, verdict)
	}
}
