package ebf21

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var operations = lab.Experiment{
	ID:       "ebf21/operations",
	Paper:    "[EBF21]",
	Title:    "Sec. 3: insertion, deletion, compression, union, intersection, cardinality, accurate query",
	Question: "Do the operations of Sec. 3.2 and 3.4 do what is said of them?",
	Says: "Sec. 3.2: no duplicate fingerprints; deletion clears the bit of a bucket that becomes empty; compression below a set-bit rate of Ω/4. Sec. 3.4: union, intersection, exact " +
		"cardinality (1/k) Σ|B[i]|, and a more accurate query.",
	Quick: lab.Params{lab.Int("initial size, log2", 10), lab.Int("keys", 4_000), lab.Int("trials", 10), lab.Int("queries", 50_000)},
	Full:  lab.Params{lab.Int("initial size, log2", tableSize), lab.Int("keys", 100_000), lab.Int("trials", 20), lab.Int("queries", 1_000_000)},
	Run:   runOperations,
}

// deeds is what one trial counted.
type deeds struct {
	duplicates      int     // keys that were taken a second time
	cardinality     int     // as the filter tells it
	yes, mistaken   int     // absent keys: MayContain, and the accurate query
	denied          int     // keys that were in the set and got a no, at any time
	leftFill        float64 // share of set bits when all keys are deleted
	leftSize        uint64
	absentDeleted   int     // keys that were never there and could be deleted
	compressedAt    float64 // keys at the first compression
	compressedFrom  uint64  // bits before it
	union           int     // as the filter tells it; the operands have a quarter in common
	common, foreign int     // keys in the intersection: of both, of one
}

func runOperations(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	all, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (deeds, error) {
		d, err := live(r, e.Int("initial size, log2"), e.Int("keys"), e.Int("queries"))
		return d, errors.Join(err, d.merge(r, e.Int("initial size, log2"), e.Int("keys")))
	})
	if err != nil {
		return nil, err
	}
	return &lab.Result{Checks: operationChecks(all, e.Int("keys"), e.Int("queries")), Notes: []string{
		"Distinct Stream, Table 1's k, D, b and Ω. Counts are over all trials. Fig. 1 and 2, the worked example with a hash number of 6 bits, are the test TestWorkedExample of filter/elastic: no key can be made to have that number from outside.",
	}}, nil
}

// live leads a filter through its life: keys come twice, are asked for, and go.
func live(r *rand.Rand, size, n, queries int) (d deeds, err error) {
	f, err := elastic.Build(tableShape(size, r.Uint64()))
	if err != nil {
		return d, err
	}
	keys := distinct(r, n)
	if err := addAll(f, keys); err != nil {
		return d, err
	}
	for _, k := range keys {
		if added, _ := f.Add(k); added {
			d.duplicates++
		}
	}
	d.cardinality = int(f.Len())
	f.FinishResize()
	for range queries {
		k := filter.Key(r.Uint64())
		if f.MayContain(k) {
			d.yes++
		}
		if f.Contains(k) {
			d.mistaken++
		}
	}
	for range n {
		if f.Delete(filter.Key(r.Uint64())) == nil {
			d.absentDeleted++
		}
	}
	return d, d.empty(f, keys)
}

// empty deletes all keys and looks for those that are still in the set.
func (d *deeds) empty(f *elastic.Filter, keys []filter.Key) error {
	for i, k := range keys {
		bits := f.Bits()
		if err := f.Delete(k); err != nil {
			return err
		}
		if f.Bits() < bits && d.compressedFrom == 0 {
			d.compressedAt, d.compressedFrom = float64(f.Len()), bits
		}
		if i%(len(keys)/10) == 0 {
			d.denied += denied(f, keys[i+1:])
		}
	}
	d.leftFill, d.leftSize = f.Info().Fill, f.Bits()
	return nil
}

func denied(f filter.Filter, keys []filter.Key) (n int) {
	for _, k := range keys {
		if !f.MayContain(k) {
			n++
		}
	}
	return n
}

// merge unites and intersects two filters, one of n keys and one of n/2, half of
// which it has in common with the first.
func (d *deeds) merge(r *rand.Rand, size, n int) error {
	salt, keys := r.Uint64(), distinct(r, n+n/4)
	first, second := keys[:n], keys[n-n/4:]
	build := func(keys []filter.Key) (*elastic.Filter, error) {
		f, err := elastic.Build(tableShape(size, salt))
		if err != nil {
			return nil, err
		}
		return f, addAll(f, keys)
	}
	union, err := build(first)
	intersection, err2 := build(first)
	other, err3 := build(second)
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	if err := errors.Join(union.Union(other), intersection.Intersect(other)); err != nil {
		return err
	}
	d.union = int(union.Len())
	d.denied += denied(union, keys) + denied(intersection, keys[n-n/4:n])
	for i, k := range keys {
		switch {
		case !intersection.Contains(k):
		case i >= n-n/4 && i < n:
			d.common++
		default:
			d.foreign++
		}
	}
	return nil
}

