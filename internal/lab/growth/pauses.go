package growth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
	"github.com/everbloom-go/everbloom/internal/timing"
)

const (
	evergreenName = "evergreen"
	perennialName = "perennial"
	lazyName      = "elastic"
	atOnceName    = "elastic, at once"
)

var pauses = lab.Experiment{
	ID:       "evergreen/pauses",
	Title:    "Pauses while growing",
	Question: "How much does a single Add or Delete do at most while a filter grows and shrinks, and how long do the slowest take?",
	Says:     "Package comment: no operation does more than a few blocks' worth of work; design 4: doubling at once would mean a pause.",
	Params:   lab.Params{lab.Int("keys", 64_000).Full(4_000_000), lab.Int("first size", 1_000).Full(62_500), lab.Float("rate", 0.01)},
	Run:      pausesOf(evergreenName, lazyName, atOnceName),
	Plots: []lab.View{{
		Name: "cpu", Title: "The slowest Adds, processor time", X: "one in", By: "filter", XAxis: lab.Axis{Label: "the slowest of so many", Log: true},
		Y: lab.Axis{Label: "microseconds", Log: true}, Curves: []lab.Curve{{Formula: "Adds"}},
	}},
	Claims: []lab.Claim{
		{Name: "blocks that one Add splits", Printed: "a few: 4 at most", Where: comment, Of: lab.Of("work of one Add", "filter", evergreenName), Is: lab.AtMost(lab.Number(4)), Show: []lab.Pick{lab.Of("work of one Add", "filter", lazyName)}},
		{Name: "blocks that one Delete merges", Printed: "a few: 4 at most", Where: comment, Of: lab.Of("work of one Delete", "filter", evergreenName), Is: lab.AtMost(lab.Number(4))},
		{
			Name: "longest Add of a filter that doubles at once to that of evergreen", Printed: "doubling at once would be a pause: 10 times at least", Where: "design 4",
			Of: lab.Of("longest Add", "filter", atOnceName).Over(lab.Of("longest Add", "filter", evergreenName)), Is: lab.AtLeast(lab.Number(10)),
		},
	},
}

var perennialPauses = lab.Experiment{
	ID:       "perennial/pauses",
	Title:    "The longest operations",
	Question: "How many lines does one Add or Delete write at most, and how long do the slowest take?",
	Says:     "Design 9: no operation writes more than 200 lines, at any size; of 100,000 Adds all but one take less than 200 microseconds.",
	Params:   lab.Params{lab.Int("keys", 300_000).Full(50_000_000), lab.Int("first size", 1_000), lab.Float("rate", 0.01)},
	Run:      pausesOf(perennialName),
	Claims: []lab.Claim{
		{Name: "lines that one Add writes", Printed: "200 at most, at any size", Where: "design 9", Of: lab.Of("work of one Add"), Is: lab.AtMost(lab.Number(200)), Show: []lab.Pick{lab.Of("work per Add")}},
		{Name: "lines that one Delete writes", Printed: "200 at most, at any size", Where: "design 9", Of: lab.Of("work of one Delete"), Is: lab.AtMost(lab.Number(200))},
		{Kind: lab.Question, Name: "99.999th percentile of Add", Printed: "200 us at most, on a quiet machine", Where: "design 9", Of: lab.Of("Adds", "one in", 100_000), Is: lab.Shows(), Show: []lab.Pick{lab.Of("longest Add")}},
		{Kind: lab.Question, Name: "99.999th percentile of Delete", Printed: "200 us at most, on a quiet machine", Where: "design 9", Of: lab.Of("Deletes", "one in", 100_000), Is: lab.Shows()},
	},
}

// grower makes a filter that grows, with a function that tells its size, in blocks where
// it has some. Elastic filters begin with room for the first keys.
func grower(name string, first uint64, rate float64) (f filter.Deleter, size func() uint64, err error) {
	switch name {
	case evergreenName:
		f, err := evergreen.New(evergreen.Config{FPR: rate})
		return f, f.Blocks, err
	case perennialName:
		f, err := perennial.New(perennial.Config{FPR: rate})
		return f, func() uint64 { return f.Info().FastBits }, err
	default:
		f, err := elastic.New(elastic.Config{Items: first, FPR: rate, Eager: name == atOnceName})
		return f, func() uint64 { return f.Bits() / 512 }, err
	}
}

// record is what single operations of one filter did.
type record struct {
	name          string
	f             filter.Deleter
	work          func() uint64 // blocks, or lines written so far
	adds, deletes times
}

