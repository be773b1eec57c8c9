package ebf21

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var operations = lab.Experiment{
	ID:       "ebf21/operations",
	Title:    "Sec. 3 and Theorem 4.2: the operations, and what resizing costs",
	Question: "Do the operations of Sec. 3.2 and 3.4 do what is said of them, and how many keys are there at a resize, against the changes since the one before?",
	Says: "Sec. 3.2: no duplicate fingerprints; deletion clears the bit of a bucket that becomes empty; compression below a set-bit rate of Ω/4. Sec. 3.4: union, intersection, exact " +
		"cardinality (1/k) Σ|B[i]|, and a more accurate query. Theorem 4.2, proof: n_i <= 8/3 (a_i - a_(i-1)), where the i-th resize is at the a_i-th change and with n_i keys; p = n_i/n_(i-1) lies in (1/2, 5/8) or (8/5, 2).",
	Params: lab.Params{lab.Int("initial size, log2", 10).Full(12), lab.Int("doublings", 4).Full(8), lab.Int("trials", 8).Full(20), lab.Int("queries", 20_000).Full(1_000_000)},
	Run:    runOperations,
	Claims: []lab.Claim{
		{Name: "no key of the set is denied", Printed: "The queries do not cause false negatives", Where: "Sec. 2.1", Of: lab.Of("denied"), Is: lab.Zero()},
		{Name: "keys whose fingerprints were stored twice", Printed: "check whether it has been inserted in order to avoid duplicate fingerprints", Where: "Sec. 3.2.1", Of: lab.Of("duplicates"), Is: lab.Zero()},
		{Name: "cardinality of a set, less the keys", Printed: "exactly how many items have been inserted", Where: "Sec. 3.4", Of: lab.Of("miscounted"), Is: lab.Zero()},
		{Name: "bits left when all keys are deleted", Printed: "an empty bucket's bit is set to 0", Where: "Sec. 3.2.3", Of: lab.Of("bits left"), Is: lab.Zero()},
		{Name: "absent keys that could be deleted", Printed: "only the deletion of a previously inserted item is allowed", Where: "Sec. 3.2.3", Of: lab.Of("absent deleted"), Is: lab.Zero()},
		{Name: "keys at the first compression, over those at Ω/4", Printed: "1.00 of them: when the Set Bit Rate is below 1/4 Ω", Where: "Sec. 3.2.5", Of: lab.Of("first compression"), Is: lab.Agrees(0)},
		{Name: "mistakes of the accurate query", Printed: "a more accurate estimation", Where: "Sec. 3.4", Of: lab.Of("mistaken"), Is: lab.Zero(), Show: []lab.Pick{lab.Of("false positives")}},
		{Name: "keys of both operands that an intersection lacks", Printed: "the intersection of the fingerprints", Where: "Sec. 3.4", Of: lab.Of("common keys lost"), Is: lab.Zero()},
		{Name: "keys of one operand in an intersection, by the accurate query", Printed: "the intersection of the fingerprints", Where: "Sec. 3.4", Of: lab.Of("foreign keys"), Is: lab.Zero()},
		{
			Kind: lab.Erratum, Name: "(1/k) Σ|B[i]| of a union, over its keys", Printed: "1.0 of its keys, since the union keeps all the fingerprints, and the cardinality is exactly how many items", Where: "Sec. 3.4", Of: lab.Of("fingerprints of a union"), Is: lab.Rounds(),
			Why: "the two sentences contradict each other: keys of both operands have their fingerprints twice",
		},
		{Kind: lab.Own, Name: "Len of a union, over its keys", Printed: "1.00 of its keys, since the common fingerprints are subtracted", Of: lab.Of("length of a union"), Is: lab.Rounds()},
		{Name: "most of n_i over a_i - a_(i-1)", Printed: "at most 8/3, at every resize", Where: "Theorem 4.2, proof", Of: lab.Of("most n over changes"), Is: lab.AtMost(lab.Number(8.0 / 3))},
		{
			Kind: lab.Erratum, Name: "p = n_i/n_(i-1) out of its ranges", Printed: "in (1/2, 5/8) or (8/5, 2), at every resize", Where: "Theorem 4.2, proof", Of: lab.Of("p outside"), Is: lab.Zero(), Show: []lab.Pick{lab.Of("least p"), lab.Of("most p")},
			Why: "the ranges do not follow from the thresholds: from one expansion to the next p is 2, from one compression to the next 1/2; a compression after an expansion comes at 0.46 of its keys, " +
				"an expansion after a compression at 2.2 times. The bound of 8/3 holds all the same",
		},
	},
}