// operationChecks adds up the trials.
func operationChecks(all []deeds, n, queries int) []lab.Check {
	var sum deeds
	exact, empty := true, true
	for _, d := range all {
		sum.duplicates += d.duplicates
		sum.yes += d.yes
		sum.mistaken += d.mistaken
		sum.denied += d.denied
		sum.absentDeleted += d.absentDeleted
		sum.common += d.common
		sum.foreign += d.foreign
		sum.union += d.union
		exact = exact && d.cardinality == n
		empty = empty && d.leftFill == 0
	}
	trials := len(all)
	none := func(name, claim string, count, of int) lab.Check {
		return lab.Holds(name, claim, fmt.Sprintf("%d of %d", count, of), count == 0, "none at all")
	}
	return []lab.Check{
		none("keys in the set that were denied", "Sec. 2.1: \"The queries do not cause false negatives\"", sum.denied, trials*n),
		none("keys whose fingerprints were stored twice", "Sec. 3.2.1: \"check whether it has been inserted in order to avoid duplicate fingerprints\"", sum.duplicates, trials*n),
		lab.Holds("cardinality of a set", "Sec. 3.4: \"exactly how many items have been inserted\"", fmt.Sprintf("%d in every trial: %t", n, exact), exact, "exactly"),
		lab.Holds("bits left when all keys are deleted", "Sec. 3.2.3: an empty bucket's bit is set to 0", fmt.Sprintf("none in every trial: %t; size 2^%d again", empty, log2(all[0].leftSize)), empty, "none at all"),
		none("absent keys that could be deleted", "Sec. 3.2.3: \"only the deletion of a previously inserted item is allowed\"", sum.absentDeleted, trials*n),
		compressionCheck(all),
		none("mistakes of the accurate query", "Sec. 3.4: \"a more accurate estimation\"", sum.mistaken, trials*queries),
		lab.Show("false positives of the standard query at the same time", fmt.Sprintf("%d of %d", sum.yes, trials*queries)),
		lab.Holds("keys of both operands in the intersection", "Sec. 3.4: \"the intersection of the fingerprints\"", fmt.Sprintf("%d of %d, and %d of one operand only", sum.common, trials*(n/4), sum.foreign),
			sum.common == trials*(n/4) && sum.foreign == 0, "all, and no others, by the accurate query"),
		lab.Holds("cardinality of a union by (1/k) Σ|B[i]|", "Sec. 3.4: the union keeps \"all the fingerprints\", and the cardinality is \"exactly how many\"",
			fmt.Sprintf("fingerprints for %d keys, of which %d are in it; ours tells %d", trials*(n+n/2), trials*(n+n/4), sum.union), n+n/2 == n+n/4, "exactly; by the definition of the union").
			Because("as printed the two sentences contradict each other: keys of both operands have their fingerprints twice. Ours subtracts the common ones"),
	}
}

// compressionCheck compares with the keys at which the set-bit rate is Ω/4. It is
// looked for only when the number of keys has fallen by another 1,024th of the size,
// so that the compression may come that much later; and set bits scatter.
func compressionCheck(all []deeds) lab.Check {
	var ratios []float64
	late, spread := 0.0, 0.0
	for _, d := range all {
		m := float64(d.compressedFrom)
		due := theory.BloomCardinality(m, tableHashes, tableThreshold/4*m)
		ratios = append(ratios, d.compressedAt/due)
		late = max(late, m/1024/due)
		spread = max(spread, lab.Sigmas/math.Sqrt(due*tableHashes))
	}
	at := lab.Mean(ratios)
	return lab.Holds("keys at the first compression, over those at a set-bit rate of Ω/4", "Sec. 3.2.5: \"when the estimated Set Bit Rate (SBR) is below a threshold 1/4 Ω\"", at.String(),
		at.Mean <= 1+spread && at.Mean >= 1-late-spread,
		fmt.Sprintf("%s to %s: it is looked for at every 1,024th of the size, and %d standard deviations", lab.Digits(1-late-spread, 3), lab.Digits(1+spread, 3), lab.Sigmas))
}

func log2(size uint64) (n int) {
	for ; size > 1; size /= 2 {
		n++
	}
	return n
}
