package growth

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

var readers = lab.Experiment{
	ID:       "evergreen/readers",
	Title:    "A reader beside a writer",
	Question: "Does a reader ever miss a key that is there throughout while others come and go and the size changes, and how much slower is it than alone?",
	Says:     "Package comments of evergreen and perennial: queries need no lock beside a writer; no key is denied that is in the set throughout. docs/claims.md: a reader keeps at least 0.8 of its speed.",
	Params:   lab.Params{lab.Int("lasting keys", 20_000).Full(500_000), lab.Int("passing keys", 40_000).Full(1_000_000), lab.Int("rounds", 7).Full(11), lab.Int("queries", 200_000).Full(3_000_000)},
	Run:      runReaders,
	Claims: []lab.Claim{
		{Name: "no lasting key is denied", Printed: "no key is denied that is in the set throughout", Where: comment, Of: lab.Of("false negatives"), Is: lab.Zero(lab.Of("queries"))},
		{Name: "changes of the size that the reader met", Printed: "it grows and shrinks a block at a time, and readers never wait", Where: comment, Of: lab.Of("changes of the size"), Is: lab.Above(lab.Number(0))},
		readerClaim(evergreenName, "0.65 to 0.73 on a quiet machine. The writer makes the filter up to three times as large, which alone gives 0.80 to 0.90, and takes lines from the reader's cache; beside a writer of another filter the speed is that of a reader alone"),
		readerClaim(perennialName, ""),
	},
}

const (
	alone  = "alone"
	beside = "beside a writer"
)

// readerClaim is judged in full runs only: small filters are in the reader's own cache until
// a writer takes their lines from it.
func readerClaim(name, why string) lab.Claim {
	return lab.Claim{Why: why, FullOnly: true, Name: name + ": speed beside a writer to that alone", Printed: "0.8 or more", Where: "docs/claims.md", Of: lab.Of(alone, lab.Contenders, name).Over(lab.Of(beside)), Is: lab.AtLeast(lab.Number(0.8))}
}

// met is what the readers of one filter met, in all rounds.
type met struct{ asked, denied, steps float64 }

func runReaders(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	names, queries := []string{evergreenName, perennialName}, e.Int("queries")
	all := map[string]*met{evergreenName: {}, perennialName: {}}
	of := func(name string, value func(m *met) float64) lab.Formula {
		return lab.Formula{Name: name, Of: func(at lab.At) float64 { return value(all[at.Name(lab.Contenders)]) }}
	}
	return lab.Find(ctx, e, lab.Race{
		Name: "times", Title: "A query of a reader", Contenders: names, Rounds: e.Int("rounds"),
		Start: func(_ lab.At, name string, r *rand.Rand) ([]lab.Lap, error) {
			f, size, err := grower(name, 1, 0.01)
			if err != nil {
				return nil, err
			}
			p := &pair{met: all[name], f: f, size: size, keys: walk.NewKeys(r), lasting: e.Int("lasting keys"), passing: e.Int("passing keys"), done: make(chan error, 1)}
			return []lab.Lap{
				{Name: alone, Ops: queries, Run: func() error { p.ask(queries); return nil }},
				{Name: beside, Ops: queries, Before: p.begin, Run: func() error { p.ask(queries); return p.end() }},
			}, p.fill()
		},
	}, lab.Computed("met", "What the readers met", []lab.Dim{lab.Among(lab.Contenders, names...)},
		of("queries", func(m *met) float64 { return m.asked }), of("false negatives", func(m *met) float64 { return m.denied }), of("changes of the size", func(m *met) float64 { return m.steps })),
		lab.Notes{fmt.Sprintf("Processor time of the reader, which asks about the lasting keys over and over, first alone, then beside a writer that adds all passing keys and deletes them again, over and over. "+
			"Before it is timed there the reader reads on until the size has changed. The machine ran %d goroutines at a time.", runtime.GOMAXPROCS(0))})
}

// pair is a reader and a writer of one filter.
type pair struct {
	*met
	f                filter.Deleter
	size             func() uint64
	keys             walk.Keys
	lasting, passing int
	changed          atomic.Int64 // how often the size did
	stop             atomic.Bool
	done             chan error
}

// fill adds the lasting keys.
func (p *pair) fill() (err error) {
	for i := 0; i < p.lasting && err == nil; i++ {
		_, err = p.f.Add(p.keys.Present(i))
	}
	return err
}

// ask asks about the lasting keys.
func (p *pair) ask(count int) {
	for range count {
		p.denied += lab.OneIf(!p.f.MayContain(p.keys.Present(int(p.asked) % p.lasting)))
		p.asked++
	}
}

// begin starts the writer and reads until it has changed the size, or has had its turn
// often enough: a machine with one processor lets it run only when the reader yields.
func (p *pair) begin() {
	const enough, patience, few = 16, 1 << 15, 100
	go func() { p.done <- p.write() }()
	for i := 0; i < patience && p.changed.Load() < enough; i++ {
		runtime.Gosched()
		p.ask(few)
	}
}

func (p *pair) end() error {
	p.stop.Store(true)
	p.steps += float64(p.changed.Load())
	return <-p.done
}

// write adds and deletes the passing keys until it is told to stop.
func (p *pair) write() (err error) {
	for i, last := 0, p.size(); err == nil && !p.stop.Load(); i = (i + 1) % (2 * p.passing) {
		if i < p.passing {
			_, err = p.f.Add(p.keys.Present(p.lasting + i))
		} else {
			err = p.f.Delete(p.keys.Present(p.lasting + i - p.passing))
		}
		if now := p.size(); now != last {
			p.changed.Add(1)
			last = now
		}
	}
	return err
}
