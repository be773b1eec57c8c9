package perennial

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/internal/lab"
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
}

// A pause is how much one operation did.
type pause struct {
	name    string
	lines   [257]int // operations that wrote so many, or more
	longest uint64
	times   []time.Duration // the slowest
	n       int
}

// slowest is how many times are kept: enough for the 99.999th percentile of 50 M.
const slowest = 1000

func (p *pause) add(lines uint64, d time.Duration) {
	p.n++
	p.lines[min(lines, uint64(len(p.lines)-1))]++
	p.longest = max(p.longest, lines)
	if len(p.times) < slowest || d > p.times[0] {
		at, _ := slices.BinarySearch(p.times, d)
		p.times = slices.Insert(p.times, at, d)
		if len(p.times) > slowest {
			p.times = p.times[1:]
		}
	}
}

// quantile returns the time that all but n/share operations are below.
func (p *pause) quantile(share int) time.Duration {
	return p.times[len(p.times)-1-min(p.n/share, len(p.times)-1)]
}

func runPauses(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	f, err := perennial.New(perennial.Config{FPR: 0.01})
	if err != nil {
		return nil, err
	}
	k := newKeys(e.Rand(0))
	adds, deletes := &pause{name: "Add"}, &pause{name: "Delete"}
	if err := each(ctx, f, adds, k, e.Int("keys"), func(key filter.Key) error { _, err := f.Add(key); return err }); err != nil {
		return nil, err
	}
	if err := each(ctx, f, deletes, k, e.Int("keys"), f.Delete); err != nil {
		return nil, err
	}
	result := &lab.Result{Notes: []string{"Times are processor time of the thread. Each operation is timed by itself, and the clock takes part of it."}}
	table := lab.Table{Name: "lines", Title: "Lines that one operation wrote", Columns: []string{"lines", "Adds", "Deletes"}}
	for i := range adds.lines {
		if adds.lines[i]+deletes.lines[i] > 0 {
			table.Add(i, adds.lines[i], deletes.lines[i])
		}
	}
	result.Tables = []lab.Table{table}
	for _, p := range []*pause{adds, deletes} {
		at := p.quantile(100_000)
		result.Checks = append(result.Checks,
			lab.Holds("lines that one "+p.name+" writes", "at most 200", fmt.Sprintf("at most %d", p.longest), p.longest <= 200, "of all operations"),
			lab.Holds("timing: 99.999th percentile of "+p.name, "at most 200 us", fmt.Sprintf("%v; longest %v", at, p.times[len(p.times)-1]),
				at <= 200*time.Microsecond, "processor time").Because("a busy machine makes all times longer: run it again").Timed())
	}
	return result, nil
}

// each does an operation to all keys and records each.
func each(ctx context.Context, f *perennial.Filter, p *pause, k keys, n int, do func(filter.Key) error) (err error) {
	timing.Pinned(func() {
		before, written := timing.Thread(), f.LinesWritten()
		for i := range n {
			if err = do(k.present(i)); err == nil {
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
