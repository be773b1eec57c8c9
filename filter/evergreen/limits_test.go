package evergreen

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestFullCompactFilterStopsAtItsCapacity fills one to the last key. It can be stored
// and read back, and takes a key for each that is deleted.
func TestFullCompactFilterStopsAtItsCapacity(t *testing.T) {
	effort.OneGoroutine(t)
	f := filtertest.Make(t, New, Config{FPR: 1e-4, Width: 24})
	keys := filtertest.Keys(1, f.shape.Capacity()+1)
	done, _, err := f.AddBatch(keys)
	if done != len(keys)-1 || !errors.Is(err, filter.ErrFull) || f.Len() != f.shape.Capacity() {
		t.Fatalf("%d keys: %v, capacity %d", done, err, f.shape.Capacity())
	}
	twin, err := Read(bytes.NewReader(filtertest.Stored(t, f)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*Filter{f, twin} {
		for _, k := range keys[:10] {
			if _, err := f.Add(k); !errors.Is(err, filter.ErrFull) {
				t.Errorf("one more than the capacity: %v", err)
			}
			if err := f.Delete(k); err != nil {
				t.Error(err)
			}
			if _, err := f.Add(k); err != nil {
				t.Errorf("one for one: %v", err)
			}
		}
	}
}

// TestAddressBitsRunOut has as many blocks as fingerprints can number: one more
// would lose keys.
func TestAddressBitsRunOut(t *testing.T) {
	if got, want := (Shape{Width: 16}).maxBlocks(), uint64(1<<24); got != want {
		t.Errorf("%d blocks for 16 bits, want %d", got, want)
	}
	if got := (Shape{Width: 56}).maxBlocks(); got != maxBlocks {
		t.Errorf("%d blocks for whole keys, want %d", got, uint64(maxBlocks))
	}
	f := mustBuild(t, Shape{FPR: 0.01, Hashes: 8, Width: 16})
	f.tab().state.Store(uint64(state(0).step(1 << 24))) // without the gigabyte
	if err := f.Grow(); !errors.Is(err, filter.ErrFull) || f.Blocks() != 1<<24 {
		t.Errorf("%d blocks: %v", f.Blocks(), err)
	}
}

func TestTooNarrowForTheRateIsRefused(t *testing.T) {
	if _, err := New(Config{FPR: 1e-9, Width: 24}); err == nil {
		t.Error("a filter that cannot hold a key was made")
	}
}

// TestMemoryMayEndAnywhere gives a filter all amounts of memory up to some, so that
// each of its allocations is refused once.
func TestMemoryMayEndAnywhere(t *testing.T) {
	effort.OneGoroutine(t)
	Eager(t)
	keys := filtertest.Keys(1, 4000)
	const least, most, step = 4 * 512, 160 * 512, 5*512/2 + 16
	for i := range effort.Positions(t, (most-least+step-1)/step, 4, 5) {
		words := uint64(least + i*step)
		f, _ := poor(t, words)
		in := slices.DeleteFunc(slices.Clone(keys), func(k filter.Key) bool {
			_, err := f.Add(k)
			return err != nil
		})
		saved, err := Read(bytes.NewReader(filtertest.Stored(t, f)))
		if err != nil {
			t.Fatalf("%d words: %v", words, err)
		}
		twin, err := f.Clone()
		if err != nil {
			t.Fatalf("%d words: %v", words, err)
		}
		for _, g := range []*Filter{saved, twin} {
			if err := g.check(); err != nil {
				t.Fatalf("%d words: %v", words, err)
			}
		}
		for _, g := range []*Filter{f, saved, twin} {
			if g.Len() != uint64(len(in)) {
				t.Fatalf("%d words: %d keys of %d", words, g.Len(), len(in))
			}
			wantKeys(t, g, in)
		}
	}
}

// TestAFilterWithoutMemoryCanBeEmptied deletes all keys of a filter that has used up
// its memory. A few may have to wait until others have made room.
func TestAFilterWithoutMemoryCanBeEmptied(t *testing.T) {
	effort.OneGoroutine(t)
	Eager(t)
	f, _ := poor(t, 60*512)
	keys := slices.DeleteFunc(filtertest.Keys(1, 40_000), func(k filter.Key) bool {
		_, err := f.Add(k)
		return err != nil
	})
	if len(keys) == 40_000 {
		t.Fatal("there was memory for all keys")
	}
	refused := slices.DeleteFunc(slices.Clone(keys), func(k filter.Key) bool { return f.Delete(k) == nil })
	if len(refused) > len(keys)/1000 {
		t.Errorf("%d of %d keys could not be deleted", len(refused), len(keys))
	}
	for _, k := range refused {
		if err := f.Delete(k); err != nil {
			t.Fatal(err)
		}
	}
	wantSound(t, f, 0)
}

// TestClosedFilterOnlyAnswers does everything with a filter whose memory is gone.
func TestClosedFilterOnlyAnswers(t *testing.T) {
	Eager(t)
	path := filepath.Join(t.TempDir(), "slow")
	f := filtertest.Make(t, New, Config{FPR: 0.01, Width: 32, SlowFile: path})
	keys := filtertest.Keys(1, 3000)
	if _, _, err := f.AddBatch(keys); err != nil {
		t.Fatal(err)
	}
	other := mustBuild(t, f.shape)
	if _, err := other.Add(keys[0]); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is left")
	}
	_, _, addBatch := f.AddBatch(keys)
	_, _, _, deleteBatch := filter.DeleteBatch(f, keys)
	_, clone := f.Clone()
	_, snapshot := f.Snapshot().WriteTo(&bytes.Buffer{})
	_, add := f.Add(5)
	for name, err := range map[string]error{
		"Add": add, "AddBatch": addBatch, "Delete": f.Delete(keys[0]), "DeleteBatch": deleteBatch, "Grow": f.Grow(), "Shrink": f.Shrink(),
		"Clone": clone, "Snapshot": snapshot, "Union": f.Union(other), "Intersect": f.Intersect(other), "union with it": other.Union(f), "intersection with it": other.Intersect(f),
	} {
		if !errors.Is(err, filter.ErrStorage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if f.Len() != 3000 || f.Info().Keys != 3000 || !f.MayContain(keys[7]) || !f.Contains(keys[7]) || !other.Contains(keys[0]) {
		t.Error("it does not answer as before")
	}
	for k := range f.Keys() {
		t.Errorf("it gives key %#x", k)
	}
}

func TestFilesAreNotLeftByErrors(t *testing.T) {
	f := mustBuild(t, Shape{FPR: 0.01, Hashes: 8, Width: 56})
	if _, _, err := f.AddBatch(filtertest.Keys(1, 3000)); err != nil {
		t.Fatal(err)
	}
	stored := filtertest.Stored(t, f)
	path := filepath.Join(t.TempDir(), "slow")
	stored[len(stored)-1] ^= 1
	if _, err := ReadSlow(bytes.NewReader(stored), path); err == nil {
		t.Fatal("a damaged file was read")
	}
	if _, err := New(Config{Items: 1 << 36, SlowFile: path}); err == nil {
		t.Fatal("half a terabyte was found")
	}
	stored[len(stored)-1] ^= 1
	g, err := ReadSlow(bytes.NewReader(stored), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
