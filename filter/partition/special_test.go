package partition

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// TestOrderDoesNotMatter adds the same ids in several orders, by ones, by unions and
// more than once. All that can be seen must be equal.
func TestOrderDoesNotMatter(t *testing.T) {
	for _, c := range []Config{{}, {Universe: 1 << 20, Depth: 14}, {Universe: 1000, Items: 10}} {
		rng := rand.New(rand.NewPCG(c.Universe, 3))
		ids := make([]uint64, 2000)
		for i := range ids {
			ids[i] = rng.Uint64()
			if c.Universe > 0 {
				ids[i] %= c.Universe
			}
		}
		first := filtertest.Make(t, New, c)
		add(t, first, ids...)
		want := filtertest.Stored(t, first)
		for name, order := range map[string]func(f *Filter){
			"ascending": func(f *Filter) { add(t, f, slices.Sorted(slices.Values(ids))...) },
			"backwards": func(f *Filter) { slices.Reverse(ids); add(t, f, ids...) },
			"twice":     func(f *Filter) { add(t, f, ids...); add(t, f, ids...) },
			"united": func(f *Filter) {
				for part := range slices.Chunk(ids, 300) {
					o := filtertest.Make(t, New, c)
					add(t, o, part...)
					if err := f.Union(o); err != nil {
						t.Fatal(err)
					}
				}
			},
			"cut out": func(f *Filter) {
				o := filtertest.Make(t, New, c)
				add(t, o, ids...)
				add(t, f, ids...)
				for i := range uint64(500) {
					add(t, f, i*i%997)
				}
				if err := f.Intersect(o); err != nil {
					t.Fatal(err)
				}
			},
		} {
			f := filtertest.Make(t, New, c)
			order(f)
			if err := f.check(); err != nil {
				t.Errorf("%+v, %s: %v", c, name, err)
			}
			if got := filtertest.Stored(t, f); !bytes.Equal(got, want) || fmt.Sprint(f.Info()) != fmt.Sprint(first.Info()) {
				t.Errorf("%+v, %s: %+v, want %+v", c, name, f.Info(), first.Info())
			}
		}
	}
}

func TestIDsOutsideTheUniverseAreRefused(t *testing.T) {
	for _, universe := range []uint64{1, 2, 5, 32, 1000, 1<<32 + 7} {
		f := filtertest.Make(t, New, Config{Universe: universe})
		add(t, f, 0, universe-1)
		before := filtertest.Stored(t, f)
		for _, id := range []filter.Key{filter.Key(universe), filter.Key(universe) + 1, 1 << 63, ^filter.Key(0)} {
			added, err := f.Add(id)
			if added || !errors.Is(err, ErrOutside) || !errors.Is(err, filter.ErrFull) {
				t.Errorf("universe of %d, id %d: %t, %v", universe, id, added, err)
			}
			if want := fmt.Sprintf("id %d, the largest is %d", id, universe-1); !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %q", err, want)
			}
			answer := []bool{true}
			f.MayContainBatch([]filter.Key{id}, answer)
			if f.MayContain(id) || answer[0] {
				t.Errorf("universe of %d: id %d is contained", universe, id)
			}
		}
		if done, added, err := f.AddBatch([]filter.Key{0, filter.Key(universe), 0}); done != 1 || added != 0 || !errors.Is(err, ErrOutside) {
			t.Errorf("a batch: %d, %d, %v", done, added, err)
		}
		if !bytes.Equal(filtertest.Stored(t, f), before) || f.check() != nil {
			t.Errorf("universe of %d: refused ids changed the filter", universe)
		}
	}
}

// TestWholeUniverseCanBeHeld adds every id there is.
func TestWholeUniverseCanBeHeld(t *testing.T) {
	for _, universe := range []uint64{1, 3, 64, 1000, 5000} {
		f := filtertest.Make(t, New, Config{Universe: universe, Items: 10})
		for id := range universe {
			add(t, f, id)
		}
		if err := f.check(); err != nil || f.Len() != universe {
			t.Errorf("%d of %d ids: %v", f.Len(), universe, err)
		}
	}
}

// TestInfoCountsAllMemory compares with what the heap says: units, tree and map.
func TestInfoCountsAllMemory(t *testing.T) {
	if effort.UnderRace {
		t.Skip("the race detector has memory of its own")
	}
	const filters = 4
	for _, c := range []Config{{FPR: 1e-4}, {FPR: 1e-4, Universe: 1 << 32}, {Items: 1000}} {
		var kept [filters]*Filter
		before := heapBits()
		for i := range kept {
			kept[i] = filtertest.Make(t, New, c)
			addUniform(t, kept[i], 40_000, uint64(i))
		}
		held := float64(heapBits()-before) / filters
		info := kept[0].Info()
		told := float64(info.FastBits + info.SlowBits)
		if held > 1.15*told || told > 1.1*held {
			t.Errorf("%+v: Info tells %.0f bits, the heap %.0f", c, told, held)
		}
		if least := uint64(kept[0].units.n) * kept[0].bits; info.FastBits < least {
			t.Errorf("%+v: %d fast bits, the units alone have %d", c, info.FastBits, least)
		}
		runtime.KeepAlive(kept)
	}
}

func heapBits() uint64 {
	runtime.GC()
	runtime.GC() // what pools hold goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return 8 * m.HeapAlloc
}