// times are the longest of a number of operations, in order, with the work of all and the
// most of one.
type times struct {
	n       int
	slowest []time.Duration
	all     uint64
	most    uint64
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

// oneIn returns the time in microseconds that one in so many operations exceeds; NaN if
// it was not kept.
func (t *times) oneIn(share float64) float64 {
	above := int(float64(t.n) / share)
	if above >= len(t.slowest) {
		return math.NaN()
	}
	return t.slowest[len(t.slowest)-1-above].Seconds() * 1e6
}

func pausesOf(names ...string) func(context.Context, *lab.Env) (*lab.Result, error) {
	return func(ctx context.Context, e *lab.Env) (*lab.Result, error) {
		list := make([]*record, len(names))
		for i, name := range names {
			f, size, err := grower(name, uint64(e.Int("first size")), e.Float("rate"))
			if err != nil {
				return nil, err
			}
			list[i] = &record{name: name, f: f, work: size}
			if p, ok := f.(*perennial.Filter); ok {
				list[i].work = p.LinesWritten
			}
		}
		k, n := walk.NewKeys(e.Rand(0)), e.Int("keys")
		if err := errors.Join(inTurns(ctx, list, k, n, false), inTurns(ctx, list, k, n, true)); err != nil {
			return nil, err
		}
		return lab.Find(ctx, e, append(pauseGrids(list), lab.Notes{
			"Processor time of the thread. Each operation is timed by itself, and the clock takes part of it; filters take turns in strides. Work is blocks of 512 bits by which the size changes, for perennial lines written.",
			"\"elastic, at once\" moves all fingerprints when it doubles; \"elastic\" spreads that over the operations that follow.",
		})...)
	}
}

// inTurns adds n keys to all filters, or deletes them, stride by stride.
func inTurns(ctx context.Context, list []*record, k walk.Keys, n int, deleting bool) error {
	const stride = 1_000
	for start := 0; start < n; start += stride {
		for _, r := range list {
			if err := errors.Join(r.stride(k, start, stride, deleting), ctx.Err()); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	return nil
}

func pauseGrids(list []*record) []lab.Part {
	filters := lab.AmongAll("filter", list, func(r *record) string { return r.name })
	of := func(name string, unit lab.Unit, value func(r *record, at lab.At) float64) lab.Formula {
		return lab.Formula{Name: name, Unit: unit, Of: func(at lab.At) float64 { return value(list[at.Int("filter")], at) }}
	}
	return []lab.Part{
		lab.Computed("times", "Times that one in so many operations exceeds", []lab.Dim{filters, lab.Along("one in", 1_000, 10_000, 100_000)},
			of("Adds", "us", func(r *record, at lab.At) float64 { return r.adds.oneIn(at.Float("one in")) }),
			of("Deletes", "us", func(r *record, at lab.At) float64 { return r.deletes.oneIn(at.Float("one in")) })),
		lab.Computed("longest", "The longest operations", []lab.Dim{filters},
			of("longest Add", "us", func(r *record, _ lab.At) float64 { return r.adds.oneIn(1e18) }),
			of("longest Delete", "us", func(r *record, _ lab.At) float64 { return r.deletes.oneIn(1e18) }),
			of("work of one Add", lab.Plain, func(r *record, _ lab.At) float64 { return float64(r.adds.most) }),
			of("work of one Delete", lab.Plain, func(r *record, _ lab.At) float64 { return float64(r.deletes.most) }),
			of("work per Add", lab.Plain, func(r *record, _ lab.At) float64 { return float64(r.adds.all) / float64(r.adds.n) })),
	}
}

// stride times operations one by one.
func (r *record) stride(k walk.Keys, start, count int, deleting bool) (err error) {
	do, t := func(key filter.Key) error { _, err := r.f.Add(key); return err }, &r.adds
	if deleting {
		do, t = r.f.Delete, &r.deletes
	}
	timing.Pinned(func() {
		before, work := timing.Thread(), r.work()
		for i := start; i < start+count && err == nil; i++ {
			err = do(k.Present(i))
			after, now := timing.Thread(), r.work()
			t.add(after - before)
			if work > 0 && now > 0 { // the smallest evergreen filter is a list without blocks
				step := max(work, now) - min(work, now)
				t.all, t.most = t.all+step, max(t.most, step)
			}
			before, work = after, now
		}
	})
	return err
}
