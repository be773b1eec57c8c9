package dlcbf06

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var construction = lab.Experiment{
	ID:       "dlcbf06/construction",
	Paper:    paper,
	Title:    "Why fingerprints are permuted, and why the bucket comes from the high bits",
	Question: "How often does the direct construction not know which copy to delete, does the permuted one always know, and what do low bits as buckets do?",
	Says: "Sec. 3.2: with independent choices the remainder of an element may be found in several of its buckets when it is deleted; such occurrences happen too frequently. " +
		"With permutations of one true fingerprint only one remainder corresponding to an element will exist. Sec. 3.3: using the low order bits for the buckets is less effective; " +
		"the same groups of buckets will frequently be chosen.",
	Quick: lab.Params{lab.Int("trials", 3), lab.Int("steps", 1<<18)},
	Full:  lab.Params{lab.Int("trials", 30), lab.Int("steps", paperSteps)},
	Run:   runConstruction,
}

// builds are the constructions that are compared.
var builds = []struct {
	name  string
	build func(*rand.Rand) locator
}{
	{"independent choices", independent},
	{"permuted, low bits are the bucket", permuted(true)},
	{"permuted, high bits are the bucket", permuted(false)},
}

// tally is what the trials of one construction counted, per trial.
type tally struct{ unclear, denied, full lab.Estimate }

func runConstruction(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	steps := e.Int("steps")
	table := lab.Table{
		Name: "constructions", Title: fmt.Sprintf("Of %d deletions and insertions at an average load of six, per trial", steps),
		Columns: []string{"construction", "deletes with several copies", "deletes that found none", "keys that found no room"},
		Notes: []string{
			"Of several copies the first is deleted. If that was another key's, the other is denied from then on.",
			"Independent choices: each of the 18 elements in the other three buckets has the same remainder with odds of 2^-14. Half of them came later, which makes one delete in 1,820; " +
				"with the others the element itself was counted when it came.",
			"Low bits: a multiplication by an odd number keeps them together, so that 2048 groups of four buckets are all there are, each for 24 keys on average and 32 at most.",
		},
	}
	tallies := make([]tally, len(builds))
	for i, b := range builds {
		e.Progress(i, len(builds)+1)
		sketches, err := lab.Trials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) [3]float64 {
			s := sketch{locate: b.build(r)}
			s.run(exampleKeys, steps, r)
			return [3]float64{float64(s.unclear), float64(s.denied), float64(s.full)}
		})
		if err != nil {
			return nil, err
		}
		of := func(j int) lab.Estimate {
			return lab.Mean(column(sketches, func(s [3]float64) float64 { return s[j] }))
		}
		tallies[i] = tally{of(0), of(1), of(2)}
		table.Add(b.name, tallies[i].unclear, tallies[i].denied, tallies[i].full)
	}
	e.Progress(len(builds), len(builds)+1)
	left, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (float64, error) { return emptied(steps, r) })
	if err != nil {
		return nil, err
	}
	return &lab.Result{Tables: []lab.Table{table}, Checks: constructionChecks(tallies, lab.Mean(left), steps)}, nil
}

// emptied changes a real filter for long, then deletes all its keys, and returns
// the share of cells that stay used. A delete that finds nothing is an error.
func emptied(steps int, r *rand.Rand) (float64, error) {
	f, err := dleft.Build(salted(r))
	if err != nil {
		return 0, err
	}
	keys := make(map[filter.Key]bool, exampleKeys)
	log := recorder{Filter: f, keys: keys}
	if err := churn(log, exampleKeys, steps, steps, r, func() {}); err != nil {
		return 0, err
	}
	for k := range keys {
		if err := f.Delete(k); err != nil {
			return 0, err
		}
	}
	return f.Info().Fill, nil
}

// recorder remembers which keys are in the filter.
type recorder struct {
	*dleft.Filter
	keys map[filter.Key]bool
}

// Add remembers.
func (r recorder) Add(k filter.Key) (bool, error) {
	r.keys[k] = true
	return r.Filter.Add(k)
}

// Delete forgets.
func (r recorder) Delete(k filter.Key) error {
	delete(r.keys, k)
	return r.Filter.Delete(k)
}

// constructionChecks are the claims of Sec. 3.2 and 3.3.
func constructionChecks(t []tally, left lab.Estimate, steps int) []lab.Check {
	direct, low, high := t[0], t[1], t[2]
	return []lab.Check{
		lab.Holds("Sec. 3.2: deletes that find several copies, independent choices", "too frequently",
			fmt.Sprintf("%s of %d steps, and %s keys denied", direct.unclear, steps, direct.denied), direct.denied.Mean > 1, "more than one key of a trial is denied"),
		lab.Holds("Sec. 3.2: the same with permutations", "only one remainder will exist", fmt.Sprintf("%v of %d steps, %v keys denied", high.unclear.Mean, steps, high.denied.Mean),
			high.unclear.Mean == 0 && high.denied.Mean == 0, "none"),
		lab.Holds("Sec. 3.2: a filter whose keys are all deleted", "no garbage is left", fmt.Sprintf("%v of the cells are used", left.Mean),
			left.Mean == 0 && left.N > 0, "none in any trial, and no delete is refused"),
		lab.Holds("Sec. 3.3: low order bits for the buckets", "less effective", fmt.Sprintf("%s keys of a trial find no room, with high bits %v", low.full, high.full.Mean),
			low.full.Mean > high.full.Mean && high.full.Mean == 0, "more keys find no room than with the high bits, where none does"),
	}
}
