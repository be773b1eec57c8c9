package evergreen

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestClearedFiltersAreAsNew clears filters of all forms, in which blocks split and
// keys wait, and compares with new ones.
func TestClearedFiltersAreAsNew(t *testing.T) {
	effort.OneGoroutine(t)
	Eager(t)
	keys := filtertest.Keys(1, 20_000)
	for name, c := range map[string]Config{
		"list": {}, "presized": {Items: 15_000, Salt: 3}, "compact": {Width: 32}, "file": {SlowFile: "slow"},
	} {
		for _, n := range []int{0, 100, 20_000} {
			if c.SlowFile != "" {
				c.SlowFile = filepath.Join(t.TempDir(), "slow")
			}
			f := filtertest.Make(t, New, c)
			fresh := filtertest.Stored(t, f)
			for range 2 {
				if _, _, err := f.AddBatch(keys[:n]); err != nil {
					t.Fatal(err)
				}
				if err := f.Clear(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if err := f.check(); err != nil || f.Len() != 0 || f.Info().FPR != 0 {
					t.Fatalf("%s, %d keys: %+v, %v", name, n, f.Info(), err)
				}
				for _, k := range keys {
					if f.MayContain(k) {
						t.Fatalf("%s: %#x is found", name, k)
					}
				}
				if !bytes.Equal(filtertest.Stored(t, f), fresh) {
					t.Errorf("%s, %d keys: cleared, it is stored differently from a new one", name, n)
				}
			}
			if tab := f.tab(); tab != nil && tab.lines.array.Cap() > 3*tab.load().blocks() {
				t.Errorf("%s: memory for %d blocks is left", name, tab.lines.array.Cap())
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if err := f.Clear(); c.SlowFile != "" && !errors.Is(err, filter.ErrStorage) {
				t.Errorf("clearing a closed filter: %v", err)
			}
		}
	}
}

// TestClearIsOneStep has histories with clearing in them, for lists, for filters that
// turn, and for tables that are cleared in place.
func TestClearIsOneStep(t *testing.T) {
	histories := effort.PickVariant(200, 200, 2000)
	Eager(t)
	for _, most := range []int{0, 1, 512} {
		Lists(t, most)
		f := filtertest.Make(t, New, Config{FPR: 0.01, Items: 1})
		filtertest.Histories(t, f, histories, "add", "add", "delete", "contains", "may", "clear")
		wantSound(t, f, 0)
	}
}

// TestAFilterThatWasShrunkCanBeCleared gives back memory that Clear must not count on.
func TestAFilterThatWasShrunkCanBeCleared(t *testing.T) {
	f := filtertest.Make(t, New, Config{Items: 100_000, FPR: 0.001})
	for f.Blocks() > 2*minBlocks {
		if err := f.Shrink(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Clear(); err != nil || f.Blocks() != 2*minBlocks {
		t.Fatalf("%d blocks: %v", f.Blocks(), err)
	}
	keys := filtertest.Keys(1, 10_000)
	if _, n, err := f.AddBatch(keys); n != len(keys) || err != nil {
		t.Fatalf("%d keys: %v", n, err)
	}
	if err := f.check(); err != nil {
		t.Error(err)
	}
}
