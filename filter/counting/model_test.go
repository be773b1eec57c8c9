package counting_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/filtertest"
)

// operations is how many operations each test below runs in all: 100,000, or what
// the environment asks for.
func operations(t *testing.T) int {
	t.Helper()
	if text := os.Getenv("EVERBLOOM_OPERATIONS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("EVERBLOOM_OPERATIONS: %v", err)
		}
		return n
	}
	if testing.Short() {
		return 20_000
	}
	return 100_000
}

func TestModel(t *testing.T) {
	for i, s := range []filtertest.Subject{two, four, eight} {
		filtertest.Model(t, s, uint64(i), operations(t)/3)
	}
}

func FuzzModel(f *testing.F)    { filtertest.Fuzz(f, four) }
func FuzzModelOf2(f *testing.F) { filtertest.Fuzz(f, two) }

// TestNoKeyIsDeniedThroughChurn adds keys, adds them again, deletes keys of the set
// and puts deleted ones back, in filters from tiny to large, empty to far too
// full, and compares each with an exact set.
func TestNoKeyIsDeniedThroughChurn(t *testing.T) {
	cases := []struct {
		shape counting.Shape
		keys  int // about how many are in the set
	}{
		{counting.Shape{Counters: 1, Hashes: 1, CounterBits: 8}, 100},
		{counting.Shape{Counters: 32, Hashes: 3, CounterBits: 2}, 3},
		{counting.Shape{Counters: 32, Hashes: 3, CounterBits: 4}, 7},
		{counting.Shape{Counters: 32, Hashes: 3, CounterBits: 4}, 100},
		{counting.Shape{Counters: 32, Hashes: 3, CounterBits: 8}, 100},
		{counting.Shape{Counters: 33, Hashes: 64, CounterBits: 4}, 2},
		{counting.Shape{Counters: 240, Hashes: 5, CounterBits: 4}, 22},
		{counting.Shape{Counters: 9586, Hashes: 7, CounterBits: 2}, 1000},
		{counting.Shape{Counters: 9586, Hashes: 7, CounterBits: 4}, 1000},
		{counting.Shape{Counters: 9586, Hashes: 7, CounterBits: 8}, 50_000},
		{counting.Shape{Counters: 1 << 20, Hashes: 7, CounterBits: 4}, 100_000},
		{counting.Shape{Counters: 1 << 22, Hashes: 10, CounterBits: 4}, 300_000},
	}
	for i, c := range cases {
		f := build(t, c.shape)
		m := &churner{f: f, rng: rand.New(rand.NewPCG(uint64(i), 12)), keys: c.keys}
		for step := range operations(t) / len(cases) {
			if problem := m.step(); problem != "" {
				t.Fatalf("case %d, %+v, step %d, %d keys: %s", i, c.shape, step, m.set.Len(), problem)
			}
		}
		for k := range m.set.All() {
			if !f.MayContain(k) {
				t.Fatalf("case %d, %+v, in the end: %#x is in the set and was denied", i, c.shape, k)
			}
		}
		if err := f.Check(); err != nil || f.Len() != m.set.Total() {
			t.Fatalf("case %d, %+v, in the end: %d keys, want %d: %v", i, c.shape, f.Len(), m.set.Total(), err)
		}
	}
}

// A churner changes a filter and an exact set alike.
type churner struct {
	f    *counting.Filter
	set  filtertest.Set
	gone []filter.Key // some that were deleted, to be put back
	rng  *rand.Rand
	keys int
	next uint64 // number of the next new key
}

// step does one operation and looks at a few keys. It says what is wrong.
func (m *churner) step() string {
	dice := m.rng.IntN(8)
	switch full := m.set.Len() >= m.keys; {
	case m.set.Len() == 0 || dice < 3 && !full:
		m.add((filtertest.Stream{}).Present(m.next))
		m.next++
	case dice == 3 && m.set.Count(m.any()) < 300:
		m.add(m.any())
	case dice == 4 && len(m.gone) > 0:
		m.add(m.gone[m.rng.IntN(len(m.gone))])
	default:
		k := m.any()
		if err := m.f.Delete(k); err != nil {
			return "deleting a key of the set: " + err.Error()
		}
		m.set.Delete(k)
		m.remember(k)
	}
	for range min(3, m.set.Len()) {
		if !m.f.MayContain(m.any()) {
			return "a key of the set was denied"
		}
	}
	return ""
}

func (m *churner) add(k filter.Key) {
	m.f.Add(k)
	m.set.Add(k)
}

func (m *churner) any() filter.Key { return m.set.At(m.rng.IntN(m.set.Len())) }

func (m *churner) remember(k filter.Key) {
	if len(m.gone) < 64 {
		m.gone = append(m.gone, k)
		return
	}
	m.gone[m.rng.IntN(len(m.gone))] = k
}
