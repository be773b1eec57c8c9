package ebf21

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

// seed of all runs here.
const seed = 1

// known lists the checks that differ from what the paper says, for a reason that the
// check tells.
var known = map[string][]string{
	"ebf21/operations": {"cardinality of a union by (1/k) Σ|B[i]|"},
	"ebf21/formulas": {
		"k of Sec. 4.3", "m of Sec. 4.3", "Lemma 4.1 where Theorem 4.1 uses it, at Table 1", "Eq. (2) and (3), right side",
		"D of Sec. 4.3 at Table 1's k, m and Ω", "overflows with that D",
	},
	"ebf21/theorem42": {"p = n_i/n_(i-1)"},
	"ebf21/fig3":      {"2^14 keys do not trigger expansion of 2^18 bits"},
	"ebf21/fig8a":     {"EBF takes less slow memory than CBF"},
}

func TestQuickRunsGiveTheExpectedVerdicts(t *testing.T) { labtest.Verdicts(t, Experiments(), known) }

// brief are parameters for runs that take little time.
var brief = lab.Params{
	lab.Int("trials", 2), lab.Int("rounds", 1), lab.Int("queries", 500), lab.Int("keys", 1_000), lab.Int("waves", 1), lab.Int("doublings", 3),
	lab.Int("expansions", 2), lab.Int("initial size, log2", 12), lab.Int("final size, log2", 14), lab.Ints("initial sizes, log2", 10, 12),
	lab.Ints("sizes, log2", 12, 13), lab.Ints("slots", 4, 8), lab.Ints("branches", 1, 3), lab.Int("items", 1<<17), lab.Floats("peaks", 0.5, 1, 4),
	lab.Floats("loads", 0.5, 1), lab.Ints("queries of each sort", 2, 8), lab.Ints("threads", 1, 2),
}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	labtest.Seeded(t, []lab.Experiment{operations, formulas, theorem42, table1, fig3, fig8a, fig9b}, brief)
}
