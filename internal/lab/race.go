package lab

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/everbloom-go/everbloom/internal/timing"
)

// Contenders is the dimension that a race adds to its own.
const Contenders = "contender"

// Race times contenders against each other. In every round each contender is made
// anew from the same random numbers; then they take turns, lap by lap, so that all
// of them see the same machine. Figures are ns per operation, medians over rounds;
// a ratio of two of them is taken round by round.
type Race struct {
	Name, Title string // of the table
	Dims        []Dim
	Contenders  []string
	Rounds      int
	Notes       []string

	// Wall is for work on several goroutines. Else the clock is the processor time of
	// the thread, which other programs do not change much.
	Wall bool

	// Start makes a contender for one round at a point and returns its laps. The i-th
	// laps of all contenders follow each other; laps of one name add up.
	Start func(at At, contender string, r *rand.Rand) ([]Lap, error)

	clock timing.Clock // of tests
}

// Lap is work that is timed.
type Lap struct {
	Name string
	Ops  int
	Run  func() error

	// Before gets things ready and is not timed.
	Before func()
}

// Run runs the race, on one goroutine.
func (c Race) Run(ctx context.Context, e *Env) (*Grid, error) {
	switch {
	case c.clock != nil:
	case c.Wall:
		c.clock = timing.Wall
	default:
		c.clock = timing.Thread
	}
	g := &Grid{Name: c.Name, Title: c.Title, Dims: slices.Concat(c.Dims, []Dim{Among(Contenders, c.Contenders...)}), Notes: c.Notes}
	var rounds timing.Rounds
	for i, at := range points(g.Dims) {
		contender := i % len(c.Contenders)
		if contender == 0 {
			rounds = timing.Rounds{}
			for j := range c.Rounds {
				if err := c.round(ctx, e, at, uint64(i/len(c.Contenders)*c.Rounds+j), rounds, g); err != nil {
					return nil, err
				}
			}
		}
		for _, work := range g.columns {
			if samples := rounds[timing.Lap{c.Contenders[contender], work}]; len(samples) > 0 {
				g.add(Cell{At: at, Metric: work, Unit: "ns", Value: robust(samples), samples: samples})
			}
		}
	}
	return g, nil
}

// round lets all contenders take their laps once.
func (c Race) round(ctx context.Context, e *Env, at At, stream uint64, rounds timing.Rounds, g *Grid) error {
	turns := timing.NewTurns(c.clock)
	laps, longest := make([][]Lap, len(c.Contenders)), 0
	for i, name := range c.Contenders {
		var err error
		if laps[i], err = c.Start(at, name, e.Rand(stream)); err != nil {
			return err
		}
		longest = max(longest, len(laps[i]))
	}
	runtime.GC()
	for i := range longest {
		for j := range laps {
			k := (i + j + int(stream)) % len(laps)
			if i >= len(laps[k]) {
				continue
			}
			if err := laps[k][i].time(ctx, turns, c.Contenders[k]); err != nil {
				return err
			}
			if name := laps[k][i].Name; !slices.Contains(g.columns, name) {
				g.columns = append(g.columns, name)
			}
		}
	}
	rounds.Add(turns)
	return nil
}

func (l Lap) time(ctx context.Context, turns *timing.Turns, contender string) (err error) {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if l.Before != nil {
		l.Before()
	}
	turns.Time(timing.Lap{contender, l.Name}, l.Ops, func() { err = l.Run() })
	return err
}

// robust estimates the median, with the spread that the middle half of the samples
// would have in a normal distribution: rounds in which the machine was busy do not
// count.
func robust(samples []float64) Estimate {
	const (
		halfToDeviation = 1 / 1.349 // interquartile range of the normal distribution
		medianToMean    = 1.2533    // its median has a larger error than its mean
	)
	spread := timing.Quantile(samples, 0.75) - timing.Quantile(samples, 0.25)
	return Estimate{Mean: timing.Median(samples), Deviation: spread * halfToDeviation * medianToMean, N: len(samples)}
}
