package evergreen

import (
	"context"
	"fmt"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/timing"
)

var pauses = lab.Experiment{
	ID:       "evergreen/pauses",
	Title:    "Pauses while growing",
	Question: "How long do single Adds and Deletes take while a filter grows and shrinks, the slow ones above all?",
	Says: "Package comment: \"no operation does more than a few blocks' worth of work, but when a segment of blocks is used up the next, as large as all before together, is taken from the system\". " +
		"Design note: doubling at once would mean a pause of 0.2 to 0.4 s at 10 M keys; the longest stalls in processor time are about 3 ms, some ten in 20 M Adds.",
	Quick: lab.Params{lab.Int("keys", 64_000), lab.Int("first size", 1_000), lab.Float("rate", 0.01), lab.Int("stride", 1_000)},
	Full:  lab.Params{lab.Int("keys", 4_000_000), lab.Int("first size", 62_500), lab.Float("rate", 0.01), lab.Int("stride", 1_000)},
	Run:   runPauses,
}

// A contender grows from the first size, or from nothing.
type contender struct {
	name    string
	deletes bool // which is measured, too
	make    func(first uint64, rate float64) (filter.Filter, error)
}

const (
	idleName    = "nothing"
	ownName     = "evergreen"
	lazyName    = "elastic"
	atOnceName  = "elastic, at once"
	scalingName = "scalable"
	dynamicName = "dynamic"
)

var contenders = []contender{
	{idleName, true, func(uint64, float64) (filter.Filter, error) { return idle{}, nil }},
	{ownName, true, func(_ uint64, rate float64) (filter.Filter, error) { return evergreen.New(evergreen.Config{FPR: rate}) }},
	{lazyName, true, func(first uint64, rate float64) (filter.Filter, error) {
		return elastic.New(elastic.Config{Items: first, FPR: rate})
	}},
	{atOnceName, true, func(first uint64, rate float64) (filter.Filter, error) {
		return elastic.New(elastic.Config{Items: first, FPR: rate, Eager: true})
	}},
	{scalingName, false, func(first uint64, rate float64) (filter.Filter, error) {
		return scalable.New(scalable.Config{Items: first, FPR: rate})
	}},
	{dynamicName, false, func(first uint64, rate float64) (filter.Filter, error) {
		return dynamic.New(dynamic.Config{Items: first, FPR: rate})
	}},
}

// idle does nothing: what remains is the clock, and whatever stops the program.
type idle struct{}

func (idle) Add(filter.Key) (bool, error) { return true, nil }
func (idle) MayContain(filter.Key) bool   { return true }
func (idle) Info() filter.Info            { return filter.Info{} }
func (idle) Delete(filter.Key) error      { return nil }

// A record is what the clock said of one contender.
type record struct {
	contender
	f             filter.Filter
	adds, deletes histogram
}

func runPauses(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	result := &lab.Result{Notes: []string{
		"Times. Each operation is timed by itself. Filters take turns in strides, so that whoever else uses the machine disturbs all alike; \"nothing\" is an operation that does nothing, timed in the same way.",
		"In processor time of the thread there is nobody else's work, and no waiting. It takes longer to read than the time on the wall.",
		"\"elastic, at once\" moves all fingerprints when it doubles; \"elastic\" spreads that over the operations that follow, but takes and copies the memory at once.",
		"scalable and elastic begin with room for the first size, dynamic has units of that size, evergreen begins with the smallest filter. dynamic's deletes and its queries are not measured here.",
	}}
	e.Progress(0, 3)
	for i, c := range []struct {
		tag, name string
		now       timing.Clock
	}{{"cpu", timing.ThreadName, timing.Thread}, {"wall", "time on the wall", timing.Wall}} {
		records, err := race(ctx, e, c.now)
		if err != nil {
			return nil, err
		}
		result.Tables = append(result.Tables, pauseTable(c.tag+"-adds", "Adds: "+c.name, records, func(r *record) *histogram { return &r.adds }),
			pauseTable(c.tag+"-deletes", "Deletes: "+c.name, records, func(r *record) *histogram { return &r.deletes }))
		result.Plots = append(result.Plots, pausePlot(c.tag, "Share of Adds that took longer, "+c.name, records))
		if c.tag == "cpu" {
			result.Checks = append(result.Checks, directions(records)...)
		}
		e.Progress(i+1, 3)
	}
	checks, err := steps(ctx, e)
	result.Checks = append(result.Checks, checks...)
	return result, err
}

