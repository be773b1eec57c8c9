package field

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

var frontier = lab.Experiment{
	ID:       "field/frontier",
	Title:    "Rate, bits and nanoseconds, beside the field",
	Question: "What does each kind cost in memory and in time, and how is that beside cuckoo, quotient, fuse, InfiniFilter, Aleph and Taffy filters at their rates?",
	Says: "docs/choosing.md: bits per key of every kind; the rate that is measured is at most the one that was asked for. Measured with their own code: InfiniFilter and Aleph 16.46 bits per key when they are fullest, " +
		"at 0.93 % after ten doublings; Taffy 36 to 47 bits; cuckoo 12.8 for 0.18 %; binary fuse, which never changes, 9.0 for 0.39 %.",
	Params: lab.Params{lab.Int("keys", 20_000).Full(1_000_000), lab.Int("queries", 100_000).Full(2_000_000), lab.Int("rounds", 5).Full(7), lab.Floats("rates", 0.01, 0.001)},
	Run:    runFrontier,
	Plots: []lab.View{
		{
			Name: "frontier", Title: "Memory at equal rate: theirs measured, ours by formula", X: "rival", Y: lab.Axis{Label: "bits per key"},
			Curves: []lab.Curve{{Name: "theirs", Formula: "bits, theirs", Style: lab.Dots}, {Formula: "perennial", Style: lab.Dots}, {Formula: "blocked", Style: lab.Dots}, {Formula: "log2(1/rate)", Style: lab.Dots}},
		},
		{
			Name: "memory", Title: "Memory at 1 %", X: "kind", At: []any{"asked rate", 0.01}, Y: lab.Axis{Label: "bits per key", Log: true},
			Curves: []lab.Curve{{Name: "all", Measured: "bits per key", Style: lab.Dots}, {Name: "fast", Measured: "fast bits per key", Style: lab.Dots}},
		},
		{
			Name: "time", Title: "Time per operation at 1 %", X: lab.Contenders, Y: lab.Axis{Label: "ns, processor time", Log: true},
			Curves: []lab.Curve{{Measured: "add", Style: lab.Dots}, {Measured: "query", Style: lab.Dots}, {Measured: "delete", Style: lab.Dots}},
		},
	},
	Claims: []lab.Claim{
		{Name: "rates of ours", Printed: "at most the asked one", Where: page, Of: lab.Of("rate"), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
		{Name: "elastic: bits per key", Printed: "thousands", Where: page, Of: lab.Of("bits per key", "kind", "elastic"), Is: lab.AtLeast(lab.Number(1000))},
		{Name: "queries of other kinds to those of blocked", Printed: "0.75 or more even in the caches, where the number of lines does not count", Where: page, Of: timeTo("query", "blocked"), Is: lab.AtLeast(lab.Number(0.75))},
		{Name: "perennial to InfiniFilter, at its rate", Printed: "1.05 or less, though InfiniFilter is fullest", Where: "docs/findings.md", Of: bitsTo("InfiniFilter"), Is: lab.AtMost(lab.Number(1.05))},
		{Name: "perennial to Taffy cuckoo, at its rate", Printed: "less than 0.6", Where: "docs/findings.md", Of: bitsTo("Taffy cuckoo"), Is: lab.Below(lab.Number(0.6))},
		{
			Kind: lab.Question, Name: "what growing costs beside a set of fixed size", Of: bitsTo("cuckoo, 12 bits"), Is: lab.Shows(),
			Show: []lab.Pick{bitsTo("vector quotient"), bitsTo("binary fuse")},
		},
		{Kind: lab.Question, Name: "what other kinds cost in time, beside blocked", Of: timeTo("add", "blocked"), Is: lab.Shows(), Show: []lab.Pick{timeTo("query", "blocked")}},
	},
}

// A rival is a filter of others with figures measured with its authors' or maintainers'
// code, by this project, on a shared machine with two cores. Rivals are not requirements
// of this module, so they are not run; docs/benchmarks.md has those in Go, beside ours.
type rival struct {
	name           string
	rate, bits     float64 // per key, at 95 % fill or when fullest
	insert, absent float64 // ns; of a query the middle of a range
}

// theirs are in order of their bits, with 1 or 10 million keys.
var theirs = []rival{
	{"fuse (Go)", 0.00389, 9.0, 80, 6.8},
	{"binary fuse", 0.00388, 9.02, 52, 5.6},
	{"xor (Go)", 0.00384, 9.9, 114, 8.0},
	{"cuckoo, 9 bits (Go)", 0.00751, 10.5, 133, 52},
	{"split block", 0.00944, 10.67, 3.6, 4.5},
	{"prefix", 0.00393, 11.48, 21, 18},
	{"vector quotient", 0.00435, 11.47, 39, 21},
	{"cuckoo, 12 bits", 0.00182, 12.77, 44, 9.6},
	{"semi-sorted cuckoo", 0.000915, 12.77, 238, 67},
	{"InfiniFilter", 0.0093, 16.46, 330, 170},
	{"Aleph", 0.0093, 16.46, 440, 160},
	{"cuckoo, 16 bits (Go)", 0.000108, 16.8, 59, 24},
	{"counting quotient", 0.00233, 17.03, 238, 150},
	{"Taffy cuckoo", 0.0021, 36.4, 360, 98},
	{"Taffy block", 0.0028, 43, 17, 82},
}

func timeTo(work, other string) lab.Pick {
	return lab.Of(work).Over(lab.Of(work, lab.Contenders, other))
}

func bitsTo(rival string) lab.Pick {
	return lab.Of("perennial", "rival", rival).Over(lab.Of("bits, theirs"))
}

func runFrontier(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, queries, all := e.Int("keys"), e.Int("queries"), kindDim(kinds.All())
	return lab.Find(ctx, e, lab.Sweep{
		Name: "ours", Title: "Ours, by the rate that was asked for", Dims: []lab.Dim{all, lab.Along("asked rate", e.Floats("rates")...)}, Trials: 1,
		Trial: func(at lab.At, r *rand.Rand) (lab.Figures, error) {
			s, err := newSubject(at.Name("kind"), n, at.Float("asked rate"), walk.NewKeys(r))
			if err != nil {
				return nil, err
			}
			looks, err := walk.Through(ctx, s.Filter, s.keys, []int{n}, queries, false)
			if err != nil {
				return nil, err
			}
			return looks[0].Figures(), nil
		},
		Metrics:  walk.Metrics(queries),
		Formulas: []lab.Formula{{Name: "asked", Unit: lab.InPercent, Of: func(at lab.At) float64 { return at.Float("asked rate") }}},
	}, lab.Race{
		Name: "times", Title: "Ours at 1 %, processor time", Contenders: all.Names, Rounds: e.Int("rounds"),
		Start: func(_ lab.At, name string, r *rand.Rand) ([]lab.Lap, error) { return laps(name, walk.NewKeys(r), n) },
	}, theirGrid(n), lab.Notes{
		"Ours are measured in this run, each made for the number of keys that it gets; bits per key are what Info says. Queries are for present and absent keys, as many of each. With few keys most filters are in the caches: docs/benchmarks.md has fifty million.",
		"Theirs were measured with their own code on a shared machine, at another time: rates and bits per key are exact, times good to a factor of two, those of C++ without the cost of hashing. See internal/lab/field/frontier.go. " +
			"InfiniFilter and Aleph are at their fullest after ten doublings; perennial/size has the others.",
	})
}

// laps are strides of all operations.
func laps(name string, k walk.Keys, n int) (list []lab.Lap, err error) {
	s, err := newSubject(name, n, rate, k)
	if err != nil {
		return nil, err
	}
	work := func(name string, do func(i int) error) { list = append(list, walk.Strides(name, n, 1_000, do)...) }
	work("add", func(int) error { return s.add(1) })
	work("query", func(i int) error { s.MayContain(k.Present(i)); return nil })
	work("query", func(i int) error { s.MayContain(k.Absent(i)); return nil })
	if _, ok := s.Filter.(filter.Deleter); ok {
		work("delete", func(int) error { return s.delete(1) })
	}
	return list, nil
}

// theirGrid has the figures of others, and the bits that ours take at their rate.
func theirGrid(n int) lab.Part {
	of := func(name string, unit lab.Unit, value func(r rival) float64) lab.Formula {
		return lab.Formula{Name: name, Unit: unit, Of: func(at lab.At) float64 { return value(theirs[at.Int("rival")]) }}
	}
	bits := func(kind string) lab.Formula {
		return of(kind, lab.Plain, func(r rival) float64 {
			p, err := predict(kind, n, r.rate)
			if err != nil {
				return math.NaN()
			}
			return p.FastBitsPerKey + p.SlowBitsPerKey
		})
	}
	return lab.Computed("theirs", "Theirs, and ours at their rate (bits per key, all memory)", []lab.Dim{lab.AmongAll("rival", theirs, func(r rival) string { return r.name })},
		of("rate, theirs", lab.InPercent, func(r rival) float64 { return r.rate }), of("bits, theirs", lab.Plain, func(r rival) float64 { return r.bits }),
		of("insert, theirs", "ns", func(r rival) float64 { return r.insert }), of("absent, theirs", "ns", func(r rival) float64 { return r.absent }),
		bits("perennial"), bits("blocked"), of("log2(1/rate)", lab.Plain, func(r rival) float64 { return -math.Log2(r.rate) }))
}

// predict is what a kind of n keys at a rate is like by its formulas.
func predict(name string, n int, rate float64) (p filter.Prediction, err error) {
	k, err := kinds.ByName(name)
	if err != nil {
		return p, err
	}
	return k.Predict(kinds.Config{Items: uint64(n), FPR: rate}, uint64(n))
}
