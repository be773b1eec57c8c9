package lab

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// Spec is a sweep: one trial function, run at every combination of the dimensions.
// Each metric is the mean of one figure of the trials; formulas stand beside.
type Spec[T any] struct {
	Name, Title string // of the table; the name is unique in the experiment
	Dims        []Dim
	Trials      int
	Metrics     []Metric[T]
	Formulas    []Formula
	Notes       []string

	// Trial runs once at a point. It may run on several goroutines at a time.
	Trial func(at At, r *rand.Rand) (T, error)

	// Trace and Follow take the place of Trial where one trial gives a result for
	// every value of a further dimension: a filter that is looked at again and again,
	// or contenders that get the same keys.
	Trace  Dim
	Follow func(at At, r *rand.Rand) ([]T, error)
}

// Metric is a figure of a trial.
type Metric[T any] struct {
	Name string
	Unit Unit
	Of   func(T) float64

	// At takes the place of Of where what counts of a trial depends on the point. It is
	// for [Gather].
	At func(t T, at At) float64

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

// grid returns an empty grid.
func (s Spec[T]) grid() *Grid {
	g := &Grid{Name: s.Name, Title: s.Title, Dims: s.Dims, Notes: s.Notes, formulas: s.Formulas}
	for _, m := range s.Metrics {
		g.columns = append(g.columns, m.Name)
	}
	return g
}

// Sweep runs a sweep. The error is that of a trial or of ctx.
func Sweep[T any](ctx context.Context, e *Env, s Spec[T]) (*Grid, error) {
	g, all := s.grid(), points(s.Dims)
	if trial := s.Trial; s.Follow == nil {
		s.Follow = func(at At, r *rand.Rand) ([]T, error) {
			t, err := trial(at, r)
			return []T{t}, err
		}
	} else {
		g.Dims = slices.Concat(s.Dims, []Dim{s.Trace})
	}
	found, err := s.run(ctx, e, all)
	if err != nil {
		return nil, err
	}
	for i, at := range points(g.Dims) {
		seen := max(1, len(s.Trace.Values)) // results of a trial
		for _, m := range s.Metrics {
			m.add(g, at, Figure(found[i/seen], func(t []T) float64 { return m.Of(t[i%seen]) }))
		}
	}
	g.compute()
	return g, nil
}

// run returns the trials of all points. Points with one trial each run side by side.
func (s Spec[T]) run(ctx context.Context, e *Env, all []At) ([][][]T, error) {
	found := make([][][]T, len(all))
	if s.Trials == 1 {
		single, err := Trials(ctx, e, len(all), func(i int, r *rand.Rand) ([]T, error) { return s.Follow(all[i], r) })
		for i, t := range single {
			found[i] = [][]T{t}
		}
		return found, err
	}
	for i, at := range all {
		e.Progress(i, len(all))
		var err error
		if found[i], err = Trials(ctx, e, s.Trials, func(_ int, r *rand.Rand) ([]T, error) { return s.Follow(at, r) }); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// add adds a value to the grid unless it is not finite: the metric has none there.
func (m Metric[T]) add(g *Grid, at At, value Estimate) {
	if math.IsNaN(value.Mean) || math.IsInf(value.Mean, 0) {
		return
	}
	c := Cell{At: at, Metric: m.Name, Unit: m.Unit, Value: value}
	if m.Asked != nil {
		c.asked, c.trials = max(1, m.Asked(at)), value.N
		c.Value = c.expecting(value.Mean)
	}
	g.cells = append(g.cells, c)
}

// Gather is [Sweep] for trials that have run already, so that one set of trials gives
// several grids: means, loads, a distribution. The spec needs no trial.
func Gather[T any](trials []T, s Spec[T]) *Grid {
	g := s.grid()
	for _, m := range s.Metrics {
		of := m.At
		if of == nil {
			of = func(t T, _ At) float64 { return m.Of(t) }
		}
		for _, at := range points(s.Dims) {
			m.add(g, at, Figure(trials, func(t T) float64 { return of(t, at) }))
		}
	}
	g.compute()
	return g
}

// expecting returns the value of a share with no smaller a deviation than its answers
// have if the share is p, or one of all is otherwise. A single trial has no spread but
// that of its answers, which are then what counts.
func (c Cell) expecting(p float64) Estimate {
	e := c.Value
	if c.asked > 0 {
		all := float64(c.asked * max(1, c.trials))
		p = min(max(p, 1/all), 1-1/all)
		if c.trials <= 1 {
			return Estimate{e.Mean, math.Sqrt(p * (1 - p)), c.asked}
		}
		e.Deviation = max(e.Deviation, math.Sqrt(p*(1-p)/float64(c.asked)))
	}
	return e
}

// Computed returns a grid of formulas alone.
func Computed(name, title string, dims []Dim, formulas ...Formula) *Grid {
	g := &Grid{Name: name, Title: title, Dims: dims, formulas: formulas}
	g.compute()
	return g
}

// compute adds the formulas at all points. Where one has no value it is left out.
func (g *Grid) compute() {
	for _, f := range g.formulas {
		g.columns = append(g.columns, f.Name)
		for _, at := range points(g.Dims) {
			if v := f.Of(at); !math.IsNaN(v) {
				g.cells = append(g.cells, Cell{At: at, Metric: f.Name, Unit: f.Unit, Value: Estimate{Mean: v}})
			}
		}
	}
}
