package evergreen

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/line"
	"github.com/everbloom-go/everbloom/internal/line/linetest"
)

// TestLookupsMatchPortable asks filters of many sizes, whose blocks are in many
// segments, by all ways that there are.
func TestLookupsMatchPortable(t *testing.T) {
	effort.OneGoroutine(t)
	for _, s := range shapes {
		for _, blocks := range []uint64{256, 257, 511, 512, 513, 5000, prefetchedBlocks} {
			if blocks == prefetchedBlocks && s.Width != 56 && s.Width != 40 {
				continue
			}
			made, err := newTable(s, blocks, "")
			if err != nil {
				t.Fatal(err)
			}
			f := fromTable(made)
			rng := rand.New(rand.NewPCG(blocks, 3))
			keys := make([]filter.Key, 3000)
			for i := range keys {
				keys[i] = filter.Key(rng.Uint64())
				if i%2 == 0 {
					f.Add(keys[i])
				}
			}
			want := make([]bool, len(keys))
			for i, k := range keys {
				want[i] = f.tab().portableHas(k)
			}
			linetest.EachLevel(t, func(t *testing.T) {
				t.Helper()
				f.tab().level, f.tab().simple = line.CPU, isSimple(line.CPU, s)
				compareLookups(t, f, keys, want)
			})
		}
	}
}

// prefetchedBlocks is enough for batches to prefetch.
const prefetchedBlocks = 1<<15 + 77

func compareLookups(t *testing.T, f *Filter, keys []filter.Key, want []bool) {
	t.Helper()
	got := make([]bool, len(keys))
	for i, k := range keys {
		got[i] = f.MayContain(k)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, %d blocks: MayContain differs", f.shape, f.Blocks())
	}
	for lo, n := 0, 0; lo < len(keys); lo += n {
		n = min(n+1, len(keys)-lo)
		f.MayContainBatch(keys[lo:lo+n], got[lo:lo+n])
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, %d blocks: MayContainBatch differs", f.shape, f.Blocks())
	}
	clear(got)
	f.tab().portableHasBatch(keys, got)
	if !slices.Equal(got, want) {
		t.Errorf("%+v, %d blocks: portableHasBatch differs", f.shape, f.Blocks())
	}
}
