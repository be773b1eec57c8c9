package evergreen

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestFewKeysTakeLittleMemory counts the heap bytes of filters with few keys: the
// keys, and little besides.
func TestFewKeysTakeLittleMemory(t *testing.T) {
	effort.PlainOnly(t)
	for _, c := range []struct{ keys, most uint64 }{{0, 64}, {1, 64 + 24 + 16}, {100, 64 + 24 + 896}, {512, 64 + 24 + 4096}} {
		filters := make([]*Filter, 4000)
		keys := filtertest.Keys(1, c.keys)
		before := heapBytes()
		for i := range filters {
			filters[i] = filtertest.Make(t, New, Config{FPR: 0.01})
			if _, _, err := filters[i].AddBatch(keys); err != nil {
				t.Fatal(err)
			}
		}
		each := float64(heapBytes()-before) / float64(len(filters))
		if each > float64(c.most)+4 {
			t.Errorf("a filter with %d keys takes %.1f bytes, want %d at most", c.keys, each, c.most)
		}
		runtime.KeepAlive(filters)
	}
}

func heapBytes() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// TestNewMakesOneAllocation holds that neither shapes nor tables are made for a list.
func TestNewMakesOneAllocation(t *testing.T) {
	var sink *Filter
	if n := testing.AllocsPerRun(100, func() { sink, _ = New(Config{FPR: 0.003, Items: 100}) }); n != 1 {
		t.Errorf("%v allocations", n)
	}
	runtime.KeepAlive(sink)
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(Config{FPR: 0.003}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestListsTurnAtTheirLimits adds and deletes one by one and looks when the filter
// turns.
func TestListsTurnAtTheirLimits(t *testing.T) {
	keys := filtertest.Keys(2, 600)
	f := filtertest.Make(t, New, Config{FPR: 0.01, Items: 512})
	for i, k := range keys {
		if added, err := f.Add(k); !added || err != nil {
			t.Fatal(added, err)
		}
		if listed := f.Blocks() == 0; listed != (i < 512) {
			t.Fatalf("%d keys: in a list: %v", i+1, listed)
		}
	}
	for i, k := range keys {
		if err := f.Delete(k); err != nil {
			t.Fatal(err)
		}
		if left := len(keys) - i - 1; f.Blocks() == 0 && left > 256 || f.Blocks() != 0 && left == 0 {
			t.Fatalf("%d keys left in %d blocks", left, f.Blocks())
		}
	}
	if f = filtertest.Make(t, New, Config{FPR: 0.01, Items: 513}); f.Blocks() == 0 {
		t.Error("a filter for 513 keys begins as a list")
	}
}

// TestListsRefuseAsTablesDo holds the answers of Add and Delete.
func TestListsRefuseAsTablesDo(t *testing.T) {
	f := filtertest.Make(t, New, Config{})
	f.Add(5)
	f.Add(3)
	if added, err := f.Add(5); added || err != nil {
		t.Error(added, err)
	}
	if done, added, err := f.AddBatch([]filter.Key{3, 9, 9, 7, 5}); done != 5 || added != 2 || err != nil {
		t.Error(done, added, err)
	}
	if err := f.Delete(4); !errors.Is(err, filter.ErrNotFound) {
		t.Error(err)
	}
	if err := f.Shrink(); !errors.Is(err, filter.ErrFull) {
		t.Error(err)
	}
	if got := slices.Sorted(f.Keys()); !slices.Equal(got, []filter.Key{3, 5, 7, 9}) || f.check() != nil {
		t.Error(got, f.check())
	}
}

// TestListsAreStoredAsTables compares the file of a list with that of a table of the
// smallest size with the same keys.
func TestListsAreStoredAsTables(t *testing.T) {
	for _, n := range []uint64{0, 1, 100, 512} {
		keys := filtertest.Keys(3, n)
		shape := Shape{FPR: 0.001, Hashes: 8, Width: 56, Salt: 4}
		f, table := filtertest.Make(t, Build, shape), mustBuild(t, shape)
		f.AddBatch(keys)
		table.AddBatch(keys)
		stored := filtertest.Stored(t, table)
		if f.Blocks() != 0 || !bytes.Equal(filtertest.Stored(t, f), stored) {
			t.Errorf("%d keys in %d blocks are stored differently", n, f.Blocks())
		}
		g, err := Read(bytes.NewReader(stored))
		if err != nil {
			t.Fatal(err)
		}
		if g.Blocks() != 0 || g.Len() != n || g.Info().FPR > 1e-16 {
			t.Errorf("read back: %+v", g.Info())
		}
	}
}

// TestGrowAndShrinkTurnLists goes from a list to blocks and back.
func TestGrowAndShrinkTurnLists(t *testing.T) {
	f := filtertest.Make(t, New, Config{FPR: 0.01})
	keys := filtertest.Keys(4, 100)
	f.AddBatch(keys)
	for want := uint64(minBlocks + 1); want < minBlocks+4; want++ {
		if err := f.Grow(); err != nil || f.Blocks() != want {
			t.Fatalf("%d blocks, want %d: %v", f.Blocks(), want, err)
		}
	}
	filter.DeleteBatch(f, keys[10:])
	if f.Blocks() != minBlocks+3 {
		t.Errorf("%d blocks, of which three were asked for", f.Blocks())
	}
	for range 3 {
		if err := f.Shrink(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Shrink(); f.Blocks() != 0 || !errors.Is(err, filter.ErrFull) || !f.Contains(keys[9]) {
		t.Errorf("%d blocks, %v", f.Blocks(), err)
	}
	f.AddBatch(filtertest.Keys(4, 1000))
	if err := f.Shrink(); !errors.Is(err, filter.ErrFull) {
		t.Errorf("a thousand keys became a list: %v", err)
	}
}

// TestReadersNeverMissKeysThatTurn has writers turn the filter to a table and back all
// the time, while readers ask for keys that stay, and clones and snapshots are taken.
func TestReadersNeverMissKeysThatTurn(t *testing.T) {
	Lists(t, 20)
	Eager(t)
	rounds := effort.PickVariant(60, 60, 400)
	f := filtertest.Make(t, New, Config{FPR: 0.01})
	present := filtertest.Keys(1, 5)
	f.AddBatch(present)
	var done atomic.Bool
	var turns atomic.Int64
	var writers, others sync.WaitGroup
	for r := range uint64(2) {
		others.Go(func() {
			out := make([]bool, len(present))
			rng := rand.New(rand.NewPCG(r, 1))
			for blocks := uint64(0); !done.Load(); {
				f.MayContainBatch(present, out)
				k := present[rng.IntN(len(present))]
				if slices.Contains(out, false) || !f.MayContain(k) || !f.Contains(k) || f.Len() < 5 {
					t.Errorf("%#x or another is absent: %v", k, out)
					return
				}
				if now := f.Blocks(); (now == 0) != (blocks == 0) {
					turns.Add(1)
					blocks = now
				}
			}
		})
	}
	others.Go(func() {
		for !done.Load() {
			g, err := f.Clone()
			if err != nil || g.check() != nil {
				t.Errorf("a clone: %v, %v", err, g.check())
				return
			}
			g, err = Read(bytes.NewReader(filtertest.Stored(t, f)))
			if err != nil {
				t.Error(err)
				return
			}
			wantKeys(t, g, present)
		}
	})
	for w := range uint64(2) {
		writers.Go(func() {
			keys := filtertest.Keys(10+w, 15)
			for range rounds {
				for _, k := range keys {
					if added, err := f.Add(k); !added || err != nil {
						t.Errorf("adding %#x: %v, %v", k, added, err)
					}
				}
				for _, k := range keys {
					if err := f.Delete(k); err != nil {
						t.Errorf("deleting %#x: %v", k, err)
					}
				}
			}
		})
	}
	writers.Wait()
	done.Store(true)
	others.Wait()
	wantSound(t, f, 5)
	t.Logf("readers saw %d turns", turns.Load())
}

// TestTurningHistoriesAreLinearizable is TestHistoriesAreLinearizable for lists, and
// for filters that are a table with three keys and a list with one.
func TestTurningHistoriesAreLinearizable(t *testing.T) {
	histories := effort.PickVariant(300, 300, 3000)
	for _, most := range []int{2, 512} {
		Lists(t, most)
		f := filtertest.Make(t, New, Config{FPR: 0.01})
		f.Add(1 << 63)
		filtertest.Histories(t, f, histories, "add", "delete", "contains", "may", "may")
		wantSound(t, f, 1)
	}
}
