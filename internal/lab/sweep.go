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

// Sweep runs a sweep. The error is that of a trial or of ctx.
func Sweep[T any](ctx context.Context, e *Env, s Spec[T]) (*Grid, error) {
	dims := s.Dims
	if trial := s.Trial; s.Follow == nil {
		s.Follow = func(at At, r *rand.Rand) ([]T, error) {
			t, err := trial(at, r)
			return []T{t}, err
		}
	} else {
		dims = slices.Concat(s.Dims, []Dim{s.Trace})
	}
	found, err := s.run(ctx, e)
	if err != nil {
		return nil, err
	}
	seen := max(1, len(s.Trace.Values)) // results of a trial
	return s.grid(dims, func(m Metric[T], i int, _ At) Estimate {
		return Figure(found[i/seen], func(t []T) float64 { return m.Of(t[i%seen]) })
	}), nil
}

// run returns the trials of all points. Points with one trial each run side by side.
func (s Spec[T]) run(ctx context.Context, e *Env) ([][][]T, error) {
	all := points(s.Dims)
	found := make([][][]T, len(all))
	if s.Trials == 1 {
		single, err := Trials(ctx, e, len(all), func(i int, r *rand.Rand) ([]T, error) { return s.Follow(all[i], r) })
		for i, t := range single {
			found[i] = [][]T{t}
		}
		return found, err
	}
	for i, at := range all {
		var err error
		if found[i], err = Trials(ctx, e, s.Trials, func(_ int, r *rand.Rand) ([]T, error) { return s.Follow(at, r) }); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Gather is [Sweep] for trials that have run already, so that one set of trials gives
// several grids: means, loads, a distribution. The spec needs no trial.
func Gather[T any](trials []T, s Spec[T]) *Grid {
	return s.grid(s.Dims, func(m Metric[T], _ int, at At) Estimate {
		return Figure(trials, func(t T) float64 {
			if m.At != nil {
				return m.At(t, at)
			}
			return m.Of(t)
		})
	})
}

// grid puts the value of each metric at the i-th point into a grid, and the formulas. A
// metric has no value where it is not finite.
func (s Spec[T]) grid(dims []Dim, value func(m Metric[T], i int, at At) Estimate) *Grid {
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

// Computed returns a grid of formulas alone.
func Computed(name, title string, dims []Dim, formulas ...Formula) *Grid {
	return Gather[struct{}](nil, Spec[struct{}]{Name: name, Title: title, Dims: dims, Formulas: formulas})
}
