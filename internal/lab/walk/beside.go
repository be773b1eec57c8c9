package walk

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
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

// Readers are races of a reader alone against one beside a writer that adds and
// deletes other keys all the time.
type Readers struct {
	Lasting, Passing, Queries int
	Make                      func(name string) (Shared, error)

	met map[string]*met
}

// met is what readers of one filter met, over all rounds.
type met struct{ denied, asked, writes, steps int64 }

// The laps of a reader.
const (
	Alone  = "alone"
	Beside = "beside a writer"
)

// Start is for lab.Race. Before it is timed beside the writer the reader reads until the
// writer has changed the size, or all passing keys have come and gone without that, or
// it has had its turn often enough: a machine with one processor lets it run only when
// the reader yields.
func (d *Readers) Start(_ lab.At, name string, r *rand.Rand) ([]lab.Lap, error) {
	const enough, patience, few = 16, 1 << 15, 100
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
	ask := func(m *met, count int) {
		for range count {
			if !s.Has(k.Member(int(m.asked) % d.Lasting)) {
				m.denied++
			}
			m.asked++
		}
	}
	m, w := d.of(name), &writer{done: make(chan error, 1)}
	return []lab.Lap{
		{Name: Alone, Ops: queries, Run: func() error { ask(&met{}, queries); return nil }},
		{
			Name: Beside, Ops: queries,
			Before: func() {
				go func() { w.done <- w.churn(s, k, d.Lasting, d.Passing) }()
				for i := 0; i < patience && s.Size != nil && w.steps.Load() < enough && w.writes.Load() < int64(2*d.Passing); i++ {
					runtime.Gosched()
					ask(m, few)
				}
			},
			Run: func() error {
				ask(m, queries)
				m.writes, m.steps = m.writes+w.writes.Load(), m.steps+w.steps.Load()
				w.stop.Store(true)
				return <-w.done
			},
		},
	}, nil
}

func (d *Readers) of(name string) *met {
	if d.met == nil {
		d.met = map[string]*met{}
	}
	if d.met[name] == nil {
		d.met[name] = &met{}
	}
	return d.met[name]
}

// writer counts its changes, and those after which the size was another.
type writer struct {
	stop          atomic.Bool
	writes, steps atomic.Int64
	done          chan error
}

// churn adds and deletes the passing keys until it is told to stop, and leaves none.
func (w *writer) churn(s Shared, k Keys, lasting, passing int) (err error) {
	size := func() uint64 { return 0 }
	if s.Size != nil {
		size = s.Size
	}
	last := size()
	step := func(change func(filter.Key) error, i int) {
		if bad := change(k.Member(lasting + i)); bad != nil {
			err = errors.Join(err, fmt.Errorf("passing key %d: %w", i, bad))
		}
		w.writes.Add(1)
		if now := size(); now != last {
			w.steps.Add(1)
			last = now
		}
	}
	for err == nil && !w.stop.Load() {
		added := 0
		for ; added < passing && err == nil && !w.stop.Load(); added++ {
			step(s.Add, added)
		}
		for i := range added {
			step(s.Delete, i)
		}
	}
	return err
}

// Grid is what the readers met, as a table.
func (d *Readers) Grid(names []string) *lab.Grid {
	formula := func(name string, of func(m *met) int64) lab.Formula {
		return lab.Formula{Name: name, Of: func(at lab.At) float64 { return float64(of(d.of(names[at.Int(lab.Contenders)]))) }}
	}
	return lab.Computed("met", "What the readers met", []lab.Dim{lab.Among(lab.Contenders, names...)},
		formula("queries beside a writer", func(m *met) int64 { return m.asked }),
		formula("false negatives", func(m *met) int64 { return m.denied }),
		formula("changes by the writer", func(m *met) int64 { return m.writes }),
		formula("changes of the size", func(m *met) int64 { return m.steps }))
}
