package evergreen

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
	"github.com/everbloom-go/everbloom/internal/timing"
)

const (
	idleName   = "nothing"
	ownName    = "evergreen"
	lazyName   = "elastic"
	atOnceName = "elastic, at once"
)

var pauses = lab.Experiment{
	ID:       "evergreen/pauses",
	Title:    "Pauses while growing",
	Question: "How long do single Adds and Deletes take while a filter grows and shrinks, the slow ones above all?",
	Says: "Package comment: \"no operation does more than a few blocks' worth of work, but when a segment of blocks is used up the next, as large as all before together, is taken from the system\". " +
		"Design note: doubling at once would mean a pause of 0.2 to 0.4 s at 10 M keys.",
	Quick: lab.Params{lab.Int("keys", 64_000), lab.Int("first size", 1_000), lab.Float("rate", 0.01), lab.Int("stride", 1_000)},
	Full:  lab.Params{lab.Int("keys", 4_000_000), lab.Int("first size", 62_500), lab.Float("rate", 0.01), lab.Int("stride", 1_000)},
	Run:   runPauses,
	Plots: []lab.View{{
		Name: "cpu", Title: "The slowest Adds, processor time", X: "one in", By: "filter", XAxis: lab.Axis{Label: "the slowest of so many", Log: true},
		Y: lab.Axis{Label: "microseconds", Log: true}, Curves: []lab.Curve{{Formula: "Adds"}},
	}},
	Claims: []lab.Claim{
		{Name: "blocks that one Add splits", Printed: "a few: 4 at most", Where: comment, Of: lab.Of("blocks by one Add", "filter", ownName), Is: lab.AtMost(lab.Number(4)), Show: []lab.Pick{lab.Of("blocks by one Add", "filter", lazyName)}},
		{Name: "blocks that one Delete merges", Printed: "a few: 4 at most", Where: comment, Of: lab.Of("blocks by one Delete", "filter", ownName), Is: lab.AtMost(lab.Number(4))},
		{
			Name: "longest Add of a filter that doubles at once to that of evergreen", Printed: "doubling at once would be a pause: 10 times at least", Where: "design 4",
			Of: lab.Of("longest Add", "filter", atOnceName).Over(lab.Of("longest Add", "filter", ownName)), Is: lab.AtLeast(lab.Number(10)),
		},
		{Name: "longest Adds", Of: lab.Of("longest Add"), Is: lab.Shows()},
	},
}

// A contender grows from the first size, or from nothing.
type contender struct {
	name string
	make func(first uint64, rate float64) (filter.Filter, error)
}

var contenders = []contender{
	{idleName, func(uint64, float64) (filter.Filter, error) { return idle{}, nil }},
	{ownName, func(_ uint64, rate float64) (filter.Filter, error) { return evergreen.New(evergreen.Config{FPR: rate}) }},
	{lazyName, func(first uint64, rate float64) (filter.Filter, error) {
		return elastic.New(elastic.Config{Items: first, FPR: rate})
	}},
	{atOnceName, func(first uint64, rate float64) (filter.Filter, error) {
		return elastic.New(elastic.Config{Items: first, FPR: rate, Eager: true})
	}},
	{"scalable", func(first uint64, rate float64) (filter.Filter, error) {
		return scalable.New(scalable.Config{Items: first, FPR: rate})
	}},
}

// idle does nothing: what remains is the clock, and whatever stops the program.
type idle struct{}

func (idle) Add(filter.Key) (bool, error) { return true, nil }
func (idle) MayContain(filter.Key) bool   { return true }
func (idle) Info() filter.Info            { return filter.Info{} }
func (idle) Delete(filter.Key) error      { return nil }

// A record is what single operations of one contender did.
type record struct {
	f             filter.Filter
	adds, deletes histogram
	grew, shrank  uint64 // the most blocks of 512 bits that one operation added or took away
}

func runPauses(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	records, names, k := make([]record, len(contenders)), make([]string, len(contenders)), walk.NewKeys(e.Rand(0))
	for i, c := range contenders {
		var err error
		if records[i].f, err = c.make(uint64(e.Int("first size")), e.Float("rate")); err != nil {
			return nil, err
		}
		names[i] = c.name
	}
	for _, op := range []func(r *record, start int) error{
		func(r *record, start int) error { return r.adding(k, start, e.Int("stride")) },
		func(r *record, start int) error { return r.deleting(k, start, e.Int("stride")) },
	} {
		for start := 0; start < e.Int("keys"); start += e.Int("stride") {
			for i := range records {
				if err := errors.Join(op(&records[i], start), ctx.Err()); err != nil {
					return nil, fmt.Errorf("%s: %w", names[i], err)
				}
			}
		}
	}
	return &lab.Result{Grids: pauseGrids(records, names), Notes: []string{
		"Processor time of the thread: nobody else's work, and no waiting. Each operation is timed by itself, to an eighth; filters take turns in strides. \"nothing\" is an operation that does nothing, timed in the same way.",
		"\"elastic, at once\" moves all fingerprints when it doubles; \"elastic\" spreads that over the operations that follow, but takes and copies the memory at once. scalable and elastic begin with room for the first size, evergreen with the smallest filter. scalable does not delete.",
	}}, nil
}

