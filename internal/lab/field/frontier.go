package field

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

// ours are the kinds on the frontier: fixed size, deleting, growing.
var ours = []string{"bloom", "blocked", "dleft", "perennial", "evergreen"}

var frontier = lab.Experiment{
	ID:       "field/frontier",
	Title:    "Rate, bits and nanoseconds, beside the field",
	Question: "What do our kinds cost in memory and in time at the rates that cuckoo, quotient, fuse, InfiniFilter, Aleph and Taffy filters have?",
	Says: "README and docs/choosing.md: perennial grows and shrinks in about 16 bits per key. Measured with their own code: InfiniFilter and Aleph 16.46 bits per key when they are fullest, at 0.93 % after ten doublings; " +
		"Taffy 36 to 47 bits; cuckoo 12.8 for 0.18 %; binary fuse, which never changes, 9.0 for 0.39 %.",
	Quick: frontierParams(50_000, 50_000, 5), Full: frontierParams(1_000_000, 2_000_000, 11),
	Run: runFrontier,
	Claims: []lab.Claim{
		{Name: "rates of ours", Printed: "at most the asked one", Where: "docs/choosing.md", Of: lab.Of("rate"), Is: lab.AtMost(lab.Of("asked"))},
		{
			Name: "perennial to InfiniFilter, at its rate", Printed: "1.05 or less, though InfiniFilter is fullest", Where: "docs/findings.md",
			Of: lab.Of("perennial to theirs", "rival", "InfiniFilter, fullest, tenth doubling"), Is: lab.AtMost(lab.Number(1.05)),
		},
		{Name: "perennial to Taffy cuckoo, at its rate", Printed: "less than 0.6", Where: "docs/findings.md", Of: lab.Of("perennial to theirs", "rival", "Taffy cuckoo"), Is: lab.Below(lab.Number(0.6))},
		{
			Kind: lab.Question, Name: "what growing costs beside a set of fixed size", Of: lab.Of("perennial to theirs", "rival", "cuckoo, 12 bits"), Is: lab.Shows(),
			Show: []lab.Pick{lab.Of("perennial to theirs", "rival", "vector quotient"), lab.Of("perennial to theirs", "rival", "binary fuse, 8 bits"), lab.Of("evergreen to theirs", "rival", "cuckoo, 12 bits")},
		},
		{
			Kind: lab.Question, Name: "what growing costs in time, beside blocked", Of: lab.Of("absent", lab.Contenders, "perennial").Over(lab.Of("absent", lab.Contenders, "blocked")), Is: lab.Shows(),
			Show: []lab.Pick{lab.Of("add", lab.Contenders, "perennial").Over(lab.Of("add", lab.Contenders, "blocked")), lab.Of("absent", lab.Contenders, "evergreen").Over(lab.Of("absent", lab.Contenders, "blocked"))},
		},
	},
}

func frontierParams(keys, queries, rounds int) lab.Params {
	return lab.Params{lab.Int("keys", keys), lab.Int("queries", queries), lab.Int("rounds", rounds), lab.Floats("rates", 0.03, 0.01, 0.003, 0.001, 0.0003)}
}

func runFrontier(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, queries := e.Int("keys"), e.Int("queries")
	rates, err := lab.Sweep(ctx, e, lab.Spec[walk.Look]{
		Name: "ours", Title: "Ours, by the rate that was asked for", Dims: []lab.Dim{lab.Among("kind", ours...), lab.Along("asked rate", e.Floats("rates")...)}, Trials: 1,
		Trial: func(at lab.At, r *rand.Rand) (walk.Look, error) {
			f, err := newKind(at.Name("kind"), n, at.Float("asked rate"))
			if err != nil {
				return walk.Look{}, err
			}
			all, err := (&walk.Walker{F: f, Keys: walk.NewKeys(r)}).Through(ctx, []int{n}, queries)
			if err != nil {
				return walk.Look{}, err
			}
			return all[0], nil
		},
		Metrics:  walk.Metrics(queries),
		Formulas: []lab.Formula{{Name: "asked", Unit: lab.InPercent, Of: func(at lab.At) float64 { return at.Float("asked rate") }}},
	})
	if err != nil {
		return nil, err
	}
	times, err := lab.Race{
		Name: "times", Title: "Ours at 1 %, processor time", Contenders: ours, Rounds: e.Int("rounds"),
		Start: func(_ lab.At, name string, r *rand.Rand) ([]lab.Lap, error) { return operations(name, n, r) },
	}.Run(ctx, e)
	if err != nil {
		return nil, err
	}
	return &lab.Result{Grids: []*lab.Grid{rates, times, theirGrid(uint64(n))}, Plots: []lab.Plot{bitsPlot(e.Floats("rates"), uint64(n))}, Notes: []string{
		"Ours are measured in this run. Theirs were measured with their own code on a shared machine, at another time: rates and bits per key are exact, times good to a factor of two, those of C++ without the cost of hashing. See internal/lab/field/theirs.go.",
		"InfiniFilter and Aleph have up to twice these bits after a doubling, and their rate rises from 0.16 to 0.93 % over the ten doublings; perennial has its rate and its bits at every size (perennial/size).",
	}}, nil
}

