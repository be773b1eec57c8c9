package growth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
	"github.com/everbloom-go/everbloom/internal/timing"
)

const (
	evergreenName = "evergreen"
	perennialName = "perennial"
	lazyName      = "elastic"
	atOnceName    = "elastic, at once"
	countingName  = "counting, in a Set"
)

var pauses = lab.Experiment{
	ID:       "evergreen/pauses",
	Title:    "Pauses while growing",
	Question: "How much does a single Add or Delete do at most while a filter grows and shrinks, and how long do the slowest take?",
	Says:     "Package comment of evergreen: no operation does more than a few blocks' worth of work; design 4: doubling at once would mean a pause. Design 9: no operation of perennial writes more than 200 lines, at any size.",
	Quick:    lab.Params{lab.Int("keys", 64_000), lab.Int("first size", 1_000), lab.Float("rate", 0.01), lab.Int("stride", 1_000)},
	Full:     lab.Params{lab.Int("keys", 4_000_000), lab.Int("first size", 62_500), lab.Float("rate", 0.01), lab.Int("stride", 1_000)},
	Run:      runPauses,
	Plots: []lab.View{{
		Name: "cpu", Title: "The slowest Adds, processor time", X: "one in", By: "filter", XAxis: lab.Axis{Label: "the slowest of so many", Log: true},
		Y: lab.Axis{Label: "microseconds", Log: true}, Curves: []lab.Curve{{Formula: "Adds"}},
	}},
	Claims: []lab.Claim{
		{Name: "blocks that one operation of evergreen splits or merges", Printed: "a few: 4 at most", Where: comment, Of: lab.Of("work of one operation", "filter", evergreenName), Is: lab.AtMost(lab.Number(4)), Show: []lab.Pick{lab.Of("work of one operation", "filter", lazyName)}},
		{Name: "lines that one operation of perennial writes", Printed: "200 at most, at any size", Where: "design 9", Of: lab.Of("work of one operation", "filter", perennialName), Is: lab.AtMost(lab.Number(200))},
		{
			Name: "longest Add of a filter that doubles at once to that of evergreen", Printed: "doubling at once would be a pause: 10 times at least", Where: "design 4",
			Of: lab.Of("longest Add", "filter", atOnceName).Over(lab.Of("longest Add", "filter", evergreenName)), Is: lab.AtLeast(lab.Number(10)),
		},
		{Name: "longest Adds", Of: lab.Of("longest Add"), Is: lab.Shows()},
	},
}

// contenders grow from the first size, or from nothing.
func contenders(first uint64, rate float64) (list []*record, err error) {
	add := func(name string, f filter.Filter, work func() uint64, failed error) {
		list, err = append(list, &record{name: name, f: f, work: work}), errors.Join(err, failed)
	}
	own, failed := evergreen.New(evergreen.Config{FPR: rate})
	add(evergreenName, own, own.Blocks, failed)
	lines, failed := perennial.New(perennial.Config{FPR: rate})
	add(perennialName, lines, lines.LinesWritten, failed)
	lazy, failed := elastic.New(elastic.Config{Items: first, FPR: rate})
	add(lazyName, lazy, func() uint64 { return lazy.Bits() / 512 }, failed)
	eager, failed := elastic.New(elastic.Config{Items: first, FPR: rate, Eager: true})
	add(atOnceName, eager, func() uint64 { return eager.Bits() / 512 }, failed)
	units, failed := scalable.New(scalable.Config{Items: first, FPR: rate})
	add("scalable", units, func() uint64 { return 0 }, failed)
	return list, err
}

// record is what single operations of one filter did.
type record struct {
	name          string
	f             filter.Filter
	work          func() uint64 // blocks of 512 bits, or lines written so far
	most          uint64        // by which that changed in one operation
	adds, deletes times
}

// times are the longest of a number of operations, in order.
type times struct {
	n       int
	slowest []time.Duration
}

// slowest is how many times are kept: enough for one in a thousand of four million.
const slowest = 5_000

func (t *times) add(d time.Duration) {
	t.n++
	if len(t.slowest) < slowest || d > t.slowest[0] {
		at, _ := slices.BinarySearch(t.slowest, d)
		t.slowest = slices.Insert(t.slowest, at, d)
		if len(t.slowest) > slowest {
			t.slowest = t.slowest[1:]
		}
	}
}

// oneIn returns the time in microseconds that one in so many operations exceeds; NaN of
// none.
func (t *times) oneIn(share float64) float64 {
	if t.n == 0 {
		return math.NaN()
	}
	return t.slowest[len(t.slowest)-1-min(int(float64(t.n)/share), len(t.slowest)-1)].Seconds() * 1e6
}

func runPauses(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list, err := contenders(uint64(e.Int("first size")), e.Float("rate"))
	if err != nil {
		return nil, err
	}
	k := walk.NewKeys(e.Rand(0))
	for _, deleting := range []bool{false, true} {
		for start := 0; start < e.Int("keys"); start += e.Int("stride") {
			for _, r := range list {
				if err := errors.Join(r.stride(k, start, e.Int("stride"), deleting), ctx.Err()); err != nil {
					return nil, fmt.Errorf("%s: %w", r.name, err)
				}
			}
		}
	}
	filters := lab.AmongAll("filter", list, func(r *record) string { return r.name })
	of := func(at lab.At) *record { return list[at.Int("filter")] }
	return &lab.Result{Grids: []*lab.Grid{
		lab.Computed("times", "Times that one in so many operations exceeds", []lab.Dim{filters, lab.Along("one in", 1_000, 10_000, 100_000)},
			lab.Formula{Name: "Adds", Unit: "us", Of: func(at lab.At) float64 { return of(at).adds.oneIn(at.Float("one in")) }},
			lab.Formula{Name: "Deletes", Unit: "us", Of: func(at lab.At) float64 { return of(at).deletes.oneIn(at.Float("one in")) }}),
		lab.Computed("longest", "The longest operations", []lab.Dim{filters},
			lab.Formula{Name: "longest Add", Unit: "us", Of: func(at lab.At) float64 { return of(at).adds.oneIn(1e18) }},
			lab.Formula{Name: "work of one operation", Of: func(at lab.At) float64 { return float64(of(at).most) }}),
	}, Notes: []string{
		"Processor time of the thread. Each operation is timed by itself; filters take turns in strides. Work is blocks of 512 bits by which the size changes, for perennial lines written.",
		"\"elastic, at once\" moves all fingerprints when it doubles; \"elastic\" spreads that over the operations that follow. scalable and elastic begin with room for the first size, the others with the smallest filter. scalable does not delete.",
	}}, nil
}

