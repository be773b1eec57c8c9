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
	Question: "What does each kind cost in memory and in time, at an equal rate and at equal memory, and what can it do?",
	Says: "docs/choosing.md: bits per key of every kind at 1 % and 0.1 %; blocked has the fastest queries of sets that are not in the caches; the rate that is measured is at most the one that was asked for. " +
		"Design 4: at equal total memory (80 bits) evergreen loses on rate to everything; a Go map of 64-bit keys takes 194 to 303 bits per key.",
	Quick: compareParams(20_000, 100_000, 5), Full: compareParams(1_000_000, 2_000_000, 7),
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
		{
			Name: "rate-over-all", Title: "The rate that memory buys, all of it counted", X: "memory", By: "kind", Only: []any{"bloom", "counting", "dleft", "perennial", "evergreen"},
			XAxis: lab.Axis{Label: "bits per key, fast and slow"}, Y: lab.Axis{Label: "false positives", Log: true}, Curves: []lab.Curve{{Formula: "lowest rate"}},
		},
	},
	Claims: append(readmeClaims(),
		lab.Claim{Name: "rates", Printed: "the rate that is measured is at most the one that was asked for", Where: page, Of: lab.Of("rate"), Is: lab.AtMost(lab.Of("asked"))},
		lab.Claim{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
		lab.Claim{Name: "elastic: bits per key", Printed: "thousands", Where: page, Of: lab.Of("bits per key", "kind", "elastic"), Is: lab.AtLeast(lab.Number(1000))},
		lab.Claim{
			Name: "rate of evergreen with 84 bits per key in all", Printed: "at equal total memory evergreen loses on rate to everything", Where: "design 4",
			Of: lab.Of("lowest rate", "memory", 84), Is: lab.AtMost(lab.Of("lowest rate", "memory", 84, "kind", "evergreen")),
		},
		lab.Claim{Name: "bits per key of a Go map", Printed: "194 to 303", Where: "design 4", Of: lab.Of("bits per key", "kind", exactName), Is: lab.Inside("194", "303"), FullOnly: true},
		lab.Claim{
			Name: "queries of other kinds to those of blocked", Printed: "0.75 or more even in the caches, where the number of lines does not count", Where: page,
			Of: lab.Of("queries").Over(lab.Of("queries", lab.Contenders, "blocked")), Is: lab.AtLeast(lab.Number(0.75)),
		}),
}

func compareParams(keys, queries, rounds int) lab.Params {
	return lab.Params{
		lab.Int("keys", keys), lab.Float("rate", 0.01), lab.Int("queries", queries), lab.Int("rounds", rounds), lab.Int("stride", 1_000),
		lab.Floats("memory", 12, 24, 48, 84), lab.Int("planned keys", 1_000_000),
	}
}

func runCompare(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	e.Part(0, 2)
	all := append(entrants(), entrant{name: exactName, make: func(uint64, float64) (filter.Filter, error) {
		return exact{map[filter.Key]struct{}{}}, nil
	}})
	// Nothing else may use the heap meanwhile.
	rates, err := atEqualRate(ctx, e, all, exactBits(walk.NewKeys(e.Rand(0)), e.Int("keys")))
	if err != nil {
		return nil, err
	}
	e.Part(1, 2)
	race := lab.Race{
		Name: "times", Title: "Time per operation", Contenders: names(all), Rounds: e.Int("rounds"),
		Start: func(_ lab.At, name string, r *rand.Rand) ([]lab.Lap, error) {
			for _, x := range all {
				if x.name == name {
					return laps(x, walk.NewKeys(r), e.Int("keys"), e.Int("stride"), e.Float("rate"))
				}
			}
			return nil, fmt.Errorf("no kind %q", name)
		},
	}
	times, err := race.Run(ctx, e)
	return &lab.Result{Grids: []*lab.Grid{rates, times, readme, equalMemory(e)}, Tables: []lab.Table{abilityTable()}, Notes: []string{
		"Every kind is made for the number of keys that it gets, which is the best case of those that grow. Bits per key are what Info says; fast ones are read by queries, slow ones by changes only.",
		"Times are processor time. With so few keys most filters are in the processor's caches: docs/benchmarks.md has fifty million keys, and rivals. \"queries\" are for present and absent keys in turn.",
		"Rates over memory are by the formulas of the kinds, for the planned number of keys.",
	}}, err
}

