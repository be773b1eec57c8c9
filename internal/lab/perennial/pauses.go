package perennial

import (
	"context"
	"slices"
	"time"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
	"github.com/everbloom-go/everbloom/internal/timing"
)

var pauses = lab.Experiment{
	ID:       "perennial/pauses",
	Title:    "The longest operations",
	Question: "How many lines does one Add or Delete write at most, and how long do the slowest take?",
	Says:     "Design 9: no operation writes more than 200 lines, at any size; of 100,000 Adds all but one take less than 200 microseconds.",
	Quick:    lab.Params{lab.Int("keys", 300_000)},
	Full:     lab.Params{lab.Int("keys", 50_000_000)},
	Run:      runPauses,
	Plots: []lab.View{{
		Name: "slowest", Title: "The slowest operations, processor time", X: "one in", By: "operation", XAxis: lab.Axis{Label: "the slowest of so many", Log: true},
		Y: lab.Axis{Label: "microseconds", Log: true}, Curves: []lab.Curve{{Formula: "longer than", Style: lab.Line}},
	}},
	Claims: []lab.Claim{
		{Name: "lines that one operation writes", Printed: "200 at most, at any size", Where: "design 9", Of: lab.Of("lines, most"), Is: lab.AtMost(lab.Number(200))},
		{Name: "the slowest of 100,000", Printed: "less than 200 us on the machine of design 9", Where: "design 9", Of: lab.Of("longer than", "one in", 100_000), Is: lab.Shows(), Show: []lab.Pick{lab.Of("longest")}},
	},
}

// A pause is how much one operation did.
type pause struct {
	n       int
	lines   uint64
	slowest []time.Duration // in order
}

// slowest is how many times are kept: enough for the slowest of 50,000 of 50 M.
const slowest = 1000

func (p *pause) add(lines uint64, d time.Duration) {
	p.n++
	p.lines = max(p.lines, lines)
	if len(p.slowest) < slowest || d > p.slowest[0] {
		at, _ := slices.BinarySearch(p.slowest, d)
		p.slowest = slices.Insert(p.slowest, at, d)
		if len(p.slowest) > slowest {
			p.slowest = p.slowest[1:]
		}
	}
}

// oneIn returns the time that one in so many operations exceeds.
func (p *pause) oneIn(share float64) time.Duration {
	return p.slowest[len(p.slowest)-1-min(int(float64(p.n)/share), len(p.slowest)-1)]
}

func runPauses(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	f, err := perennial.New(perennial.Config{FPR: 0.01})
	if err != nil {
		return nil, err
	}
	k := walk.NewKeys(e.Rand(0))
	found := make([]pause, 2)
	if err := each(ctx, f, &found[0], k, e.Int("keys"), func(key filter.Key) error { _, err := f.Add(key); return err }); err != nil {
		return nil, err
	}
	if err := each(ctx, f, &found[1], k, e.Int("keys"), f.Delete); err != nil {
		return nil, err
	}
	operations, micros := lab.Among("operation", "Add", "Delete"), lab.Unit("us")
	times := lab.Computed("times", "Times that one in so many operations exceeds", []lab.Dim{operations, lab.Along("one in", 1_000, 10_000, 100_000)},
		lab.Formula{Name: "longer than", Unit: micros, Of: func(at lab.At) float64 {
			return found[at.Int("operation")].oneIn(at.Float("one in")).Seconds() * 1e6
		}})
	most := lab.Computed("lines", "The longest operations", []lab.Dim{operations},
		lab.Formula{Name: "lines, most", Of: func(at lab.At) float64 { return float64(found[at.Int("operation")].lines) }},
		lab.Formula{Name: "longest", Unit: micros, Of: func(at lab.At) float64 { return found[at.Int("operation")].oneIn(1e18).Seconds() * 1e6 }})
	return &lab.Result{Grids: []*lab.Grid{times, most}, Notes: []string{"Times are processor time of the thread. Each operation is timed by itself, and the clock takes part of it."}}, nil
}

// each does an operation to all keys and records each.
func each(ctx context.Context, f *perennial.Filter, p *pause, k walk.Keys, n int, do func(filter.Key) error) (err error) {
	timing.Pinned(func() {
		before, written := timing.Thread(), f.LinesWritten()
		for i := range n {
			if err = do(k.Member(i)); err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return
			}
			after, now := timing.Thread(), f.LinesWritten()
			p.add(now-written, after-before)
			before, written = after, now
		}
	})
	return err
}

var readers = lab.Experiment{
	ID:       "perennial/readers",
	Title:    "A reader beside a writer",
	Question: "Does a reader ever miss a key that is there throughout while others come and go and lines move, and how much slower is it than alone?",
	Says:     "Package comment: queries need no lock beside one writer. docs/claims.md: a reader keeps at least 0.8 of its speed.",
	Quick:    lab.Params{lab.Int("lasting keys", 50_000), lab.Int("passing keys", 20_000), lab.Int("rounds", 7), lab.Int("queries", 200_000)},
	Full:     lab.Params{lab.Int("lasting keys", 1_000_000), lab.Int("passing keys", 500_000), lab.Int("rounds", 11), lab.Int("queries", 3_000_000)},
	Run:      runReaders,
	Claims: []lab.Claim{
		{Name: "no lasting key is reported absent", Printed: none, Where: "package comment", Of: lab.Of("false negatives"), Is: lab.Zero(), Show: []lab.Pick{lab.Of("queries beside a writer"), lab.Of("changes of the size")}},
		{
			Name: "speed beside a writer to that alone", Printed: "0.8 or more", Where: "docs/claims.md",
			Of: lab.Of(walk.Alone, lab.Contenders, "perennial").Over(lab.Of(walk.Beside)), Is: lab.AtLeast(lab.Number(0.8)),
			Show: []lab.Pick{lab.Of(walk.Alone, lab.Contenders, "evergreen").Over(lab.Of(walk.Beside)), lab.Of(walk.Alone, lab.Contenders, "counting, in a Set").Over(lab.Of(walk.Beside))},
		},
	},
}

func runReaders(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	d := &walk.Readers{Lasting: e.Int("lasting keys"), Passing: e.Int("passing keys"), Queries: e.Int("queries")}
	d.Make = func(name string) (walk.Shared, error) { return shared(name, uint64(d.Lasting+d.Passing)) }
	names := []string{"perennial", "evergreen", "counting, in a Set"}
	g, err := lab.Race{Name: "times", Title: "A query of a reader", Contenders: names, Rounds: e.Int("rounds"), Start: d.Start}.Run(ctx, e)
	return &lab.Result{Grids: []*lab.Grid{g, d.Grid(names)}, Notes: []string{
		"Processor time of the reader: waiting for a lock or for a processor does not count, what it does again because a writer was there does.",
		"The last lap goes on, yielding, until the writer has changed the size 16 times; its time per query says nothing. The counting filter has one size.",
	}}, err
}

func shared(name string, n uint64) (walk.Shared, error) {
	switch name {
	case "perennial":
		f, err := perennial.New(perennial.Config{FPR: 0.01})
		return walk.Of(f, func() uint64 { return f.Info().FastBits }), err
	case "evergreen":
		f, err := evergreen.New(evergreen.Config{FPR: 0.01})
		return walk.Of(f, f.Blocks), err
	}
	return walk.SetOf(everbloom.Needs{Items: n, FPR: 0.01, Delete: true, Kind: "counting"})
}
