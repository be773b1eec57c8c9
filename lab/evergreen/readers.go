package evergreen

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/lab"
	"github.com/everbloom-go/everbloom/lab/clock"
)

var readers = lab.Experiment{
	ID:       "evergreen/readers",
	Title:    "A reader beside a writer",
	Question: "Does a reader ever deny a key that is there throughout while others come and go and blocks are split and merged, and how much slower is it than alone?",
	Says: "Package comment: readers take no lock and make no other wait; no key is denied that is in the set throughout. " +
		"Design note: a reader beside a writer had 0.88 to 1.04 of its speed alone by its own processor time, 0.40 to 0.98 on the wall of a busy machine.",
	Quick: lab.Params{
		lab.Int("lasting keys", 20_000), lab.Int("passing keys", 40_000), lab.Int("rounds", 3), lab.Int("queries", 200_000), lab.Float("rate", 0.01),
	},
	Full: lab.Params{
		lab.Int("lasting keys", 500_000), lab.Int("passing keys", 1_000_000), lab.Int("rounds", 7), lab.Int("queries", 3_000_000), lab.Float("rate", 0.01),
	},
	Run: runReaders,
}

// A shared set is used by one reader and one writer at a time.
type shared struct {
	name string
	add  func(filter.Key) error
	del  func(filter.Key) error
	has  func(filter.Key) bool
	size func() uint64 // blocks or bits; it changes with every step
}

// sharedSets are those that delete and can be read meanwhile. The counting filter
// has a lock, as every Set of a kind that is not made for it.
func sharedSets(n uint64, rate float64) ([]shared, error) {
	own, err := evergreen.New(evergreen.Config{FPR: rate})
	if err != nil {
		return nil, err
	}
	// Elastic filters do not shrink below their first size: it must be small to be
	// left.
	rival, err := elastic.New(elastic.Config{Items: max(n/8, 1), FPR: rate})
	if err != nil {
		return nil, err
	}
	set, err := everbloom.New(everbloom.Needs{Items: n, FPR: rate, Delete: true, Kind: "counting"})
	if err != nil {
		return nil, err
	}
	return []shared{
		{ownName, justErr(own.Add), own.Delete, own.MayContain, own.Blocks},
		{lazyName, justErr(rival.Add), rival.Delete, rival.MayContain, rival.Bits},
		{
			"counting, in a Set",
			func(k filter.Key) error { _, err := set.AddUint64(uint64(k)); return err },
			func(k filter.Key) error { return set.DeleteUint64(uint64(k)) },
			func(k filter.Key) bool { return set.MayContainUint64(uint64(k)) },
			func() uint64 { return 0 },
		},
	}, nil
}

func justErr(add func(filter.Key) (bool, error)) func(filter.Key) error {
	return func(k filter.Key) error { _, err := add(k); return err }
}

// A duet is what a reader and a writer did.
type duet struct {
	name             string
	alone, beside    []time.Duration // on the wall, of each round
	aloneCPU, ownCPU []time.Duration // processor time of the reader
	denied, asked    int
	writes, steps    int // by the writer, while the reader read
}

func runReaders(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	lasting := e.Int("lasting keys")
	sets, err := sharedSets(uint64(lasting+e.Int("passing keys")), e.Float("rate"))
	if err != nil {
		return nil, err
	}
	k := newKeys(e.Rand(0))
	duets := make([]duet, len(sets))
	for i, s := range sets {
		duets[i].name = s.name
		for j := range lasting {
			if err := s.add(k.member(j)); err != nil {
				return nil, err
			}
		}
	}
	for round := range e.Int("rounds") {
		for i, s := range sets {
			e.Progress(round*len(sets)+i, e.Int("rounds")*len(sets))
			if err := duets[i].play(s, k, e); err != nil || ctx.Err() != nil {
				return nil, firstOf(err, ctx.Err())
			}
		}
	}
	return &lab.Result{
		Tables: []lab.Table{duetTable(duets)},
		Checks: duetChecks(duets),
		Notes: []string{
			"Times. The reader asks about the lasting keys over and over, first alone, then beside a writer that adds all passing keys and deletes them again, over and over. Medians of rounds in which the sets take turns.",
			fmt.Sprintf("The machine ran %d goroutines at a time. With one only, reader and writer take turns, and the wall says nothing.", runtime.GOMAXPROCS(0)),
		},
	}, nil
}