// race has all contenders add and then delete the same keys in turns.
func race(ctx context.Context, e *lab.Env, now timing.Clock) ([]*record, error) {
	records := make([]*record, len(contenders))
	for i, c := range contenders {
		f, err := c.make(uint64(e.Int("first size")), e.Float("rate"))
		if err != nil {
			return nil, err
		}
		records[i] = &record{contender: c, f: f}
	}
	turn := func(h *histogram, do func(filter.Key) error, start int) error {
		return timeEach(now, h, newKeys(e.Rand(0)), start, e.Int("stride"), do)
	}
	err := inTurns(ctx, e, records, func(r *record, start int) error {
		return turn(&r.adds, justErr(r.f.Add), start)
	})
	if err != nil {
		return nil, err
	}
	err = inTurns(ctx, e, records, func(r *record, start int) error {
		if d, ok := r.f.(filter.Deleter); ok && r.contender.deletes {
			return turn(&r.deletes, d.Delete, start)
		}
		return nil
	})
	for _, r := range records {
		r.f = nil // memory
	}
	return records, err
}

// inTurns goes through all keys, a stride of each contender after the other.
func inTurns(ctx context.Context, e *lab.Env, records []*record, stride func(r *record, start int) error) error {
	for start := 0; start < e.Int("keys"); start += e.Int("stride") {
		for _, r := range records {
			if err := firstOf(stride(r, start), ctx.Err()); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// timeEach does a stride of operations. The end of one is the beginning of the
// next, so that nothing falls between.
func timeEach(now timing.Clock, h *histogram, k keys, start, count int, do func(filter.Key) error) (err error) {
	timing.Pinned(func() {
		before := now()
		for i := start; i < start+count && err == nil; i++ {
			err = do(k.member(i))
			after := now()
			h.add(after - before)
			before = after
		}
	})
	return err
}

// percentiles are those that are shown.
var percentiles = []float64{0.5, 0.99, 0.999, 0.9999, 0.99999}

func (h *histogram) row() (micros []float64) {
	for _, p := range percentiles {
		micros = append(micros, h.quantile(p).Seconds()*1e6)
	}
	return append(micros, h.longest.Seconds()*1e6)
}

func pauseTable(name, title string, records []*record, of func(*record) *histogram) lab.Table {
	t := lab.Table{
		Name: name, Title: title + ", in microseconds", Columns: []string{"filter", "operations", "median", "99 %", "99.9 %", "99.99 %", "99.999 %", "longest"},
		Notes: []string{"Percentiles are to an eighth."},
	}
	for _, r := range records {
		h := of(r)
		if h.n == 0 {
			continue
		}
		cells := []any{r.name, h.n}
		for _, v := range h.row() {
			cells = append(cells, lab.Digits(v, 3))
		}
		t.Add(cells...)
	}
	return t
}

func pausePlot(name, title string, records []*record) lab.Plot {
	p := lab.Plot{
		Name: name, Title: title,
		X: lab.Axis{Label: "microseconds", Log: true}, Y: lab.Axis{Label: "share of Adds that took longer", Log: true},
	}
	for _, r := range records {
		if points := r.adds.tail(); len(points) > 0 {
			p.Series = append(p.Series, lab.Series{Name: r.name, Style: lab.Step, Points: points})
		}
	}
	return p
}

func find(records []*record, name string) *record {
	for _, r := range records {
		if r.name == name {
			return r
		}
	}
	return &record{}
}

// directions compares the longest operations.
func directions(records []*record) (checks []lab.Check) {
	own := find(records, ownName)
	for _, rival := range []string{atOnceName, lazyName, scalingName} {
		r := find(records, rival)
		ratio := float64(r.adds.longest) / float64(max(own.adds.longest, 1))
		ours := fmt.Sprintf("%v against %v: %.1f times", r.adds.longest.Round(time.Microsecond), own.adds.longest.Round(time.Microsecond), ratio)
		if rival != atOnceName {
			checks = append(checks, lab.Show(timed+"longest Add of "+rival+" against evergreen's", ours))
			continue
		}
		checks = append(checks, lab.Holds(timed+"longest Add of a filter that doubles at once against evergreen's",
			"grows a block at a time, doubling at once would be a pause (design 4)", ours, ratio > 1, "longer; a direction, in processor time").Because(
			"a single longest time, which whatever else the machine does can make: run it again").Timed())
	}
	return checks
}
