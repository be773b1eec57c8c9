package elastic

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

var errNoMemory = errors.New("no memory")

// noMemory is an allocator that has none.
type noMemory struct{}

func (noMemory) Words(uint64) ([]uint64, error) { return nil, errNoMemory }

// TestFilterWithoutMemoryGoesOn takes the memory away: keys are stored for as long
// as buckets have room, at a rising rate that Info tells, and growth is caught up
// with when there is memory again.
func TestFilterWithoutMemoryGoesOn(t *testing.T) {
	f := build1(t, Shape{Bits: 1 << 10, Hashes: 5, HashBits: 44, Slots: 4, Branches: 3, Growth: 10, Threshold: 0.3})
	heap := f.table.slow.from
	f.table.slow.from = noMemory{}
	keys := filtertest.Keys(1, 5000)
	n := 0
	var err error
	for ; n < len(keys); n++ {
		if _, err = f.Add(keys[n]); err != nil {
			break
		}
	}
	if !errors.Is(err, filter.ErrStorage) || !errors.Is(err, errNoMemory) || float64(f.table.set.Load()) < 0.4*1024 || f.Bits() != 1<<10 {
		t.Fatalf("%d keys, %d bits set: %v", n, f.table.set.Load(), err)
	}
	if info := f.Info(); !info.Overfull || info.Unbounded || info.FPR < 0.01 {
		t.Errorf("%+v", info)
	}
	before := filtertest.Stored(t, f)
	if _, err := f.Add(keys[n]); !errors.Is(err, filter.ErrStorage) || string(filtertest.Stored(t, f)) != string(before) {
		t.Errorf("refused again: %v", err)
	}
	if err := f.Grow(); !errors.Is(err, filter.ErrStorage) {
		t.Errorf("Grow: %v", err)
	}
	has(t, f, keys[:n], "without memory")
	intact(t, f, "without memory")
	f.table.slow.from = heap
	add(t, f, keys[n:]...)
	f.FinishResize()
	if info := f.Info(); info.Overfull || info.Fill > 0.3 {
		t.Errorf("memory came back: %+v", info)
	}
	has(t, f, keys, "memory came back")
}

// TestSlowFileHoldsTheBuckets goes up and down in a file.
func TestSlowFileHoldsTheBuckets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slow")
	f := filtertest.Make(t, New, Config{Items: 500, FPR: 0.01, SlowFile: path})
	keys := filtertest.Keys(2, 2000)
	for range 2 {
		add(t, f, keys...)
		intact(t, f, "grown")
		info, err := os.Stat(path)
		if err != nil || uint64(info.Size())*8 < f.Info().SlowBits {
			t.Fatalf("file %v, %v, %d slow bits", info, err, f.Info().SlowBits)
		}
		remove(t, f, keys[:1900]...)
		intact(t, f, "shrunk")
		has(t, f, keys[1900:], "shrunk")
	}
	stored := f.Snapshot()
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
	has(t, f, keys[1900:], "closed")
	wantClosed(t, f)
	pipe, w := io.Pipe()
	go func() { _, err := stored.WriteTo(w); w.CloseWithError(err) }()
	g, err := ReadSlow(pipe, path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	has(t, g, keys[1900:], "read into a file")
	intact(t, g, "read into a file")
}

// wantClosed checks that a closed filter refuses all that needs its slow memory.
func wantClosed(t *testing.T, f *Filter) {
	t.Helper()
	_, addErr := f.Add(1)
	_, _, batchErr := f.AddBatch([]filter.Key{1})
	_, writeErr := f.Snapshot().WriteTo(io.Discard)
	other := filtertest.Make(t, Build, f.Shape())
	for name, err := range map[string]error{
		"Add": addErr, "AddBatch": batchErr, "Delete": f.Delete(1), "Grow": f.Grow(), "Shrink": f.Shrink(),
		"Union": f.Union(other), "Intersect": f.Intersect(other), "Snapshot": writeErr,
		"Union with it": other.Union(f), "Intersect with it": other.Intersect(f),
	} {
		if !errors.Is(err, filter.ErrStorage) {
			t.Errorf("%s of a closed filter: %v", name, err)
		}
	}
	f.FinishResize()
	if f.Contains(1) != f.MayContain(1) || f.Info().Keys == 0 {
		t.Errorf("a closed filter: %+v", f.Info())
	}
}

func TestUnwritableSlowFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	if err := os.WriteFile(taken, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{taken, filepath.Join(dir, "no", "such"), dir} {
		f, err := New(Config{Items: 100, SlowFile: path})
		if !errors.Is(err, filter.ErrStorage) || f != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if b, err := os.ReadFile(taken); string(b) != "precious" {
		t.Errorf("a file that was there is now %q: %v", b, err)
	}
}

// TestImpossibleSizesAreRefused asks for more than there is, and leaves no file.
func TestImpossibleSizesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slow")
	if _, err := New(Config{Items: 1 << 42, SlowFile: path}); !errors.Is(err, filter.ErrStorage) {
		t.Errorf("New: %v", err)
	}
	s := Shape{Bits: 1 << 34, Hashes: 5, HashBits: 60, Slots: 32, Branches: 8, Growth: 10, Threshold: 0.5}
	if _, err := build(s, path); !errors.Is(err, filter.ErrStorage) {
		t.Errorf("Build: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file is left: %v", err)
	}
}