func newKind(name string, n int, rate float64) (filter.Filter, error) {
	k, err := kinds.ByName(name)
	if err != nil {
		return nil, err
	}
	return k.New(kinds.Config{Items: uint64(n), FPR: rate})
}

// operations are timed in strides.
func operations(name string, n int, r *rand.Rand) ([]lab.Lap, error) {
	const stride = 1_000
	f, err := newKind(name, n, 0.01)
	if err != nil {
		return nil, err
	}
	k := walk.NewKeys(r)
	return slices.Concat(
		walk.Strides("add", n, stride, func(i int) error { _, err := f.Add(k.Member(i)); return err }),
		walk.Strides("present", n, stride, func(i int) error { f.MayContain(k.Member(i)); return nil }),
		walk.Strides("absent", n, stride, func(i int) error { f.MayContain(k.Stranger(i)); return nil })), nil
}

// bitsAt is what a kind takes for n keys at a rate, all memory counted.
func bitsAt(name string, n uint64, rate float64) float64 {
	k, err := kinds.ByName(name)
	if err != nil {
		return math.NaN()
	}
	p, err := k.Predict(kinds.Config{Items: n, FPR: rate}, n)
	if err != nil {
		return math.NaN()
	}
	return p.FastBitsPerKey + p.SlowBitsPerKey
}

// theirGrid has the figures of others, and what ours take at equal rate.
func theirGrid(n uint64) *lab.Grid {
	names := make([]string, len(theirs))
	for i, r := range theirs {
		names[i] = r.name
	}
	of := func(name string, unit lab.Unit, value func(r rival) float64) lab.Formula {
		return lab.Formula{Name: name, Unit: unit, Of: func(at lab.At) float64 { return value(theirs[at.Int("rival")]) }}
	}
	return lab.Computed("theirs", "Theirs, and ours at equal rate (bits per key, all memory)", []lab.Dim{lab.Among("rival", names...)},
		of("rate, theirs", lab.InPercent, func(r rival) float64 { return r.rate }),
		of("bits, theirs", lab.Plain, func(r rival) float64 { return r.bits }),
		of("insert, theirs", "ns", func(r rival) float64 { return r.insert }),
		of("absent, theirs", "ns", func(r rival) float64 { return r.absent }),
		of("log2(1/rate)", lab.Plain, func(r rival) float64 { return -math.Log2(r.rate) }),
		of("blocked to theirs", lab.Plain, func(r rival) float64 { return bitsAt("blocked", n, r.rate) / r.bits }),
		of("perennial to theirs", lab.Plain, func(r rival) float64 { return bitsAt("perennial", n, r.rate) / r.bits }),
		of("evergreen to theirs", lab.Plain, func(r rival) float64 { return bitsAt("evergreen", n, r.rate) / r.bits }))
}

// bitsPlot draws the rate over the bits: ours by their formulas, theirs as dots.
func bitsPlot(rates []float64, n uint64) lab.Plot {
	p := lab.Plot{
		Name: "frontier", Title: "The rate that memory buys: ours by formula, theirs measured", X: lab.Axis{Label: "bits per key, all memory"}, Y: lab.Axis{Label: "false positives", Log: true, Percent: true},
	}
	for i, name := range []string{"blocked", "perennial"} {
		s := lab.Series{Name: name, Style: lab.LinePoints, Color: i + 1}
		for _, rate := range rates {
			if bits := bitsAt(name, n, rate); !math.IsNaN(bits) {
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