func pauseGrids(records []record, names []string) []*lab.Grid {
	filters, micros := lab.Among("filter", names...), lab.Unit("us")
	of := func(at lab.At) *record { return &records[at.Int("filter")] }
	return []*lab.Grid{
		lab.Computed("times", "Times that one in so many operations exceeds", []lab.Dim{filters, lab.Along("one in", 2, 100, 1_000, 10_000, 100_000)},
			lab.Formula{Name: "Adds", Unit: micros, Of: func(at lab.At) float64 { return of(at).adds.oneIn(at.Float("one in")) }},
			lab.Formula{Name: "Deletes", Unit: micros, Of: func(at lab.At) float64 { return of(at).deletes.oneIn(at.Float("one in")) }}),
		lab.Computed("longest", "The longest operations", []lab.Dim{filters},
			lab.Formula{Name: "longest Add", Unit: micros, Of: func(at lab.At) float64 { return of(at).adds.longest.Seconds() * 1e6 }},
			lab.Formula{Name: "blocks by one Add", Of: func(at lab.At) float64 { return float64(of(at).grew) }},
			lab.Formula{Name: "blocks by one Delete", Of: func(at lab.At) float64 { return float64(of(at).shrank) }}),
	}
}

// blocks is how many of 512 bits a filter has, 0 if it does not tell.
func (r *record) blocks() uint64 {
	switch f := r.f.(type) {
	case *evergreen.Filter:
		return f.Blocks()
	case *elastic.Filter:
		return f.Bits() / 512
	}
	return 0
}

func (r *record) adding(k walk.Keys, start, count int) error {
	return r.timeEach(&r.adds, &r.grew, k, start, count, func(key filter.Key) error { _, err := r.f.Add(key); return err })
}

func (r *record) deleting(k walk.Keys, start, count int) error {
	d, ok := r.f.(filter.Deleter)
	if !ok {
		return nil
	}
	return r.timeEach(&r.deletes, &r.shrank, k, start, count, d.Delete)
}

// timeEach does a stride of operations. The change of size is counted beside the clock.
func (r *record) timeEach(h *histogram, most *uint64, k walk.Keys, start, count int, do func(filter.Key) error) (err error) {
	timing.Pinned(func() {
		size := r.blocks()
		for i := start; i < start+count && err == nil; i++ {
			before := timing.Thread()
			err = do(k.Member(i))
			h.add(timing.Thread() - before)
			now := r.blocks()
			if size > 0 && now > 0 { // a list has no blocks
				*most = max(*most, max(size, now)-min(size, now))
			}
			size = now
		}
	})
	return err
}

var readers = lab.Experiment{
	ID:       "evergreen/readers",
	Title:    "A reader beside a writer",
	Question: "Does a reader ever miss a key that is there throughout while others come and go and blocks are split and merged, and how much slower is it than alone?",
	Says:     "Package comment: readers take no lock and make no other wait; no key is denied that is in the set throughout. Design 4: a reader beside a writer had 0.83 to 0.96 of its speed alone.",
	Quick: lab.Params{
		lab.Int("lasting keys", 20_000), lab.Int("passing keys", 40_000), lab.Int("rounds", 7), lab.Int("queries", 200_000), lab.Float("rate", 0.01),
	},
	Full: lab.Params{
		lab.Int("lasting keys", 500_000), lab.Int("passing keys", 1_000_000), lab.Int("rounds", 11), lab.Int("queries", 3_000_000), lab.Float("rate", 0.01),
	},
	Run: runReaders,
	Claims: []lab.Claim{
		{Name: "no lasting key is denied", Printed: "no key is denied that is in the set throughout", Where: comment, Of: lab.Of("false negatives"), Is: lab.Zero(), Show: []lab.Pick{lab.Of("queries beside a writer")}},
		{Name: "splits and merges that the reader met", Printed: "it grows and shrinks a block at a time, and readers never wait", Where: comment, Of: lab.Of("changes of the size", lab.Contenders, ownName), Is: lab.Above(lab.Number(0))},
		{
			Name: "speed beside a writer to that alone", Printed: "0.8 or more", Where: "docs/claims.md", Of: readerSpeed(ownName), Is: lab.AtLeast(lab.Number(0.8)),
			Show: []lab.Pick{readerSpeed(lazyName), readerSpeed(countingName)},
		},
	},
}

const countingName = "counting, in a Set"

func readerSpeed(name string) lab.Pick {
	return lab.Of(walk.Alone, lab.Contenders, name).Over(lab.Of(walk.Beside))
}

func runReaders(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	d := &walk.Readers{Lasting: e.Int("lasting keys"), Passing: e.Int("passing keys"), Queries: e.Int("queries")}
	d.Make = func(name string) (walk.Shared, error) {
		return shared(name, uint64(d.Lasting+d.Passing), e.Float("rate"))
	}
	names := []string{ownName, lazyName, countingName}
	g, err := lab.Race{Name: "times", Title: "A query of a reader", Contenders: names, Rounds: e.Int("rounds"), Start: d.Start}.Run(ctx, e)
	return &lab.Result{Grids: []*lab.Grid{g, d.Grid(names)}, Notes: []string{
		fmt.Sprintf("Processor time of the reader, which asks about the lasting keys over and over, first alone, then beside a writer that adds all passing keys and deletes them again. The machine ran %d goroutines at a time.", runtime.GOMAXPROCS(0)),
		"The last lap goes on, yielding, until the writer has split or merged some blocks; its time per query says nothing. The counting filter has one size and, as every Set of a kind that is not made for it, a lock.",
	}}, err
}

// shared makes sets that delete and can be read meanwhile. Elastic filters do not
// shrink below their first size: it must be small to be left.
func shared(name string, n uint64, rate float64) (walk.Shared, error) {
	switch name {
	case ownName:
		f, err := evergreen.New(evergreen.Config{FPR: rate})
		return walk.Of(f, f.Blocks), err
	case lazyName:
		f, err := elastic.New(elastic.Config{Items: max(n/8, 1), FPR: rate})
		return walk.Of(f, f.Bits), err
	}
	return walk.SetOf(everbloom.Needs{Items: n, FPR: rate, Delete: true, Kind: "counting"})
}
