package deletable_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/filter/filtertest"
)

// operations is how many operations the churn below runs: 100,000, or what the
// environment asks for. The models, which do more at each, run a quarter of that.
func operations(tb testing.TB) int {
	tb.Helper()
	if text := os.Getenv("EVERBLOOM_OPERATIONS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			tb.Fatalf("EVERBLOOM_OPERATIONS: %v", err)
		}
		return n
	}
	if testing.Short() {
		return 20_000
	}
	return 100_000
}

func TestModel(t *testing.T)               { filtertest.Model(t, subject, 1, operations(t)/4) }
func TestCollisionArrayModel(t *testing.T) { filtertest.Model(t, collisionArray, 2, operations(t)/4) }

func FuzzModel(f *testing.F)               { filtertest.Fuzz(f, subject) }
func FuzzCollisionArrayModel(f *testing.F) { filtertest.Fuzz(f, collisionArray) }

// TestNoKeyIsDeniedThroughChurn adds keys, adds some again, deletes keys of the
// set and puts deleted ones back, in filters from tiny to large, and compares each
// with an exact set. Since marks only accumulate, filters begin anew some time after
// most of their regions are marked.
func TestNoKeyIsDeniedThroughChurn(t *testing.T) {
	cases := []struct {
		shape deletable.Shape
		keys  int // at most in the set
	}{
		{deletable.Shape{Bits: 2, Hashes: 1, Regions: 1}, 2},
		{deletable.Shape{Bits: 32, Hashes: 3, Regions: 4}, 3},
		{deletable.Shape{Bits: 32, Hashes: 2, Regions: 16}, 6},
		{deletable.Shape{Bits: 33, Hashes: 5, Regions: 3}, 3},
		{deletable.Shape{Bits: 64, Hashes: 1, Regions: 32}, 20},
		{deletable.Shape{Bits: 240, Hashes: 5, Regions: 24}, 22},
		{deletable.Shape{Bits: 241, Hashes: 64, Regions: 100}, 2},
		{deletable.Shape{Bits: 11_490, Hashes: 5, Regions: 1641}, 1000},
		{deletable.Shape{Bits: 20_001, Hashes: 7, Regions: 10_000}, 1000},
		{deletable.Shape{Bits: 1 << 21, Hashes: 5, Regions: 1 << 18}, 150_000},
	}
	for i, c := range cases {
		m := &churner{shape: c.shape, rng: rand.New(rand.NewPCG(uint64(i), 12)), keys: c.keys}
		m.restart(t)
		for step := range operations(t) / len(cases) {
			if problem := m.step(); problem != "" {
				t.Fatalf("case %d, %+v, step %d, %d keys: %s", i, c.shape, step, m.set.Len(), problem)
			}
			if m.f.CleanRegions() < 0.3 && m.rng.IntN(16) == 0 {
				m.checkAll(t)
				m.restart(t)
			}
		}
		m.checkAll(t)
		t.Logf("%+v: %d deleted, %d pinned, %d filters", c.shape, m.deleted, m.pinned, m.filters)
	}
}

// A churner changes a filter and an exact set alike.
type churner struct {
	shape deletable.Shape
	f     *deletable.Filter
	set   filtertest.Set
	gone  []filter.Key // some that were deleted, to be put back
	rng   *rand.Rand
	keys  int
	next  uint64 // number of the next new key

	deleted, pinned, filters int
}

// restart begins with an empty filter and another salt.
func (m *churner) restart(t *testing.T) {
	t.Helper()
	m.shape.Salt++
	m.f, m.set, m.gone = build(t, m.shape), filtertest.Set{}, m.gone[:0]
	m.filters++
}

// step does one operation and looks at a few keys. It says what is wrong.
func (m *churner) step() string {
	dice := m.rng.IntN(32)
	switch {
	case m.set.Len() == 0 || dice < 13 && m.set.Len() < m.keys:
		m.add((filtertest.Stream{}).Present(m.next))
		m.next++
	case dice == 13:
		m.add(m.any())
	case dice < 18 && len(m.gone) > 0 && m.set.Len() < m.keys:
		m.add(m.gone[m.rng.IntN(len(m.gone))])
	default:
		if problem := m.delete(m.any()); problem != "" {
			return problem
		}
	}
	for range min(3, m.set.Len()) {
		if !m.f.MayContain(m.any()) {
			return "a key of the set was denied"
		}
	}
	return ""
}

// delete deletes a key of the set. A pinned key is forgotten now and then, as
// users would do: it stays a false positive.
func (m *churner) delete(k filter.Key) string {
	switch err := m.f.Delete(k); {
	case err == nil && m.set.Count(k) > 1:
		return "a key that was added twice could be deleted"
	case err == nil && m.f.MayContain(k):
		return "a key is present right after it was deleted"
	case err == nil:
		m.deleted++
		m.remember(k)
		m.set.Remove(k)
	case !errors.Is(err, filter.ErrPinned):
		return "deleting a key of the set: " + err.Error()
	default:
		m.pinned++
		if m.rng.IntN(2) == 0 {
			m.set.Remove(k)
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

func (m *churner) checkAll(t *testing.T) {
	t.Helper()
	for k := range m.set.All() {
		if !m.f.MayContain(k) {
			t.Fatalf("%+v: %#x is in the set and was denied", m.shape, k)
		}
	}
	if err := m.f.Check(); err != nil {
		t.Fatalf("%+v: %v", m.shape, err)
	}
}
