package lab

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// Sweep is one trial function, run at every combination of the dimensions. Each metric is
// the mean of one figure of the trials; formulas stand beside.
type Sweep struct {
	Name, Title string // of the table; the name is unique in the experiment
	Dims        []Dim
	Trials      int
	Metrics     []Metric
	Formulas    []Formula
	Notes       []string

	// Trial runs once at a point. It may run on several goroutines at a time.
	Trial func(at At, r *rand.Rand) (Figures, error)

	// Trace and Follow take the place of Trial where one trial gives a result for
	// every value of a further dimension: a filter that is looked at again and again,
	// or contenders that get the same keys.
	Trace  Dim
	Follow func(at At, r *rand.Rand) ([]Figures, error)
}

// Figures are those of a trial, by the names of metrics.
type Figures map[string]float64

// Metric is a figure of a trial.
type Metric struct {
	Name string
	Unit Unit

	// At is for [Gather], where what counts of a trial may depend on the point. If it is
	// nil, the figure of the name counts.
	At func(t Figures, at At) float64

	// Asked is, for a share, of how many independent answers of one trial it is. Where
	// the trials show less spread than that many answers must have, that of the answers
	// counts: few trials may show none at all.
	Asked func(at At) int
}

// Formula is a number that is computed. Plots draw it as a smooth curve.
type Formula struct {
	Name string
	Unit Unit
	Of   func(at At) float64
}

// Fixed is a formula that is the same at all points.
func Fixed(name string, unit Unit, value float64) Formula {
	return Formula{Name: name, Unit: unit, Of: func(At) float64 { return value }}
}

// Each is for [Metric.Asked]: as many answers at all points.
func Each(answers int) func(At) int { return func(At) int { return answers } }

// of returns the figure of a trial. One that the trial does not have is no number.
func (m Metric) of(t Figures, at At) float64 {
	if m.At != nil {
		return m.At(t, at)
	}
	if v, ok := t[m.Name]; ok {
		return v
	}
	return math.NaN()
}

// Run runs all trials. The error is that of a trial or of ctx.
func (s Sweep) Run(ctx context.Context, e *Env) (*Grid, error) {
	dims := s.Dims
	if trial := s.Trial; s.Follow == nil {
		s.Follow = func(at At, r *rand.Rand) ([]Figures, error) {
			t, err := trial(at, r)
			return []Figures{t}, err
		}
	} else {
		dims = slices.Concat(s.Dims, []Dim{s.Trace})
	}
	found, err := s.trials(ctx, e)
	if err != nil {
		return nil, err
	}
	seen := max(1, len(s.Trace.Values)) // results of a trial
	return s.grid(dims, func(m Metric, i int, at At) Estimate {
		return Figure(found[i/seen], func(t []Figures) float64 { return m.of(t[i%seen], at) })
	}), nil
}

// trials returns those of all points. Points with one trial each run side by side.
func (s Sweep) trials(ctx context.Context, e *Env) ([][][]Figures, error) {
	all := points(s.Dims)
	found := make([][][]Figures, len(all))
	if s.Trials == 1 {
		single, err := Trials(ctx, e, len(all), func(i int, r *rand.Rand) ([]Figures, error) { return s.Follow(all[i], r) })
		for i, t := range single {
			found[i] = [][]Figures{t}
		}
		return found, err
	}
	for i, at := range all {
		var err error
		if found[i], err = Trials(ctx, e, s.Trials, func(_ int, r *rand.Rand) ([]Figures, error) { return s.Follow(at, r) }); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Gather is a sweep for trials that have run already, so that one set of trials gives
// several grids: means, loads, a distribution. The sweep needs no trial.
func Gather(trials []Figures, s Sweep) *Grid {
	return s.grid(s.Dims, func(m Metric, _ int, at At) Estimate {
		return Figure(trials, func(t Figures) float64 { return m.of(t, at) })
	})
}

// grid puts the value of each metric at the i-th point into a grid, and the formulas. A
// metric has no value where it is not finite.
func (s Sweep) grid(dims []Dim, value func(m Metric, i int, at At) Estimate) *Grid {
	g := &Grid{Name: s.Name, Title: s.Title, Dims: dims, Notes: s.Notes, formulas: s.Formulas}
	for _, m := range s.Metrics {
		g.columns = append(g.columns, m.Name)
		for i, at := range points(dims) {
			c := Cell{At: at, Metric: m.Name, Unit: m.Unit, Value: value(m, i, at)}
			if m.Asked != nil {
				c.asked, c.trials = max(1, m.Asked(at)), c.Value.N
				c.Value = c.expecting(c.Value.Mean)
			}
			g.add(c)
		}
	}
	for _, f := range s.Formulas {
		g.columns = append(g.columns, f.Name)
		for _, at := range points(dims) {
			g.add(Cell{At: at, Metric: f.Name, Unit: f.Unit, Value: Estimate{Mean: f.Of(at)}})
		}
	}
	return g
}

func (g *Grid) add(c Cell) {
	if v := c.Value.Mean; !math.IsNaN(v) && !math.IsInf(v, 0) {
		g.cells = append(g.cells, c)
	}
}

// Computed is a grid of formulas alone.
func Computed(name, title string, dims []Dim, formulas ...Formula) Part {
	return computed{Name: name, Title: title, Dims: dims, Formulas: formulas}
}

type computed Sweep

func (c computed) find(_ context.Context, _ *Env, r *Result) error {
	return r.take(Gather(nil, Sweep(c)), nil)
}