// stride times operations one by one.
func (r *record) stride(k walk.Keys, start, count int, deleting bool) (err error) {
	do, t := func(key filter.Key) error { _, err := r.f.Add(key); return err }, &r.adds
	if deleting {
		d, ok := r.f.(filter.Deleter)
		if !ok {
			return nil
		}
		do, t = d.Delete, &r.deletes
	}
	timing.Pinned(func() {
		work := r.work()
		for i := start; i < start+count && err == nil; i++ {
			before := timing.Thread()
			err = do(k.Member(i))
			t.add(timing.Thread() - before)
			now := r.work()
			if work > 0 && now > 0 { // the smallest evergreen filter is a list without blocks
				r.most = max(r.most, max(work, now)-min(work, now))
			}
			work = now
		}
	})
	return err
}

var readers = lab.Experiment{
	ID:       "evergreen/readers",
	Title:    "A reader beside a writer",
	Question: "Does a reader ever miss a key that is there throughout while others come and go and the size changes, and how much slower is it than alone?",
	Says:     "Package comments of evergreen and perennial: queries need no lock beside a writer; no key is denied that is in the set throughout. docs/claims.md: a reader keeps at least 0.8 of its speed.",
	Quick:    lab.Params{lab.Int("lasting keys", 20_000), lab.Int("passing keys", 40_000), lab.Int("rounds", 7), lab.Int("queries", 200_000), lab.Float("rate", 0.01)},
	Full:     lab.Params{lab.Int("lasting keys", 500_000), lab.Int("passing keys", 1_000_000), lab.Int("rounds", 11), lab.Int("queries", 3_000_000), lab.Float("rate", 0.01)},
	Run:      runReaders,
	Claims: []lab.Claim{
		{Name: "no lasting key is denied", Printed: "no key is denied that is in the set throughout", Where: comment, Of: lab.Of("false negatives"), Is: lab.Zero(), Show: []lab.Pick{lab.Of("queries beside a writer")}},
		{Name: "splits and merges that the reader met", Printed: "it grows and shrinks a block at a time, and readers never wait", Where: comment, Of: lab.Of("changes of the size", lab.Contenders, evergreenName), Is: lab.Above(lab.Number(0))},
		{Name: "speed beside a writer to that alone", Printed: "0.8 or more", Where: "docs/claims.md", Of: readerSpeed(evergreenName), Is: lab.AtLeast(lab.Number(0.8)), Show: []lab.Pick{readerSpeed(lazyName), readerSpeed(countingName)}},
		{Name: "speed beside a writer to that alone, perennial", Printed: "0.8 or more", Where: "docs/claims.md", Of: readerSpeed(perennialName), Is: lab.AtLeast(lab.Number(0.8))},
	},
}

func readerSpeed(name string) lab.Pick {
	return lab.Of(walk.Alone, lab.Contenders, name).Over(lab.Of(walk.Beside))
}

func runReaders(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	d := &walk.Readers{Lasting: e.Int("lasting keys"), Passing: e.Int("passing keys"), Queries: e.Int("queries")}
	d.Make = func(name string) (walk.Shared, error) {
		return shared(name, uint64(d.Lasting+d.Passing), e.Float("rate"))
	}
	names := []string{evergreenName, perennialName, lazyName, countingName}
	g, err := lab.Race{Name: "times", Title: "A query of a reader", Contenders: names, Rounds: e.Int("rounds"), Start: d.Start}.Run(ctx, e)
	return &lab.Result{Grids: []*lab.Grid{g, d.Grid(names)}, Notes: []string{
		fmt.Sprintf("Processor time of the reader, which asks about the lasting keys over and over, first alone, then beside a writer that adds all passing keys and deletes them again. The machine ran %d goroutines at a time.", runtime.GOMAXPROCS(0)),
		"Before it is timed beside the writer the reader reads on until the size has changed. The counting filter has one size and, in a Set, a lock.",
	}}, err
}

// shared makes sets that delete and can be read meanwhile. Elastic filters do not
// shrink below their first size: it must be small to be left.
func shared(name string, n uint64, rate float64) (walk.Shared, error) {
	switch name {
	case evergreenName:
		f, err := evergreen.New(evergreen.Config{FPR: rate})
		return walk.Of(f, f.Blocks), err
	case perennialName:
		f, err := perennial.New(perennial.Config{FPR: rate})
		return walk.Of(f, func() uint64 { return f.Info().FastBits }), err
	case lazyName:
		f, err := elastic.New(elastic.Config{Items: max(n/8, 1), FPR: rate})
		return walk.Of(f, f.Bits), err
	}
	return walk.SetOf(everbloom.Needs{Items: n, FPR: rate, Delete: true, Kind: "counting"})
}
