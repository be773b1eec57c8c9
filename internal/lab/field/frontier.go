package field

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

const (
	found = "a key that is in the set is always found"
	page  = "docs/choosing.md"
)

var frontier = lab.Experiment{
	ID:       "field/frontier",
	Title:    "Rate, bits and nanoseconds, beside the field",
	Question: "What does each kind cost in memory and in time, and how is that beside cuckoo, quotient, fuse, InfiniFilter, Aleph and Taffy filters at their rates?",
	Says: "docs/choosing.md: bits per key of every kind; the rate that is measured is at most the one that was asked for. Measured with their own code: InfiniFilter and Aleph 16.46 bits per key when they are fullest, " +
		"at 0.93 % after ten doublings; Taffy 36 to 47 bits; cuckoo 12.8 for 0.18 %; binary fuse, which never changes, 9.0 for 0.39 %.",
	Quick: frontierParams(20_000, 100_000, 5), Full: frontierParams(1_000_000, 2_000_000, 7),
	Run: runFrontier,
	Plots: []lab.View{
		{
			Name: "memory", Title: "Memory at 1 %", X: "kind", At: []any{"asked rate", 0.01}, Y: lab.Axis{Label: "bits per key", Log: true},
			Curves: []lab.Curve{{Name: "all", Measured: "bits per key", Style: lab.Dots}, {Name: "fast", Measured: "fast bits per key", Style: lab.Dots}},
		},
		{
			Name: "time", Title: "Time per operation at 1 %", X: lab.Contenders, Y: lab.Axis{Label: "ns, processor time", Log: true},
			Curves: []lab.Curve{{Measured: "add", Style: lab.Dots}, {Measured: "present", Style: lab.Dots}, {Measured: "absent", Style: lab.Dots}, {Measured: "delete", Style: lab.Dots}},
		},
	},
	Claims: append(readmeRows,
		lab.Claim{Name: "rates of ours", Printed: "at most the asked one", Where: page, Of: lab.Of("rate"), Is: lab.AtMost(lab.Of("asked"))},
		lab.Claim{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
		lab.Claim{Name: "elastic: bits per key", Printed: "thousands", Where: page, Of: lab.Of("bits per key", "kind", "elastic"), Is: lab.AtLeast(lab.Number(1000))},
		lab.Claim{Name: "queries of other kinds to those of blocked", Printed: "0.75 or more even in the caches, where the number of lines does not count", Where: page, Of: timeTo("queries", "blocked"), Is: lab.AtLeast(lab.Number(0.75))},
		lab.Claim{Name: "perennial to InfiniFilter, at its rate", Printed: "1.05 or less, though InfiniFilter is fullest", Where: "docs/findings.md", Of: bitsTo("perennial", "InfiniFilter, fullest, tenth doubling"), Is: lab.AtMost(lab.Number(1.05))},
		lab.Claim{Name: "perennial to Taffy cuckoo, at its rate", Printed: "less than 0.6", Where: "docs/findings.md", Of: bitsTo("perennial", "Taffy cuckoo"), Is: lab.Below(lab.Number(0.6))},
		lab.Claim{
			Kind: lab.Question, Name: "what growing costs beside a set of fixed size", Of: bitsTo("perennial", "cuckoo, 12 bits"), Is: lab.Shows(),
			Show: []lab.Pick{bitsTo("perennial", "vector quotient"), bitsTo("perennial", "binary fuse, 8 bits"), bitsTo("evergreen", "cuckoo, 12 bits")},
		},
		lab.Claim{Kind: lab.Question, Name: "what other kinds cost in time, beside blocked", Of: timeTo("absent", "blocked"), Is: lab.Shows(), Show: []lab.Pick{timeTo("add", "blocked")}}),
}

func timeTo(work, other string) lab.Pick {
	return lab.Of(work).Over(lab.Of(work, lab.Contenders, other))
}

func bitsTo(kind, rival string) lab.Pick { return lab.Of(kind+" to theirs", "rival", rival) }

func frontierParams(keys, queries, rounds int) lab.Params {
	return lab.Params{lab.Int("keys", keys), lab.Int("queries", queries), lab.Int("rounds", rounds), lab.Floats("rates", 0.01, 0.001)}
}

func runFrontier(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, queries, all := e.Int("keys"), e.Int("queries"), kinds.All()
	e.Part(0, 2)
	rates, err := lab.Sweep(ctx, e, lab.Spec[walk.Look]{
		Name: "ours", Title: "Ours, by the rate that was asked for", Dims: []lab.Dim{kindDim(all), lab.Along("asked rate", e.Floats("rates")...)}, Trials: 1,
		Trial: func(at lab.At, r *rand.Rand) (walk.Look, error) {
			f, err := build(all[at.Int("kind")], n, at.Float("asked rate"))
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
		Formulas: []lab.Formula{{Name: "asked", Unit: lab.InPercent, Of: func(at lab.At) float64 { return at.Float("asked rate") }}},
	})
	if err != nil {
		return nil, err
	}
	e.Part(1, 2)
	times, err := lab.Race{
		Name: "times", Title: "Ours at 1 %, processor time", Contenders: kindDim(all).Names, Rounds: e.Int("rounds"),
		Start: func(_ lab.At, name string, r *rand.Rand) ([]lab.Lap, error) {
			k, err := kinds.ByName(name)
			if err != nil {
				return nil, err
			}
			return laps(k, walk.NewKeys(r), n, 1_000, 0.01)
		},
	}.Run(ctx, e)
	return &lab.Result{Grids: []*lab.Grid{rates, times, readme, theirGrid(n)}, Plots: []lab.Plot{bitsPlot(n)}, Notes: []string{
		"Ours are measured in this run, each made for the number of keys that it gets; bits per key are what Info says. \"queries\" are for present and absent keys in turn. With few keys most filters are in the caches: docs/benchmarks.md has fifty million.",
		"Theirs were measured with their own code on a shared machine, at another time: rates and bits per key are exact, times good to a factor of two, those of C++ without the cost of hashing. See internal/lab/field/theirs.go. " +
			"InfiniFilter and Aleph have up to twice these bits after a doubling, and their rate rises from 0.16 to 0.93 % over the ten doublings; perennial has its rate and its bits at every size (perennial/size).",
	}}, err
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

// predict is what a kind of n keys at a rate is like by its formulas.
func predict(name string, n int, rate float64, of func(filter.Prediction) float64) float64 {
	k, err := kinds.ByName(name)
	if err != nil {
		return math.NaN()
	}
	p, err := k.Predict(kinds.Config{Items: uint64(n), FPR: rate}, uint64(n))
	if err != nil {
		return math.NaN()
	}
	return of(p)
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
	for _, c := range claims {
		list = append(list, lab.Constant{Name: fmt.Sprintf("%s at %v %%: %s", c.kind, 100*c.rate, c.what), Printed: c.printed, Where: page, Value: predict(c.kind, n, c.rate, c.value)})
	}
	return append(list, lab.Constant{Name: "counting: times the bits of bloom", Printed: "4.0", Where: page, Value: predict("counting", n, 0.01, allBits) / predict("bloom", n, 0.01, allBits)})
}

// theirGrid has the figures of others, and what ours take at equal rate.
func theirGrid(n int) *lab.Grid {
	of := func(name string, unit lab.Unit, value func(r rival) float64) lab.Formula {
		return lab.Formula{Name: name, Unit: unit, Of: func(at lab.At) float64 { return value(theirs[at.Int("rival")]) }}
	}
	return lab.Computed("theirs", "Theirs, and ours at equal rate (bits per key, all memory)", []lab.Dim{lab.AmongAll("rival", theirs, func(r rival) string { return r.name })},
		of("rate, theirs", lab.InPercent, func(r rival) float64 { return r.rate }),
		of("bits, theirs", lab.Plain, func(r rival) float64 { return r.bits }),
		of("insert, theirs", "ns", func(r rival) float64 { return r.insert }),
		of("absent, theirs", "ns", func(r rival) float64 { return r.absent }),
		of("log2(1/rate)", lab.Plain, func(r rival) float64 { return -math.Log2(r.rate) }),
		of("blocked to theirs", lab.Plain, func(r rival) float64 { return predict("blocked", n, r.rate, allBits) / r.bits }),
		of("perennial to theirs", lab.Plain, func(r rival) float64 { return predict("perennial", n, r.rate, allBits) / r.bits }),
		of("evergreen to theirs", lab.Plain, func(r rival) float64 { return predict("evergreen", n, r.rate, allBits) / r.bits }))
}

// bitsPlot draws the rate over the bits: ours by their formulas, theirs as dots.
func bitsPlot(n int) lab.Plot {
	rates := []float64{0.03, 0.01, 0.003, 0.001, 0.0003}
	p := lab.Plot{
		Name: "frontier", Title: "The rate that memory buys: ours by formula, theirs measured", X: lab.Axis{Label: "bits per key, all memory"}, Y: lab.Axis{Label: "false positives", Log: true, Percent: true},
	}
	for i, name := range []string{"blocked", "perennial"} {
		s := lab.Series{Name: name, Style: lab.LinePoints, Color: i + 1}
		for _, rate := range rates {
			if bits := predict(name, n, rate, allBits); !math.IsNaN(bits) {
				s.Points = append(s.Points, lab.Point{X: bits, Y: rate})
			}
		}
		p.Series = append(p.Series, s)
	}
	bound := lab.Series{Name: "log2(1/rate)", Style: lab.Dashed, Color: 3}
	for _, rate := range []float64{rates[0], rates[len(rates)-1]} {
		bound.Points = append(bound.Points, lab.Point{X: -math.Log2(rate), Y: rate})
	}
	fixed, growing := lab.Series{Name: "theirs, fixed size", Style: lab.Dots, Color: 4}, lab.Series{Name: "theirs, growing", Style: lab.Dots, Color: 5}
	var left []string
	for _, r := range theirs {
		s := &fixed
		if r.grows {
			s = &growing
		}
		s.Points = append(s.Points, lab.Point{X: r.bits, Y: r.rate})
		left = append(left, r.name)
	}
	p.Series = append(p.Series, bound, fixed, growing)
	p.Notes = []string{"Theirs from left to right: " + strings.Join(left, "; ") + ". evergreen stores whole keys, at some 80 bits, and is not drawn."}
	return p
}
