package dlcbf06

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var failsafe = lab.Experiment{
	ID:       "dlcbf06/failsafe",
	Paper:    paper,
	Title:    "Moving keys to avoid overflow, at a load of 6.75 and above",
	Question: "Does moving one key of the first subarray always make room at a load of 6.75, how often is it needed, and how far do more moves carry?",
	Says: "Sec. 5.2: with elements of the first subarray moved to another of their choices an average load of 6.75 (55,296 elements) was handled " +
		"without overflow in 10,000 trials. A potential overflow occurred between 40 to 100 times in each trial. Greater loads could be handled by more movement.",
	Quick: lab.Params{lab.Int("trials", 4), lab.Int("steps", paperSteps), lab.Floats("further loads", 7.5), lab.Int("further trials", 2), lab.Int("further steps", 1<<16)},
	Full: lab.Params{
		lab.Int("trials", paperTrials), lab.Int("steps", paperSteps),
		lab.Floats("further loads", 7.25, 7.375, 7.5, 7.625, 7.75, 7.875, 7.9375), lab.Int("further trials", 10), lab.Int("further steps", 1<<19),
	},
	Run: runFailsafe,
	Plots: []lab.View{
		{
			Name: "moves", Title: "Keys moved in a trial, load 6.75", X: "moves, in fives", Y: lab.Axis{Label: "share of trials", Percent: true},
			Curves: []lab.Curve{{Name: "measured", Measured: "trials with these moves", Style: lab.Dots}, {Name: "what the printed range needs", Formula: "with a mean of 67"}},
			Marks:  []lab.Mark{{X: 40, Text: "between 40 to 100"}, {X: 100}},
		},
		{
			Name: "no-room", Title: "Trials in which some key found no room", X: "load", By: movement, XAxis: lab.Axis{Label: "keys per bucket of 8"}, Y: lab.Axis{Label: "share of trials", Percent: true},
			Curves: []lab.Curve{{Measured: "no room"}},
		},
	},
	Claims: []lab.Claim{
		{Name: "no overflow at a load of 6.75", Printed: "0 of 10,000 trials in which moving made no room", Where: "Sec. 5.2", Of: lab.Of("no room for a key"), Is: lab.Zero()},
		{
			Name: "moves in a trial", Printed: "between 40 to 100, taken as 35 to 105", Where: "Sec. 5.2", Of: lab.Of("trials outside 35 to 105"), Is: lab.Zero(), Show: []lab.Pick{lab.Of("moves"), lab.Of("least"), lab.Of("most")}, FullOnly: true,
			Why: "unexplained. 2^20 steps give 59 moves on average, from about 30 to 90. The printed range needs an average of 67. Elements with cells of their own would have it, but not 254 overflows at a load of 6.5, nor the simulated column of Table 1. " +
				"64/3 steps for each element, which are the 2^20 of 49,152, would fit all three; the paper does not say so",
		},
		{Kind: lab.Own, Name: "moves by the fluid limit", Printed: "1.0 times the keys that find four full buckets, from the first step on", Of: lab.Of("moves").Over(lab.Of("moves by the fluid limit")), Is: lab.Agrees(0), Show: []lab.Pick{lab.Of("moves by the steady state")}},
		{Kind: lab.Question, Name: "readings: moves on average, 66 to 71 are needed", Of: lab.Of("moves at 6.75"), Is: lab.Shows()},
		{Kind: lab.Question, Name: "readings: overflows of 10,000 at 6.5, 254 are printed", Of: lab.Of("overflows at 6.5"), Is: lab.Shows()},
		{Kind: lab.Question, Name: "readings: load ≥ 7 of Table 1, 0.2868 is printed", Of: lab.Of("load ≥ 7"), Is: lab.Shows()},
		{
			Name: "greater loads by more movement", Printed: "could be handled by allowing more movement", Where: "Sec. 5.2", Of: lab.Of("no room", movement, "one move, any subarray", "load", 7.5), Is: lab.Below(lab.Of("no room", movement, "one move, first subarray")),
			FullOnly: true, Show: []lab.Pick{lab.Of("no room", movement, "two moves, any subarray", "load", 7.9375), lab.Of("no room", movement, "one move, any subarray", "load", 7.9375)},
		},
		{Kind: lab.Own, Name: "no key is denied, however many were moved", Printed: "none", Of: lab.Of("denied"), Is: lab.Zero()},
	},
}

const movement = "movement"

// bin is the width of the bars of moves.
const bin = 5

func runFailsafe(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	const n = 6.75 * exampleBuckets
	steps := e.Int("steps")
	e.Part(0, 2)
	trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (life, error) { return live(n, steps, steps, 0, r) })
	if err != nil {
		return nil, err
	}
	least, most := math.Inf(1), 0.0
	for _, t := range trials {
		least, most = min(least, t.moved), max(most, t.moved)
	}
	means := lab.Gather(trials, lab.Spec[life]{
		Name: "moved", Title: "Trials at a load of 6.75",
		Metrics: []lab.Metric[life]{
			{Name: "moves", Of: func(l life) float64 { return l.moved }},
			{Name: "no room for a key", Of: func(l life) float64 { return l.noRoom }},
			{Name: "trials outside 35 to 105", Of: func(l life) float64 { return lab.OneIf(l.moved < 35 || l.moved > 105) }},
		},
		Formulas: []lab.Formula{
			lab.Fixed("least", lab.Plain, least), lab.Fixed("most", lab.Plain, most),
			lab.Fixed("moves by the fluid limit", lab.Plain, theory.DLeftChurnFull(4, 8, 2048, distinct(n), float64(steps))),
			lab.Fixed("moves by the steady state", lab.Plain, theory.DLeftSteadyOverflow(4, 8, 2048, distinct(n), 1e-3)*1e3*float64(steps)),
		},
		Notes: []string{"Just inserted keys lie more evenly than those of the steady state, which the first steps lead to. A single number of trials spreads a little wider than a Poisson one."},
	})
	e.Part(1, 2)
	more, err := moreMoves(ctx, e)
	return &lab.Result{Grids: []*lab.Grid{means, movesSpread(trials), readings(), more}}, err
}

