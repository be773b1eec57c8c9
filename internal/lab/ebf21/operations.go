package ebf21

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var operations = lab.Experiment{
	ID:       "ebf21/operations",
	Paper:    paper,
	Title:    "Sec. 3: insertion, deletion, compression, union, intersection, cardinality, accurate query",
	Question: "Do the operations of Sec. 3.2 and 3.4 do what is said of them?",
	Says: "Sec. 3.2: no duplicate fingerprints; deletion clears the bit of a bucket that becomes empty; compression below a set-bit rate of Ω/4. Sec. 3.4: union, intersection, exact " +
		"cardinality (1/k) Σ|B[i]|, and a more accurate query.",
	Quick: lab.Params{lab.Int("initial size, log2", 10), lab.Int("keys", 4_000), lab.Int("trials", 10), lab.Int("queries", 20_000)},
	Full:  lab.Params{lab.Int("initial size, log2", tableSize), lab.Int("keys", 100_000), lab.Int("trials", 20), lab.Int("queries", 1_000_000)},
	Run:   runOperations,
	Claims: []lab.Claim{
		{Name: "no key of the set is denied", Printed: "The queries do not cause false negatives", Where: "Sec. 2.1", Of: lab.Of("denied"), Is: lab.Zero()},
		{Name: "keys whose fingerprints were stored twice", Printed: "check whether it has been inserted in order to avoid duplicate fingerprints", Where: "Sec. 3.2.1", Of: lab.Of("duplicates"), Is: lab.Zero()},
		{Name: "cardinality of a set, less the keys", Printed: "exactly how many items have been inserted", Where: "Sec. 3.4", Of: lab.Of("miscounted"), Is: lab.Zero()},
		{Name: "bits left when all keys are deleted", Printed: "an empty bucket's bit is set to 0", Where: "Sec. 3.2.3", Of: lab.Of("bits left"), Is: lab.Zero()},
		{Name: "absent keys that could be deleted", Printed: "only the deletion of a previously inserted item is allowed", Where: "Sec. 3.2.3", Of: lab.Of("absent deleted"), Is: lab.Zero()},
		{Name: "first compression", Printed: "when the Set Bit Rate is below 1/4 Ω: no earlier", Where: "Sec. 3.2.5", Of: lab.Of("lateness"), Is: lab.AtLeast(lab.Number(0))},
		{Name: "first compression, by 1,024ths of the size", Printed: "when the Set Bit Rate is below 1/4 Ω: no later than ours looks for it", Where: "Sec. 3.2.5", Of: lab.Of("lateness"), Is: lab.AtMost(lab.Number(1))},
		{Name: "mistakes of the accurate query", Printed: "a more accurate estimation", Where: "Sec. 3.4", Of: lab.Of("mistaken"), Is: lab.Zero(), Show: []lab.Pick{lab.Of("false positives")}},
		{Name: "keys of both operands that an intersection lacks", Printed: "the intersection of the fingerprints", Where: "Sec. 3.4", Of: lab.Of("common keys lost"), Is: lab.Zero()},
		{Name: "keys of one operand in an intersection, by the accurate query", Printed: "the intersection of the fingerprints", Where: "Sec. 3.4", Of: lab.Of("foreign keys"), Is: lab.Zero()},
		{
			Kind: lab.Erratum, Name: "(1/k) Σ|B[i]| of a union, over its keys", Printed: "1.0 of its keys, since the union keeps all the fingerprints, and the cardinality is exactly how many items", Where: "Sec. 3.4", Of: lab.Of("fingerprints of a union"), Is: lab.Rounds(),
			Why: "the two sentences contradict each other: keys of both operands have their fingerprints twice",
		},
		{Kind: lab.Own, Name: "Len of a union, over its keys", Printed: "1.00 of its keys, since the common fingerprints are subtracted", Of: lab.Of("length of a union"), Is: lab.Rounds()},
	},
}

// deeds is what one trial counted, by the names of claims.
type deeds map[string]float64