// play has the reader read alone and beside a writer.
func (d *duet) play(s shared, k keys, e *lab.Env) error {
	lasting, queries := e.Int("lasting keys"), e.Int("queries")
	read := func(wall, cpu *[]time.Duration) {
		clock.Pinned(func() {
			fromWall, fromCPU := clock.Wall(), clock.Thread()
			for i := range queries {
				if !s.has(k.member(i % lasting)) {
					d.denied++
				}
			}
			*wall, *cpu = append(*wall, clock.Wall()-fromWall), append(*cpu, clock.Thread()-fromCPU)
		})
		d.asked += queries
	}
	read(&d.alone, &d.aloneCPU)
	var (
		stop atomic.Bool
		crew sync.WaitGroup
		err  error
	)
	crew.Go(func() { err = d.churn(s, k, lasting, e.Int("passing keys"), &stop) })
	read(&d.beside, &d.ownCPU)
	stop.Store(true)
	crew.Wait()
	return err
}

// churn adds and deletes the passing keys until it is told to stop, and leaves none.
func (d *duet) churn(s shared, k keys, lasting, passing int, stop *atomic.Bool) error {
	last := s.size()
	step := func(err error) error {
		d.writes++
		if now := s.size(); now != last {
			d.steps++
			last = now
		}
		return err
	}
	for ended := false; !ended; ended = stop.Load() {
		added := 0
		for ; added < passing && !stop.Load(); added++ {
			if err := step(s.add(k.member(lasting + added))); err != nil {
				return err
			}
		}
		for i := range added {
			if err := step(s.del(k.member(lasting + i))); err != nil {
				return err
			}
		}
	}
	return nil
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// pace is how fast the reader was beside the writer, as a share of alone.
func (d duet) pace() (wall, cpu float64) {
	return median(d.alone).Seconds() / max(median(d.beside).Seconds(), 1e-9), median(d.aloneCPU).Seconds() / max(median(d.ownCPU).Seconds(), 1e-9)
}

func duetTable(duets []duet) lab.Table {
	t := lab.Table{
		Name: "readers", Title: "A reader alone and beside a writer",
		Columns: []string{
			"set", "ns per query alone", "beside the writer", "speed beside ÷ alone, wall", "processor time", "members denied", "of",
			"changes by the writer", "of these changed the size",
		},
	}
	for _, d := range duets {
		wall, cpu := d.pace()
		each := float64(d.asked) / float64(2*len(d.alone))
		t.Add(d.name, median(d.alone).Seconds()*1e9/each, median(d.beside).Seconds()*1e9/each, wall, cpu, d.denied, d.asked, d.writes, d.steps)
	}
	return t
}

func duetChecks(duets []duet) (checks []lab.Check) {
	for _, d := range duets {
		checks = append(checks, noneOf("no lasting key is denied by "+d.name, "no key is denied that is in the set throughout (package comment)",
			d.denied, d.asked, fmt.Sprintf("queries denied, beside %d changes", d.writes)))
		wall, cpu := d.pace()
		checks = append(checks, lab.Show(timing+"speed of a reader of "+d.name+" beside a writer",
			fmt.Sprintf("%.2f of alone on the wall, %.2f by its processor time", wall, cpu)))
	}
	return append(checks, lab.Holds("splits and merges that the reader met", "grows and shrinks a block at a time, and readers never wait (package comment)",
		fmt.Sprint(duets[0].steps), duets[0].steps > 0, "some, or nothing was shown"))
}
