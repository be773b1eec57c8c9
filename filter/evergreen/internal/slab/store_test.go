package slab

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/line"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// busy are the blocks that another goroutine holds.
type busy map[uint64]bool

func (b busy) TryLock(block, _ uint64) bool { return !b[block] }
func (b busy) Unlock(uint64, uint64)        {}

const blocks = 3000

func newStore(t *testing.T, locks Locks) *Store {
	t.Helper()
	effort.OneGoroutine(t)
	s := New(7, 8, locks, mem.Heap{})
	if err := s.Grow(blocks); err != nil {
		t.Fatal(err)
	}
	return s
}

// model is what a store should hold.
type model [blocks][]uint64

// change pushes fingerprints to random blocks, or drops them, until there are total.
func (m *model) change(t *testing.T, s *Store, rng *rand.Rand, have, total int) {
	t.Helper()
	for have != total {
		block := rng.Uint64N(blocks)
		list, r := m[block], s.Ref(block)
		var err error
		switch {
		case have < total && len(list) < 50:
			v := rng.Uint64() & line.Mask(s.Width)
			err = s.Push(r, block, v)
			m[block] = append(list, v)
			have++
		case have > total && len(list) > 0:
			i := rng.IntN(len(list))
			err = s.Drop(r, block, s.Run(*r), i)
			last := len(list) - 1
			list[i] = list[last]
			m[block] = list[:last]
			have--
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	m.compare(t, s)
}

func (m *model) compare(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Check(blocks); err != nil {
		t.Fatal(err)
	}
	for i, want := range m {
		r := *s.Ref(uint64(i))
		if r.Count() != len(want) || r.Count() > 0 && !slices.Equal(s.Run(r).AppendTo(nil), want) {
			t.Fatalf("block %d holds %d fingerprints, want %d", i, r.Count(), len(want))
		}
	}
}

// TestRunsAreKept fills a store and empties it in waves, with few and many free places.
// In the end all memory is given back.
func TestRunsAreKept(t *testing.T) {
	for _, from := range []int{32, 4096} {
		defer func(before int) { FreeFrom = before }(FreeFrom)
		FreeFrom = from
		s, m := newStore(t, busy{}), new(model)
		rng := rand.New(rand.NewPCG(1, uint64(from)))
		have := 0
		for _, total := range []int{20_000, 60_000, 30_000, 40_000, 100, 0} {
			m.change(t, s, rng, have, total)
			have = total
			for s.IsFragmented() {
				s.Compact()
			}
			m.compare(t, s)
		}
		if s.pages.used != s.pages.free.count || s.pages.words.Cap() > 64 || s.Bits(0) != 0 {
			t.Errorf("%d pages are used, %d of them free, in memory for %d", s.pages.used, s.pages.free.count, s.pages.words.Cap())
		}
	}
}

// TestBusyRunsStay has runs of blocks that cannot be locked: they leave places free,
// which are filled when the blocks can be had again.
func TestBusyRunsStay(t *testing.T) {
	locks := busy{}
	s, m := newStore(t, locks), new(model)
	rng := rand.New(rand.NewPCG(2, 2))
	m.change(t, s, rng, 0, 30_000)
	for i := range uint64(blocks) {
		locks[i] = i%3 == 0
	}
	m.change(t, s, rng, 30_000, 10_000)
	free := 0
	for i := range s.classes {
		free += s.classes[i].free
	}
	if free == 0 {
		t.Error("no place is free: runs of busy blocks were moved")
	}
	clear(locks)
	m.change(t, s, rng, 10_000, 0)
	if s.pages.used != s.pages.free.count {
		t.Errorf("%d of %d pages are free", s.pages.free.count, s.pages.used)
	}
}

// TestReplaceAndJoin moves whole runs.
func TestReplaceAndJoin(t *testing.T) {
	s := newStore(t, busy{})
	long := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, step := range []func() error{
		func() error { return s.Replace(1, long) },
		func() error { return s.Replace(2, long[:3]) },
		func() error { return s.Replace(1, long[4:]) },
		func() error { return s.Join(2, 1) },
		func() error { return s.Join(2, 1) }, // which has none left
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Run(*s.Ref(2)).AppendTo(nil); !slices.Equal(got, []uint64{1, 2, 3, 5, 6, 7, 8, 9}) || *s.Ref(1) != 0 {
		t.Errorf("%d, and block 1 has ref %#x", got, *s.Ref(1))
	}
	if err := s.Check(blocks); err != nil {
		t.Error(err)
	}
	s.Clear(blocks, 300)
	if err := s.Check(300); err != nil || s.Bits(300) != 64*300 || s.refs.Cap() >= blocks {
		t.Errorf("cleared: %v, %d bits, %d refs", err, s.Bits(300), s.refs.Cap())
	}
}

// TestPlansAreEnough grows runs as planned, block by block: they take no more pages
// than were reserved.
func TestPlansAreEnough(t *testing.T) {
	for seed := range uint64(effort.PickVariant(20, 60, 300)) {
		s, m := newStore(t, busy{}), new(model)
		rng := rand.New(rand.NewPCG(3, seed))
		m.change(t, s, rng, 0, rng.IntN(3000))
		plan := s.Plan()
		grows := make([]int, rng.IntN(300))
		for i := range grows {
			grows[i] = rng.IntN(80)
			plan.Grow(len(m[i]), len(m[i])+grows[i])
		}
		if err := s.Reserve(plan, 0); err != nil {
			t.Fatal(err)
		}
		reserved := 0
		for class := 1; class < classCount; class++ {
			reserved += (plan.most[class] + perPage(class) - 1) / perPage(class)
		}
		for i, n := range grows {
			for range n {
				if err := s.Push(s.Ref(uint64(i)), uint64(i), 7); err != nil {
					t.Fatal(err)
				}
			}
		}
		if int(s.pages.used) > reserved || s.pages.words.Cap() < uint64(reserved) {
			t.Errorf("%d pages were planned, %d are used, in memory for %d", reserved, s.pages.used, s.pages.words.Cap())
		}
	}
}

// TestRunCountsAreThoseOfTheStore compares the memory of a store without free places
// with that of its runs.
func TestRunCountsAreThoseOfTheStore(t *testing.T) {
	s, m := newStore(t, busy{}), new(model)
	m.change(t, s, rand.New(rand.NewPCG(4, 4)), 0, 30_000)
	var counts RunCounts
	for _, list := range m {
		counts.Add(s.Geometry, len(list))
	}
	if got, want := counts.Bits(blocks), s.Bits(blocks); got != want {
		t.Errorf("%d bits, the store has %d", got, want)
	}
}

func TestChecksFindDamage(t *testing.T) {
	for name, damage := range map[string]func(s *Store){
		"belongs to":           func(s *Store) { setOwner(s.bytes(s.Ref(7).address(), int(s.class[s.Ref(7).Count()])), 8) },
		"free places of class": func(s *Store) { s.classes[1].fill-- },
		"in the list":          func(s *Store) { s.classes[1].free++ },
		"pages in lists":       func(s *Store) { s.pages.used++ },
		"page above":           func(s *Store) { s.pages.set(s.classes[1].top-1, newLink(0, 1, 1)) },
		"counted":              func(s *Store) { s.classes[2].count--; s.classes[2].fill += perPage(2); s.pages.free.count++ },
		"has ref":              func(s *Store) { *s.Ref(9) = newRef(77, 0) },
	} {
		s, m := newStore(t, busy{}), new(model)
		m.change(t, s, rand.New(rand.NewPCG(5, 5)), 0, 10_000)
		damage(s)
		if err := s.Check(blocks); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the check says %v", name, err)
		}
	}
}