func runOperations(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	size, n, queries := e.Int("initial size, log2"), e.Int("keys"), e.Int("queries")
	var metrics []lab.Metric[deeds]
	for _, name := range []string{"denied", "duplicates", "miscounted", "bits left", "absent deleted", "lateness", "mistaken", "false positives", "common keys lost", "foreign keys", "fingerprints of a union", "length of a union"} {
		metrics = append(metrics, lab.Metric[deeds]{Name: name, Of: func(d deeds) float64 { return d[name] }})
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[deeds]{
		Name: "deeds", Title: "Counts of a trial", Trials: e.Int("trials"), Metrics: metrics,
		Trial: func(_ lab.At, r *rand.Rand) (deeds, error) {
			d := deeds{}
			return d, errors.Join(d.live(r, size, n, queries), d.merge(r, size, n))
		},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
		"Distinct Stream, Table 1's k, D, b and Ω. The operands of a union have a fifth of its keys in common. Lateness is how many keys fewer than at Ω/4 there are at the first compression, in 1,024ths of the size. " +
			"Fig. 1 and 2, the worked example with a hash number of 6 bits, are the test TestWorkedExample of filter/elastic: no key can be made to have that number from outside.",
	}}, err
}

// live leads a filter through its life: keys come twice, are asked for, and go.
func (d deeds) live(r *rand.Rand, size, n, queries int) error {
	keys := lab.RandomKeys(r, n)
	f, err := filled(size, r.Uint64(), keys)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if added, _ := f.Add(k); added {
			d["duplicates"]++
		}
	}
	d["miscounted"] = math.Abs(float64(f.Len()) - float64(n))
	f.FinishResize()
	for range queries {
		k := filter.Key(r.Uint64())
		if f.MayContain(k) {
			d["false positives"]++
		}
		if f.Contains(k) {
			d["mistaken"]++
		}
	}
	for range n {
		if f.Delete(filter.Key(r.Uint64())) == nil {
			d["absent deleted"]++
		}
	}
	return d.empty(f, keys)
}

func filled(size int, salt uint64, keys []filter.Key) (*elastic.Filter, error) {
	f, err := elastic.Build(tableShape(size, salt))
	if err != nil {
		return nil, err
	}
	return f, addAll(f, keys)
}

// empty deletes all keys and looks for those that are still in the set.
func (d deeds) empty(f *elastic.Filter, keys []filter.Key) error {
	compressed := false
	for i, k := range keys {
		bits := f.Bits()
		if err := f.Delete(k); err != nil {
			return err
		}
		if f.Bits() < bits && !compressed {
			m := float64(bits)
			d["lateness"] = (theory.BloomCardinality(m, tableHashes, tableThreshold/4*m) - float64(f.Len())) / (m / 1024)
			compressed = true
		}
		if i%(len(keys)/10) == 0 {
			d["denied"] += denied(f, keys[i+1:])
		}
	}
	d["bits left"] = f.Info().Fill
	return nil
}

// denied counts the keys that get a no.
func denied(f filter.Filter, keys []filter.Key) float64 {
	return float64(len(keys) - lab.CountYes(f, keys))
}

// merge unites and intersects two filters, one of n keys and one of n/2, half of
// which it has in common with the first.
func (d deeds) merge(r *rand.Rand, size, n int) error {
	salt, keys := r.Uint64(), lab.RandomKeys(r, n+n/4)
	union, err := filled(size, salt, keys[:n])
	intersection, err2 := filled(size, salt, keys[:n])
	other, err3 := filled(size, salt, keys[n-n/4:])
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	if err := errors.Join(union.Union(other), intersection.Intersect(other)); err != nil {
		return err
	}
	union.FinishResize()
	d["length of a union"] = float64(union.Len()) / float64(len(keys))
	prints, err := fingerprints(union)
	if err != nil {
		return err
	}
	d["fingerprints of a union"] = prints / float64(tableHashes*len(keys))
	d["denied"] += denied(union, keys) + denied(intersection, keys[n-n/4:n])
	for i, k := range keys {
		switch common := i >= n-n/4 && i < n; {
		case intersection.Contains(k) && !common:
			d["foreign keys"]++
		case !intersection.Contains(k) && common:
			d["common keys lost"]++
		}
	}
	return nil
}

// fingerprints is how many there are, to a thousandth of the slots.
func fingerprints(f *elastic.Filter) (float64, error) {
	for _, d := range f.Info().Details {
		if d.Name == "slots in use" {
			share, err := strconv.ParseFloat(strings.TrimSuffix(d.Value, " %"), 64)
			b := bucketing{math.Log2(float64(f.Bits())), float64(f.Shape().Slots), f.Shape().Branches}
			return share / 100 * b.slotsInAll(), err
		}
	}
	return 0, fmt.Errorf("ebf21: %s does not tell the slots in use", f.Info().Kind)
}
