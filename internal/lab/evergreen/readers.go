package evergreen

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/timing"
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

	// steps is how many changes of size the reader waits for in each round.
	steps int64
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
		{ownName, justErr(own.Add), own.Delete, own.MayContain, own.Blocks, enoughSteps},
		{lazyName, justErr(rival.Add), rival.Delete, rival.MayContain, rival.Bits, 0},
		{
			"counting, in a Set",
			func(k filter.Key) error { _, err := set.AddUint64(uint64(k)); return err },
			func(k filter.Key) error { return set.DeleteUint64(uint64(k)) },
			func(k filter.Key) bool { return set.MayContainUint64(uint64(k)) },
			func() uint64 { return 0 },
			0,
		},
	}, nil
}

func justErr(add func(filter.Key) (bool, error)) func(filter.Key) error {
	return func(k filter.Key) error { _, err := add(k); return err }
}

// The reader goes on beside the writer until that has made so many changes, some of
// them of the size, or has had its turn so often and made none. It never waits for a
// time: a machine with one processor lets the writer run only when the reader yields.
const (
	enoughWrites = 1_000
	enoughSteps  = 16
	patience     = 1 << 15
	turnQueries  = 100
)

// A duet is what a reader and a writer did.
type duet struct {
	name             string
	alone, beside    []float64 // seconds on the wall, of each round
	aloneCPU, ownCPU []float64 // processor time of the reader
	timed            int       // queries of each of these
	denied, asked    int
	writes, steps    int64 // by the writer, while the reader read
	starved          bool  // the writer did not get far in some round
}

// A tally is what the writer has done so far.
type tally struct{ writes, steps atomic.Int64 }

// enough tells whether the reader has met what it should. All passing keys come and
// go in twice as many changes: a set that has not changed its size by then never will.
func (t *tally) enough(s shared, passing int) bool {
	writes := t.writes.Load()
	return writes >= enoughWrites && (t.steps.Load() >= s.steps || writes >= int64(2*passing))
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
			"Times. The reader asks about the lasting keys over and over, first alone, then beside a writer that adds all passing keys and deletes them again, over and over. When the timed queries are over it goes on, yielding, until the writer has split or merged some blocks. Medians of rounds in which the sets take turns.",
			fmt.Sprintf("The machine ran %d goroutines at a time. With one only, reader and writer take turns, and the wall says nothing.", runtime.GOMAXPROCS(0)),
		},
	}, nil
}

// play has the reader read alone and beside a writer.
func (d *duet) play(s shared, k keys, e *lab.Env) error {
	lasting, passing := e.Int("lasting keys"), e.Int("passing keys")
	d.timed = e.Int("queries")
	read := func(wall, cpu *[]float64) {
		timing.Pinned(func() {
			fromWall, fromCPU := timing.Wall(), timing.Thread()
			d.ask(s, k, lasting, d.timed)
			*wall, *cpu = append(*wall, (timing.Wall()-fromWall).Seconds()), append(*cpu, (timing.Thread()-fromCPU).Seconds())
		})
	}
	read(&d.alone, &d.aloneCPU)
	var (
		stop atomic.Bool
		done tally
		crew sync.WaitGroup
		err  error
	)
	crew.Go(func() { err = done.churn(s, k, lasting, passing, &stop) })
	read(&d.beside, &d.ownCPU)
	for turn := 0; turn < patience && !done.enough(s, passing); turn++ {
		runtime.Gosched()
		d.ask(s, k, lasting, turnQueries)
	}
	d.starved = d.starved || !done.enough(s, passing)
	d.writes, d.steps = d.writes+done.writes.Load(), d.steps+done.steps.Load()
	stop.Store(true)
	crew.Wait()
	return err
}

// ask asks about lasting keys and counts those that are denied.
func (d *duet) ask(s shared, k keys, lasting, queries int) {
	denied := 0
	for i := range queries {
		if !s.has(k.member((d.asked + i) % lasting)) {
			denied++
		}
	}
	d.denied, d.asked = d.denied+denied, d.asked+queries
}

// churn adds and deletes the passing keys until it is told to stop, and leaves none.
func (t *tally) churn(s shared, k keys, lasting, passing int, stop *atomic.Bool) error {
	last := s.size()
	step := func(err error) error {
		t.writes.Add(1)
		if now := s.size(); now != last {
			t.steps.Add(1)
			last = now
		}
		return err
	}
	for !stop.Load() {
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

// pace is how fast the reader was beside the writer, as a share of alone.
func (d duet) pace() (wall, cpu float64) {
	return lab.Median(d.alone) / max(lab.Median(d.beside), 1e-9), lab.Median(d.aloneCPU) / max(lab.Median(d.ownCPU), 1e-9)
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
		each := float64(d.timed) / 1e9
		t.Add(d.name, lab.Median(d.alone)/each, lab.Median(d.beside)/each, wall, cpu, d.denied, d.asked, d.writes, d.steps)
	}
	return t
}

func duetChecks(duets []duet) (checks []lab.Check) {
	for _, d := range duets {
		checks = append(checks, d.lasting())
		wall, cpu := d.pace()
		checks = append(checks, lab.Show(timed+"speed of a reader of "+d.name+" beside a writer",
			fmt.Sprintf("%.2f of alone on the wall, %.2f by its processor time", wall, cpu)))
	}
	return append(checks, duets[0].met())
}

// unscheduled is shown in place of what needs a writer.
const unscheduled = "the writer was not scheduled"

// lasting checks that no key was denied. Without a writer that would show nothing.
func (d duet) lasting() lab.Check {
	name := "no lasting key is denied by " + d.name
	if d.writes == 0 && d.denied == 0 {
		return lab.Show(name, unscheduled)
	}
	return noneOf(name, "no key is denied that is in the set throughout (package comment)", d.denied, d.asked, fmt.Sprintf("queries denied, beside %d changes", d.writes))
}

// met checks that the writer changed the size while the reader read.
func (d duet) met() lab.Check {
	const name = "splits and merges that the reader met"
	if d.starved && d.steps == 0 {
		return lab.Show(name, unscheduled)
	}
	return lab.Holds(name, "grows and shrinks a block at a time, and readers never wait (package comment)",
		fmt.Sprintf("%d, in %d changes", d.steps, d.writes), d.steps > 0, "some, or nothing was shown")
}