// atEqualRate fills all entrants and measures memory and rate.
func atEqualRate(ctx context.Context, e *lab.Env, all []entrant, exactBits float64) (*lab.Grid, error) {
	n, queries := e.Int("keys"), e.Int("queries")
	return lab.Sweep(ctx, e, lab.Spec[walk.Look]{
		Name: "equal-rate", Title: fmt.Sprintf("%d keys, asked for %s", n, lab.Percent(e.Float("rate"))), Dims: []lab.Dim{lab.Among("kind", names(all)...)}, Trials: 1,
		Trial: func(at lab.At, r *rand.Rand) (walk.Look, error) {
			x, k := all[at.Int("kind")], walk.NewKeys(r)
			f, err := x.make(uint64(n), e.Float("rate"))
			if err != nil {
				return walk.Look{}, err
			}
			refused, err := fill(f, k, 0, n)
			if err = errors.Join(err, ctx.Err()); err != nil || refused > 0 {
				return walk.Look{}, fmt.Errorf("%s: %d keys refused: %w", x.name, refused, err)
			}
			l := (&walk.Walker{F: f, Keys: k, Next: n}).Look(queries)
			l.Denied = float64(denied(f, k, 0, n))
			if x.name == exactName {
				l.Fast = exactBits
			}
			return l, nil
		},
		Metrics: walk.Metrics(queries),
		Formulas: []lab.Formula{
			{Name: "asked", Unit: lab.InPercent, Of: func(lab.At) float64 { return e.Float("rate") }},
			{Name: "lines, present", Of: func(at lab.At) float64 {
				return predicted(all[at.Int("kind")], n, e.Float("rate"), func(p filter.Prediction) float64 { return p.HitLines })
			}},
			{Name: "lines, absent", Of: func(at lab.At) float64 {
				return predicted(all[at.Int("kind")], n, e.Float("rate"), func(p filter.Prediction) float64 { return p.MissLines })
			}},
		},
	})
}

func predicted(x entrant, n int, rate float64, of func(filter.Prediction) float64) float64 {
	if x.predict == nil {
		return math.NaN()
	}
	p, err := x.predict(uint64(n), rate)
	if err != nil {
		return math.NaN()
	}
	return of(p)
}

// laps are strides of all operations. Refusals for want of room and of keys that are
// pinned are answers, too.
func laps(x entrant, k walk.Keys, n, stride int, rate float64) (list []lab.Lap, err error) {
	f, err := x.make(uint64(n), rate)
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

// equalMemory gives all kinds the same memory in all, by their formulas, and has them
// make the best of it.
func equalMemory(e *lab.Env) *lab.Grid {
	list, n := entrants(), uint64(e.Int("planned keys"))
	offers := make([][]filter.Prediction, len(list))
	for i, x := range list {
		for exponent := 0.3; exponent <= 9; exponent += 0.1 {
			if p, err := x.predict(n, math.Pow(10, -exponent)); err == nil && p.FPR > 0 {
				offers[i] = append(offers[i], p)
			}
		}
	}
	return lab.Computed("equal-memory", "Equal memory in all: the lowest rate that each kind can have", []lab.Dim{lab.Among("kind", names(list)...), lab.Along("memory", e.Floats("memory")...)},
		lab.Formula{Name: "lowest rate", Unit: lab.InPercent, Of: func(at lab.At) float64 { return lowest(offers[at.Int("kind")], at.Float("memory")) }})
}

// lowest is the lowest rate that fits into so many bits per key, NaN if nothing does.
func lowest(offers []filter.Prediction, bits float64) float64 {
	best := math.NaN()
	for _, p := range offers {
		if allBits(p) <= bits && !(p.FPR >= best) {
			best = p.FPR
		}
	}
	return best
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

func readmeClaims() []lab.Claim { return readmeRows }

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