// TestChangesAllocateInProportion counts all that is allocated, kept or not.
func TestChangesAllocateInProportion(t *testing.T) {
	if effort.UnderRace {
		t.Skip("the race detector has memory of its own")
	}
	a, b := filtertest.Make(t, New, Config{Universe: 1 << 32}), filtertest.Make(t, New, Config{Universe: 1 << 32})
	allocated := func(change func()) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		change()
		runtime.ReadMemStats(&after)
		return 8 * float64(after.TotalAlloc-before.TotalAlloc)
	}
	total := func(f *Filter) float64 {
		fast, slow := f.memory()
		return float64(fast + slow)
	}
	// Each part is copied eight times per doubling, and so eight times in all if it
	// doubles from nothing; offsets are made anew with every split besides.
	if bits := allocated(func() { addUniform(t, a, 60_000, 1) }); bits > 20*total(a) {
		t.Errorf("growth allocated %.0f bits for a filter of %.0f", bits, total(a))
	}
	addUniform(t, b, 20_000, 2)
	for name, merge := range map[string]func(filter.Filter) error{"union": a.Union, "intersection": a.Intersect} {
		bits := allocated(func() {
			if err := merge(b); err != nil {
				t.Error(err)
			}
		})
		if bits > 10*total(a)+1e7 {
			t.Errorf("a %s allocated %.0f bits for a filter of %.0f", name, bits, total(a))
		}
	}
}

// TestNoMemoryChangesNothing lets a filter have only so many units.
func TestNoMemoryChangesNothing(t *testing.T) {
	for _, limit := range []uint64{0, 1, 2, 3, 5, 9} {
		f := filtertest.Make(t, New, Config{Universe: 1 << 20, Depth: 14, FPR: 0.01})
		f.units.from = mem.Heap{Limit: 8*limit*uint64(f.units.stride) + 1}
		refused := 0
		for i := range uint64(3000) {
			id := i * 7919 % (1 << 20)
			before := stored(t, f)
			info := fmt.Sprint(f.Info())
			added, err := f.Add(filter.Key(id))
			if err == nil {
				continue
			}
			if added {
				t.Fatalf("added, and yet %v", err)
			}
			if refused++; !errors.Is(err, filter.ErrStorage) || !errors.Is(err, mem.ErrMemory) {
				t.Fatal(err)
			}
			if !bytes.Equal(stored(t, f), before) || fmt.Sprint(f.Info()) != info {
				t.Fatalf("limit %d, id %d: %v changed the filter", limit, id, err)
			}
			if err := f.check(); err != nil {
				t.Fatalf("limit %d, id %d: %v", limit, id, err)
			}
			if refused > 20 {
				break
			}
		}
		if refused == 0 {
			t.Errorf("limit %d: nothing was refused, %d units", limit, f.units.n)
		}
	}
}

// stored returns the stored form, for which no memory of the filter's limit is taken.
func stored(t *testing.T, f *Filter) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := f.Image().WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestConfigReportsAllProblems(t *testing.T) {
	_, err := New(Config{Items: 1 << 50, FPR: 2, Depth: -1})
	for _, want := range []string{"Items: 1125899906842624", "FPR: 2", "Depth: -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	for want, c := range map[string]Config{
		"keys of 64 bits give at least": {FPR: 1e-16, Items: 1 << 40},
		"FPR: 1e-25, at least":          {FPR: 1e-25, Universe: 100},
		"FPR: NaN":                      {FPR: nan()},
		"Depth: 33, must be 16 to 32":   {Universe: 1 << 32, Depth: 33},
		"Depth: 3, must be 16 to 32":    {Universe: 1 << 32, Depth: 3},
	} {
		if _, err := c.Shape(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
	_, err = Build(Shape{IDBits: 70, UnitBits: 1 << 40, Hashes: 99, Full: 3, Count: 1 << 40})
	for _, want := range []string{"IDBits: 70", "UnitBits", "Hashes: 99", "Full: 3", "Count"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	if _, err := Build(Shape{Universe: 32, IDBits: 6, Depth: 3, UnitBits: 5, Hashes: 2, Full: 5}); err == nil {
		t.Error("ids of 6 bits for a universe of 32")
	}
}

func nan() float64 { x := 0.0; return x / x }

// TestAnyConfigGivesAFilter tries the edges of all that may be asked for.
func TestAnyConfigGivesAFilter(t *testing.T) {
	for _, items := range []uint64{1, 100, 1 << 20, 1 << 32} {
		for _, fpr := range []float64{0.999, 0.5, 0.1, 1e-3, 1e-7} {
			for _, universe := range []uint64{0, 1, 2, 77, 1 << 20, 1 << 63, ^uint64(0)} {
				c := Config{Items: items, FPR: fpr, Universe: universe}
				f := filtertest.Make(t, New, c)
				for i := range uint64(200) {
					id := i * 0x9E3779B97F4A7C15
					if universe > 0 {
						id %= universe
					}
					add(t, f, id)
					if !f.MayContain(filter.Key(id)) {
						t.Fatalf("%+v: %d is not found", c, id)
					}
				}
				if err := f.check(); err != nil {
					t.Fatalf("%+v: %v", c, err)
				}
				if rate := f.shape.UnitFPR(); rate > fpr || rate < fpr/3 {
					t.Errorf("%+v: a full unit has rate %g", c, rate)
				}
			}
		}
	}
}