func runOperations(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	return lab.Find(ctx, e, lab.Sweep{
		Name: "counts", Title: "Counts of a trial", Trials: e.Int("trials"),
		Metrics: []lab.Metric{
			{Name: "denied"},
			{Name: "duplicates"},
			{Name: "miscounted"},
			{Name: "bits left"},
			{Name: "absent deleted"},
			{Name: "first compression"},
			{Name: "mistaken"},
			{Name: "false positives"},
			{Name: "common keys lost"},
			{Name: "foreign keys"},
			{Name: "fingerprints of a union"},
			{Name: "length of a union"},
			{Name: "most n over changes"},
			{Name: "least p"},
			{Name: "most p"},
			{Name: "p outside"},
		},
		Trial: func(_ lab.At, r *rand.Rand) (lab.Figures, error) {
			size, doublings := e.Int("initial size, log2"), e.Int("doublings")
			d := lab.Figures{"least p": 1, "most p": 1}
			f, err := elastic.Build(tableShape(size, r.Uint64()))
			if err != nil {
				return nil, err
			}
			l := life{counts: d, f: f, r: r}
			return d, errors.Join(l.wave(ctx, doublings, e.Int("queries")), merge(d, r, size, int(fullKeys(float64(size+doublings-1)))))
		},
	}, lab.Notes{
		"Distinct Stream, Table 1's k, D, b and Ω. A filter grows by so many doublings, then the set swings between the sizes at which it expands and is compressed, which is the worst there is for Theorem 4.2, then everything is deleted. " +
			"The operands of a union have a fifth of its keys in common. " +
			"Fig. 1 and 2, the worked example with a hash number of 6 bits, are the test TestWorkedExample of filter/elastic: no key can be made to have that number from outside.",
	})
}

// life is a filter beside its exact set.
type life struct {
	counts  lab.Figures // what a trial counts
	f       *elastic.Filter
	r       *rand.Rand
	keys    []filter.Key
	changes float64
	resized float64 // change at which the last resize was
	had     float64 // keys at that; 0 before the first
}

// wave leads the filter through growth, swings and decline.
func (l *life) wave(ctx context.Context, doublings, queries int) error {
	top := l.f.Bits() << doublings
	for leg, target := range []uint64{top, top / 2, top, top / 2, top, 0} {
		for add := target > l.f.Bits(); l.f.Bits() != target && (add || len(l.keys) > 0); {
			if err := l.change(add); err != nil {
				return err
			}
		}
		if leg == 0 {
			l.ask(queries)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	l.counts["bits left"] = l.f.Info().Fill
	return nil
}

// change adds a new key or deletes one of the set.
func (l *life) change(add bool) (err error) {
	bits := l.f.Bits()
	if add {
		l.keys = append(l.keys, filter.Key(l.r.Uint64()))
		_, err = l.f.Add(l.keys[len(l.keys)-1])
	} else {
		i, last := l.r.IntN(len(l.keys)), len(l.keys)-1
		err = l.f.Delete(l.keys[i])
		l.keys[i], l.keys = l.keys[last], l.keys[:last]
	}
	if l.changes++; l.f.Bits() != bits {
		l.resize(float64(bits))
	}
	return err
}

// resize looks at the filter after a resize from so many bits.
func (l *life) resize(before float64) {
	d, n := l.counts, float64(len(l.keys))
	d["denied"] += denied(l.f, l.keys)
	d["most n over changes"] = max(d["most n over changes"], n/(l.changes-l.resized))
	if l.had > 0 {
		p := n / l.had
		d["least p"], d["most p"] = min(d["least p"], p), max(d["most p"], p)
		d["p outside"] += lab.OneIf(p <= 1.0/2 || p >= 5.0/8 && p <= 8.0/5 || p >= 2)
	}
	if d["first compression"] == 0 && float64(l.f.Bits()) < before {
		d["first compression"] = n / theory.BloomCardinality(before, tableHashes, tableThreshold/4*before)
	}
	l.resized, l.had = l.changes, n
}

// ask adds keys again, and asks for absent ones and deletes them.
func (l *life) ask(queries int) {
	d := l.counts
	for _, k := range l.keys {
		added, _ := l.f.Add(k)
		d["duplicates"] += lab.OneIf(added)
	}
	d["miscounted"] = math.Abs(float64(l.f.Len()) - float64(len(l.keys)))
	l.f.FinishResize()
	for range queries {
		k := filter.Key(l.r.Uint64())
		d["false positives"] += lab.OneIf(l.f.MayContain(k))
		d["mistaken"] += lab.OneIf(l.f.Contains(k))
	}
	for range l.keys {
		d["absent deleted"] += lab.OneIf(l.f.Delete(filter.Key(l.r.Uint64())) == nil)
	}
}

// denied counts the keys that get a no.
func denied(f filter.Filter, keys []filter.Key) float64 {
	return float64(len(keys) - lab.CountYes(f, keys))
}

// merge unites and intersects two filters, one of n keys and one of n/2, half of
// which it has in common with the first.
func merge(d lab.Figures, r *rand.Rand, size, n int) error {
	shape, keys := tableShape(size, r.Uint64()), lab.RandomKeys(r, n+n/4)
	union, err := filled(shape, keys[:n])
	intersection, err2 := filled(shape, keys[:n])
	other, err3 := filled(shape, keys[n-n/4:])
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	if err := errors.Join(union.Union(other), intersection.Intersect(other)); err != nil {
		return err
	}
	union.FinishResize()
	d["length of a union"] = float64(union.Len()) / float64(len(keys))
	d["fingerprints of a union"] = float64(union.Fingerprints()) / float64(tableHashes*len(keys))
	d["denied"] += denied(union, keys) + denied(intersection, keys[n-n/4:n])
	for i, k := range keys {
		common, found := i >= n-n/4 && i < n, intersection.Contains(k)
		d["foreign keys"] += lab.OneIf(found && !common)
		d["common keys lost"] += lab.OneIf(!found && common)
	}
	return nil
}
