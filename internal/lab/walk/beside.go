package walk

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// Shared is a filter that one reader and one writer use at a time.
type Shared struct {
	Add    func(filter.Key) error
	Delete func(filter.Key) error
	Has    func(filter.Key) bool
	Size   func() uint64 // it changes with every step of growth; nil if there are none
}

// Of wraps a filter that deletes and needs no lock.
func Of(f filter.Deleter, size func() uint64) Shared {
	return Shared{func(k filter.Key) error { _, err := f.Add(k); return err }, f.Delete, f.MayContain, size}
}

// Readers are races of a reader alone against one beside a writer that adds and
// deletes other keys all the time.
type Readers struct {
	Lasting, Passing, Queries int
	Make                      func(name string) (Shared, error)

	mu     sync.Mutex
	totals map[string]*Met
}

// Met is what readers of one filter met, over all rounds.
type Met struct{ Denied, Asked, Writes, Steps int64 }

// The laps of a reader.
const (
	Alone  = "alone"
	Beside = "beside a writer"
	Grown  = "until the size has changed"
)

// Start is for lab.Race. The last lap goes on until the writer has changed the size, or
// all passing keys have come and gone without that, or it has had its turn often enough:
// a machine with one processor lets it run only when the reader yields.
func (d *Readers) Start(_ lab.At, name string, r *rand.Rand) ([]lab.Lap, error) {
	const enoughSteps, patience, few = 16, 1 << 15, 100
	s, err := d.Make(name)
	if err != nil {
		return nil, err
	}
	k := NewKeys(r)
	for i := range d.Lasting {
		if err := s.Add(k.Member(i)); err != nil {
			return nil, err
		}
	}
	queries := d.Queries
	if s.Size == nil { // it has a lock, for which every query waits
		queries = max(1, queries/20)
	}
	ask := func(m *Met, count int) {
		for range count {
			if !s.Has(k.Member(int(m.Asked) % d.Lasting)) {
				m.Denied++
			}
			m.Asked++
		}
	}
	return []lab.Lap{
		{Name: Alone, Ops: queries, Run: func() error { ask(&Met{}, queries); return nil }},
		{Name: Beside, Ops: queries, Run: func() error {
			return d.beside(name, s, k, func(m *Met, _, _ *atomic.Int64) { ask(m, queries) })
		}},
		{Name: Grown, Ops: queries, Run: func() error {
			return d.beside(name, s, k, func(m *Met, writes, steps *atomic.Int64) {
				for i := 0; i < patience && s.Size != nil && steps.Load() < enoughSteps && writes.Load() < int64(2*d.Passing); i++ {
					runtime.Gosched()
					ask(m, few)
				}
			})
		}},
	}, nil
}

// beside lets the reader read while a writer writes.
func (d *Readers) beside(name string, s Shared, k Keys, read func(m *Met, writes, steps *atomic.Int64)) error {
	var (
		stop          atomic.Bool
		writes, steps atomic.Int64
		crew          sync.WaitGroup
		err           error
		m             Met
	)
	crew.Go(func() { err = d.churn(s, k, &stop, &writes, &steps) })
	read(&m, &writes, &steps)
	m.Writes, m.Steps = writes.Load(), steps.Load()
	stop.Store(true)
	crew.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.totals == nil {
		d.totals = map[string]*Met{}
	}
	if d.totals[name] == nil {
		d.totals[name] = &Met{}
	}
	t := d.totals[name]
	t.Denied, t.Asked, t.Writes, t.Steps = t.Denied+m.Denied, t.Asked+m.Asked, t.Writes+m.Writes, t.Steps+m.Steps
	return err
}

// churn adds and deletes the passing keys until it is told to stop, and leaves none.
func (d *Readers) churn(s Shared, k Keys, stop *atomic.Bool, writes, steps *atomic.Int64) error {
	size := func() uint64 { return 0 }
	if s.Size != nil {
		size = s.Size
	}
	last := size()
	step := func(err error) error {
		writes.Add(1)
		if now := size(); now != last {
			steps.Add(1)
			last = now
		}
		return err
	}
	for !stop.Load() {
		added := 0
		for ; added < d.Passing && !stop.Load(); added++ {
			if err := step(s.Add(k.Member(d.Lasting + added))); err != nil {
				return fmt.Errorf("passing key %d: %w", added, err)
			}
		}
		var failed error
		for i := range added {
			failed = errors.Join(failed, step(s.Delete(k.Member(d.Lasting+i))))
		}
		if failed != nil {
			return failed
		}
	}
	return nil
}

// Grid is what the readers met, as a table.
func (d *Readers) Grid(names []string) *lab.Grid {
	formula := func(name string, of func(m Met) int64) lab.Formula {
		return lab.Formula{Name: name, Of: func(at lab.At) float64 {
			if m := d.totals[names[at.Int(lab.Contenders)]]; m != nil {
				return float64(of(*m))
			}
			return 0
		}}
	}
	return lab.Computed("met", "What the readers met", []lab.Dim{lab.Among(lab.Contenders, names...)},
		formula("queries beside a writer", func(m Met) int64 { return m.Asked }),
		formula("false negatives", func(m Met) int64 { return m.Denied }),
		formula("changes by the writer", func(m Met) int64 { return m.Writes }),
		formula("changes of the size", func(m Met) int64 { return m.Steps }))
}

// SetOf wraps a set, which has a lock where its kind needs one.
func SetOf(n everbloom.Needs) (Shared, error) {
	set, err := everbloom.New(n)
	if err != nil {
		return Shared{}, err
	}
	return Shared{
		Add:    func(k filter.Key) error { _, err := set.AddUint64(uint64(k)); return err },
		Delete: func(k filter.Key) error { return set.DeleteUint64(uint64(k)) },
		Has:    func(k filter.Key) bool { return set.MayContainUint64(uint64(k)) },
	}, nil
}
