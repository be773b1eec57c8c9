package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

const (
	found = "a key that is in the set is always found"
	page  = "docs/choosing.md"
)

var compare = lab.Experiment{
	ID:       "all/compare",
	Title:    "All kinds on one workload",
	Question: "What does each kind cost in memory and in time, at an equal rate?",
	Says:     "docs/choosing.md: bits per key of every kind at 1 % and 0.1 %; blocked has the fastest queries of sets that are not in the caches; the rate that is measured is at most the one that was asked for.",
	Quick:    compareParams(20_000, 100_000, 5), Full: compareParams(1_000_000, 2_000_000, 7),
	Run: runCompare,
	Plots: []lab.View{
		{
			Name: "memory", Title: "Memory at an equal rate", X: "kind", Y: lab.Axis{Label: "bits per key", Log: true},
			Curves: []lab.Curve{{Name: "all", Measured: "bits per key", Style: lab.Dots}, {Name: "fast", Measured: "fast bits per key", Style: lab.Dots}},
		},
		{
			Name: "time", Title: "Time per operation", X: lab.Contenders, Y: lab.Axis{Label: "ns, processor time", Log: true},
			Curves: []lab.Curve{{Measured: "add", Style: lab.Dots}, {Measured: "present", Style: lab.Dots}, {Measured: "absent", Style: lab.Dots}, {Measured: "delete", Style: lab.Dots}},
		},
	},
	Claims: append(readmeRows,
		lab.Claim{Name: "rates", Printed: "the rate that is measured is at most the one that was asked for", Where: page, Of: lab.Of("rate"), Is: lab.AtMost(lab.Of("asked"))},
		lab.Claim{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
		lab.Claim{Name: "elastic: bits per key", Printed: "thousands", Where: page, Of: lab.Of("bits per key", "kind", "elastic"), Is: lab.AtLeast(lab.Number(1000))},
		lab.Claim{
			Name: "queries of other kinds to those of blocked", Printed: "0.75 or more even in the caches, where the number of lines does not count", Where: page,
			Of: lab.Of("queries").Over(lab.Of("queries", lab.Contenders, "blocked")), Is: lab.AtLeast(lab.Number(0.75)),
		}),
}

func compareParams(keys, queries, rounds int) lab.Params {
	return lab.Params{
		lab.Int("keys", keys), lab.Float("rate", 0.01), lab.Int("queries", queries), lab.Int("rounds", rounds), lab.Int("stride", 1_000),
	}
}

func runCompare(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	e.Part(0, 2)
	all := kinds.All()
	rates, err := atEqualRate(ctx, e, all)
	if err != nil {
		return nil, err
	}
	e.Part(1, 2)
	times, err := lab.Race{
		Name: "times", Title: "Time per operation", Contenders: kindDim(all).Names, Rounds: e.Int("rounds"),
		Start: func(_ lab.At, name string, r *rand.Rand) ([]lab.Lap, error) {
			k, err := kinds.ByName(name)
			if err != nil {
				return nil, err
			}
			return laps(k, walk.NewKeys(r), e.Int("keys"), e.Int("stride"), e.Float("rate"))
		},
	}.Run(ctx, e)
	return &lab.Result{Grids: []*lab.Grid{rates, times, readme}, Notes: []string{
		"Every kind is made for the number of keys that it gets, which is the best case of those that grow. Bits per key are what Info says; fast ones are read by queries, slow ones by changes only.",
		"Times are processor time. With so few keys most filters are in the processor's caches: docs/benchmarks.md has fifty million keys, and rivals. \"queries\" are for present and absent keys in turn.",
	}}, err
}

// atEqualRate fills all kinds and measures memory and rate.
func atEqualRate(ctx context.Context, e *lab.Env, all []kinds.Kind) (*lab.Grid, error) {
	n, queries := e.Int("keys"), e.Int("queries")
	return lab.Sweep(ctx, e, lab.Spec[walk.Look]{
		Name: "equal-rate", Title: fmt.Sprintf("%d keys, asked for %s", n, lab.Percent(e.Float("rate"))), Dims: []lab.Dim{kindDim(all)}, Trials: 1,
		Trial: func(at lab.At, r *rand.Rand) (walk.Look, error) {
			f, err := build(all[at.Int("kind")], n, e.Float("rate"))
			if err != nil {
				return walk.Look{}, err
			}
			w := &walk.Walker{F: f, Keys: walk.NewKeys(r)}
			looks, err := w.Through(ctx, []int{n}, queries)
			if err != nil {
				return walk.Look{}, err
			}
			looks[0].Denied = float64(w.Denied(n))
			return looks[0], nil
		},
		Metrics:  walk.Metrics(queries),
		Formulas: []lab.Formula{lab.Fixed("asked", lab.InPercent, e.Float("rate"))},
	})
}

// laps are strides of all operations. Refusals for want of room and of keys that are
// pinned are answers, too.
func laps(kind kinds.Kind, k walk.Keys, n, stride int, rate float64) (list []lab.Lap, err error) {
	f, err := build(kind, n, rate)
	if err != nil {
		return nil, err
	}
	operations := []struct {
		name string
		do   func(i int) error
	}{
		{"add", func(i int) error { _, err := f.Add(k.Member(i)); return except(err, filter.ErrFull) }},
		{"present", func(i int) error { f.MayContain(k.Member(i)); return nil }},
		{"absent", func(i int) error { f.MayContain(k.Stranger(i)); return nil }},
		{"queries", func(i int) error { f.MayContain(k.Member(i)); f.MayContain(k.Stranger(n + i)); return nil }},
		{"delete", func(i int) error { return except(filter.Delete(f, k.Member(i)), filter.ErrNotFound, filter.ErrPinned) }},
	}
	if _, ok := f.(filter.Deleter); !ok {
		operations = operations[:4]
	}
	for _, op := range operations {
		list = append(list, walk.Strides(op.name, n, stride, op.do)...)
	}
	return list, nil
}

// except is err unless it is one of those that are answers.
func except(err error, answers ...error) error {
	for _, a := range answers {
		if errors.Is(err, a) {
			return nil
		}
	}
	return err
}

// A claim is a number that docs/choosing.md prints about a million keys.
type claim struct {
	kind    string
	rate    float64
	what    string
	printed string
	value   func(p filter.Prediction) float64
}

func allBits(p filter.Prediction) float64 { return p.FastBitsPerKey + p.SlowBitsPerKey }

func rateOf(p filter.Prediction) float64 { return p.FPR }

func hitLines(p filter.Prediction) float64 { return p.HitLines }

var claims = []claim{
	{"blocked", 0.01, "bits per key", "10.1", allBits},
	{"blocked", 0.001, "bits per key", "15.7", allBits},
	{"blocked", 0.01, "cache lines of a query", "1", hitLines},
	{"bloom", 0.01, "bits per key", "9.6", allBits},
	{"bloom", 0.001, "bits per key", "14.4", allBits},
	{"bloom", 0.01, "cache lines of a query", "7", hitLines},
	{"bloom", 0.001, "cache lines of a query", "10", hitLines},
	{"evergreen", 0.01, "cache lines of a query", "1", hitLines},
	{"dleft", 0.01, "bits per key", "21.3", allBits},
	{"dleft", 0.01, "rate in fact", "0.15 %", rateOf},
	{"dleft", 0.001, "bits per key", "23.4", allBits},
	{"deletable", 0.01, "bits per key", "11.5", allBits},
	{"deletable", 0.001, "bits per key", "16.4", allBits},
	{"scalable", 0.01, "bits per key if its first size was right", "12.6", allBits},
	{"partition", 0.01, "bits per key", "46", allBits},
}

// readme compares them with what the kinds predict; that the predictions are right is
// what all else here and the tests of the kinds are about.
var readme, readmeRows = lab.Constants("predicted", "What docs/choosing.md prints, by the formulas of the kinds", constants()...)

func constants() (list []lab.Constant) {
	const n = 1_000_000
	value := func(kind string, rate float64, of func(filter.Prediction) float64) float64 {
		k, err := kinds.ByName(kind)
		if err != nil {
			return math.NaN()
		}
		p, err := k.Predict(kinds.Config{Items: n, FPR: rate}, n)
		if err != nil {
			return math.NaN()
		}
		return of(p)
	}
	for _, c := range claims {
		list = append(list, lab.Constant{Name: fmt.Sprintf("%s at %v %%: %s", c.kind, 100*c.rate, c.what), Printed: c.printed, Where: page, Value: value(c.kind, c.rate, c.value)})
	}
	return append(list, lab.Constant{Name: "counting: times the bits of bloom", Printed: "4.0", Where: page, Value: value("counting", 0.01, allBits) / value("bloom", 0.01, allBits)})
}
