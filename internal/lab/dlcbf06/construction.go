package dlcbf06

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var construction = lab.Experiment{
	ID:       "dlcbf06/construction",
	Title:    "Why fingerprints are permuted, and why the bucket comes from the high bits",
	Question: "How often does the direct construction not know which copy to delete, does the permuted one always know, and what do low bits as buckets do?",
	Says: "Sec. 3.2: with independent choices the remainder of an element may be found in several of its buckets when it is deleted; such occurrences happen too frequently. " +
		"With permutations of one true fingerprint only one remainder corresponding to an element will exist. Sec. 3.3: using the low order bits for the buckets is less effective; " +
		"the same groups of buckets will frequently be chosen.",
	Params: lab.Params{lab.Int("trials", 10).Full(30), lab.Int("steps", 1<<16).Full(paperSteps)},
	Run:    runConstruction,
	Claims: []lab.Claim{
		{
			Name: "deletes that find several copies, independent choices", Printed: "too frequently: taken as more than one in a trial", Where: "Sec. 3.2",
			Of: lab.Of("several copies", builds, directBuild), Is: lab.Above(lab.Number(1)), Show: []lab.Pick{lab.Of("keys denied", builds, directBuild)},
		},
		{Name: "deletes that find several copies, permutations", Printed: "only one remainder will exist", Where: "Sec. 3.2", Of: lab.Of("several copies", builds, highBuild), Is: lab.Zero()},
		{Name: "keys denied, permutations", Printed: "only one remainder will exist", Where: "Sec. 3.2", Of: lab.Of("keys denied", builds, highBuild), Is: lab.Zero()},
		{Name: "trials without room for a key, low order bits for the buckets", Printed: "less effective", Where: "Sec. 3.3", Of: lab.Of("no room", builds, lowBuild), Is: lab.Above(lab.Of("no room", builds, highBuild))},
	},
}

const (
	builds      = "construction"
	directBuild = "independent choices"
	lowBuild    = "permuted, low bits are the bucket"
	highBuild   = "permuted, high bits are the bucket"
)

// locators are the constructions, by name.
var locators = map[string]func(*rand.Rand) locator{directBuild: independent, lowBuild: permuted(true), highBuild: permuted(false)}

func runConstruction(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	steps := e.Int("steps")
	return lab.Find(ctx, e, lab.Sweep[lab.Figures]{
		Name: "constructions", Title: "Of so many deletions and insertions at an average load of six, per trial",
		Dims: []lab.Dim{lab.Among(builds, directBuild, lowBuild, highBuild)}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (lab.Figures, error) {
			return (&sketch{locate: locators[at.Name(builds)](r)}).try(exampleKeys, steps, r)
		},
		Metrics: []lab.Metric[lab.Figures]{{Name: "no room", Unit: lab.InPercent, Asked: lab.Each(1)}, {Name: "several copies"}, {Name: "keys denied"}, {Name: "moves per thousand steps"}},
		Notes: []string{
			"Of several copies the first is deleted. If that was another key's, the other is denied from then on. A trial ends with the first key without room.",
			"Independent choices: each of the 18 elements in the other three buckets has the same remainder with odds of 2^-14. Half of them came later, which makes one delete in 1,820.",
			"Low bits: a multiplication by an odd number keeps them together, so that 2048 groups of four buckets are all there are, each for 24 keys on average and 32 at most.",
		},
	})
}

// try runs a trial up to the first key without room, and looks for all keys then.
func (s *sketch) try(n, steps int, r *rand.Rand) (lab.Figures, error) {
	keys, err := churn(s, n, steps, steps, r, func() {})
	t := lab.Figures{"no room": 0, "several copies": float64(s.unclear), "keys denied": float64(s.denied)}
	if errors.Is(err, filter.ErrFull) {
		t["no room"] = 1
		return t, nil
	}
	t["moves per thousand steps"] = 1000 * float64(s.moved) / float64(steps)
	for _, k := range keys {
		t["keys denied"] += lab.OneIf(len(s.find(k)) == 0)
	}
	return t, err
}