// movesSpread is the distribution of moves, in bars.
func movesSpread(trials []life) *lab.Grid {
	const dim = "moves, in fives"
	var bars []float64
	for x := 20.0; x < 110; x += bin {
		bars = append(bars, x+bin/2.0)
	}
	return lab.Gather(trials, lab.Spec[life]{
		Dims: []lab.Dim{lab.Along(dim, bars...)},
		Metrics: []lab.Metric[life]{{Name: "trials with these moves", Unit: lab.InPercent, Asked: lab.Each(1), At: func(l life, at lab.At) float64 {
			return lab.OneIf(math.Floor(l.moved/bin) == math.Floor(at.Float(dim)/bin))
		}}},
		Formulas: []lab.Formula{{Name: "with a mean of 67", Of: func(at lab.At) float64 { return bin * poisson(at.Float(dim)-0.5, 67) }}},
	})
}

// readings computes what three readings of the paper say of three things it prints.
func readings() *lab.Grid {
	list := []struct {
		name  string
		cells func(n float64) float64
		steps func(n float64) float64
	}{
		{"2^20 steps, equal fingerprints share a cell", distinct, func(float64) float64 { return paperSteps }},
		{"2^20 steps, every element has its own", func(n float64) float64 { return n }, func(float64) float64 { return paperSteps }},
		{"64/3 steps for each element, shared cells", distinct, func(n float64) float64 { return n * paperSteps / exampleKeys }},
	}
	names := make([]string, len(list))
	for i, l := range list {
		names[i] = l.name
	}
	formula := func(name string, of func(cells, steps func(n float64) float64) float64) lab.Formula {
		return lab.Formula{Name: name, Of: func(at lab.At) float64 {
			l := list[at.Int("reading")]
			return of(l.cells, l.steps)
		}}
	}
	full := func(n float64, cells, steps func(float64) float64) float64 {
		return theory.DLeftChurnFull(4, 8, 2048, cells(n), steps(n))
	}
	return lab.Computed("readings", "Which reading fits all that is printed?", []lab.Dim{lab.Among("reading", names...)},
		formula("moves at 6.75", func(c, s func(float64) float64) float64 { return full(6.75*exampleBuckets, c, s) }),
		formula("overflows at 6.5", func(c, s func(float64) float64) float64 { return paperTrials * -math.Expm1(-full(sixAndAHalf, c, s)) }),
		formula("load ≥ 7", func(c, _ func(float64) float64) float64 {
			return theory.DLeftSteadyLoads(4, c(exampleKeys)/exampleBuckets, levels)[6]
		}))
}

// moreMoves are loads beyond one move.
func moreMoves(ctx context.Context, e *lab.Env) (*lab.Grid, error) {
	rules := []sketch{{moves: 1, first: true}, {moves: 1}, {moves: 2}}
	return lab.Sweep(ctx, e, lab.Spec[moving]{
		Name: "further", Title: "Trials at greater loads",
		Dims:   []lab.Dim{lab.Among(movement, "one move, first subarray", "one move, any subarray", "two moves, any subarray"), lab.Along("load", e.Floats("further loads")...)},
		Trials: e.Int("further trials"),
		Trial: func(at lab.At, r *rand.Rand) (moving, error) {
			rule := rules[at.Int(movement)]
			s := &sketch{locate: permuted(false)(r), moves: rule.moves, first: rule.first}
			return s.tried(int(at.Float("load")*exampleBuckets), e.Int("further steps"), r)
		},
		Metrics: []lab.Metric[moving]{
			{Name: "no room", Unit: lab.InPercent, Of: func(m moving) float64 { return m.noRoom }, Asked: lab.Each(1)},
			{Name: "moves per thousand steps", Of: func(m moving) float64 { return m.moves }},
			{Name: "denied", Of: func(m moving) float64 { return m.denied }},
		},
		Notes: []string{
			"A trial ends with the first key for which no room can be made. Moves are looked for with one key first, then with two.",
			"The table is a sketch with the permutations of the paper: the filter itself moves one key of the first subarray.",
		},
	})
}

// moving is what became of a sketch that moves keys.
type moving struct{ noRoom, moves, denied float64 }

// tried runs a trial up to the first key without room. Then all keys must be there.
func (s *sketch) tried(n, steps int, r *rand.Rand) (m moving, err error) {
	keys, err := churn(s, n, steps, steps, r, func() {})
	if errors.Is(err, filter.ErrFull) {
		return moving{noRoom: 1, moves: math.NaN()}, nil
	}
	for _, k := range keys {
		m.denied += lab.OneIf(len(s.find(k)) == 0)
	}
	m.moves = 1000 * float64(s.moved) / float64(steps)
	return m, err
}
