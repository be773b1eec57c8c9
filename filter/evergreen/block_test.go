package evergreen

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

// TestAssemblyMatchesPortable does everything that there is assembly for with every
// set of instructions and compares with the portable code.
func TestAssemblyMatchesPortable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range []Shape{
		{FPR: 0.01, Hashes: 8, Width: 56},
		{FPR: 0.01, Hashes: 8, Width: 32, Salt: 9},
		{FPR: 1e-4, Hashes: 16, Width: 40},
		{FPR: 1e-6, Hashes: 24, Width: 24},
		{FPR: 1e-7, Hashes: 32, Width: 16},
	} {
		rounds, g := s.perWord(), geometries[s.Width/8]()
		var list []uint64
		for range 60 {
			list = append(list, rng.Uint64()&g.mask)
		}
		run := make([]byte, 4096)
		g.fill(run, list)
		eachLevel(t, func(t *testing.T) {
			t.Helper()
			var one, all, want, stored block
			for i, fp := range list {
				fresh := one.add(fp, rounds)
				if again := one.add(fp, rounds); i == 0 && !fresh || again {
					t.Errorf("%+v: add reports %v, then %v", s, fresh, again)
				}
				want.mark(fp, rounds)
				if one != want {
					t.Fatalf("%+v: add sets %x, want %x", s, one, want)
				}
			}
			all.collect(run, len(list), g, rounds)
			stored.store(&all)
			if all != want || stored != want {
				t.Fatalf("%+v: collect gives %x, stored %x, want %x", s, all, stored, want)
			}
			for i, fp := range list {
				if got := g.find(run, len(list), fp); got != g.portableFind(run, len(list), fp) || got > i {
					t.Fatalf("%+v: fingerprint %d is found at %d", s, i, got)
				}
			}
			if got := g.find(run, len(list)-1, list[len(list)-1]); got >= 0 && list[got] != list[len(list)-1] {
				t.Fatalf("%+v: a fingerprint that is not there is found at %d", s, got)
			}
			for range 2000 {
				fp := rng.Uint64() & g.mask
				if want.has(fp, rounds) != want.portableHas(fp, rounds) {
					t.Fatalf("%+v: has(%#x) differs", s, fp)
				}
			}
		})
	}
}

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
			eachLevel(t, func(t *testing.T) {
				t.Helper()
				f.tab().simple = f.tab().isSimple()
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
