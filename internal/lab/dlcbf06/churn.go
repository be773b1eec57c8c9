package dlcbf06

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// example is the geometry of Sec. 5.1: 4 subarrays of 2048 buckets of 8 cells,
// remainders of 14 bits and counters of 2.
var example = dleft.Shape{Subtables: 4, Buckets: 2048, Cells: 8, Remainder: 14, Counter: 2}

const (
	exampleKeys    = 49_152  // an average load of six
	exampleBuckets = 8_192   // of all subarrays
	fingerprints   = 1 << 25 // |B||R|
	paperSteps     = 1 << 20
	paperTrials    = 10_000
	paperQueries   = 10_000
)

// salted is the example with permutations of its own, which the paper draws for
// every trial.
func salted(r *rand.Rand) dleft.Shape {
	s := example
	s.Salt = r.Uint64()
	return s
}

// churn is a trial of Sec. 5.1: so many keys, then steps in which one of them is
// deleted, each as likely, and a new one added. It ends with the first error. Before
// every so many steps, and at the end, it stops for a look.
func churn(f filter.Deleter, n, steps, every int, r *rand.Rand, look func()) error {
	keys := make([]filter.Key, n)
	for i := range keys {
		keys[i] = filter.Key(r.Uint64())
		if _, err := f.Add(keys[i]); err != nil {
			return err
		}
	}
	for step := range steps {
		if step%every == 0 {
			look()
		}
		i := r.IntN(n)
		if err := f.Delete(keys[i]); err != nil {
			return fmt.Errorf("step %d: a key that is in the set: %w", step, err)
		}
		keys[i] = filter.Key(r.Uint64())
		if _, err := f.Add(keys[i]); err != nil {
			return err
		}
	}
	look()
	return nil
}

// falsePositives counts the yeses about keys that are not in the set, but for odds
// of 2^-48.
func falsePositives(f filter.Filter, queries int, r *rand.Rand) (yes int) {
	for range queries {
		if f.MayContain(filter.Key(r.Uint64())) {
			yes++
		}
	}
	return yes
}

// events compares how many of our trials saw something rare with how many of the
// paper's 10,000 did. If the odds are the same, each of all those trials is one of ours
// with the same probability.
func events(name, printed string, theirs, ours, ourTrials int) lab.Check {
	all, share := float64(theirs+ours), float64(ourTrials)/float64(ourTrials+paperTrials)
	lo, hi := theory.BinomialInterval(all, share, lab.Sigmas)
	c := lab.Holds(name, printed, fmt.Sprintf("%d of %d trials: %s %%", ours, ourTrials, lab.Digits(100*float64(ours)/float64(max(ourTrials, 1)), 3)),
		lo <= float64(ours) && float64(ours) <= hi,
		fmt.Sprintf("%.0f to %.0f: %d standard deviations of our share of the %.0f trials of both that saw it", lo, hi, lab.Sigmas, all))
	twice := 2 * float64(theirs) * float64(ourTrials) / paperTrials
	_, most := theory.BinomialInterval(float64(theirs)+twice, share, lab.Sigmas)
	return ifTelling(c, twice > most)
}

// expected compares how many trials saw something rare with a formula.
func expected(name, formula string, p float64, ours, ourTrials int) lab.Check {
	mean := float64(ourTrials) * p
	lo, hi := theory.BinomialInterval(float64(ourTrials), p, lab.Sigmas)
	return ifTelling(lab.PredictedRate(name, formula, p, ours, ourTrials), 2*mean > hi || mean/2 < lo)
}

// ifTelling makes a check that agrees one that only shows, if so few trials would
// agree with twice the rate as well.
func ifTelling(c lab.Check, telling bool) lab.Check {
	if c.Verdict == lab.Reproduced && !telling {
		return lab.Show(c.Name, c.Ours+"; too few trials to tell it from twice the rate")
	}
	return c
}

// column takes one number out of every trial.
func column[T any](trials []T, number func(T) float64) []float64 {
	out := make([]float64, len(trials))
	for i, t := range trials {
		out[i] = number(t)
	}
	return out
}

// count counts the trials of which something is true.
func count[T any](trials []T, is func(T) bool) (n int) {
	for _, t := range trials {
		if is(t) {
			n++
		}
	}
	return n
}

// extremes returns the least and the greatest of the values.
func extremes(values []float64) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	return least, most
}

// outside returns the probability that a trial of so many queries finds a rate
// below the first or above the second, if it is p.
func outside(queries int, p, least, most float64) float64 {
	n := float64(queries)
	low, high := math.Round(least*n), math.Round(most*n)
	odds := 0.0
	for i, prob := range theory.Poisson(n * p) {
		if float64(i) < low || float64(i) > high {
			odds += prob
		}
	}
	return odds
}
