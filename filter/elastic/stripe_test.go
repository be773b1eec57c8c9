package elastic

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestStripesCoverSharedWords holds that trees with a word in common have a lock in
// common, at every size: of fronts, of backs, and where a block goes from one to the other.
func TestStripesCoverSharedWords(t *testing.T) {
	for _, s := range []Shape{
		{Bits: 1 << 10, Hashes: 1, HashBits: 12, Slots: 2, Branches: 1, Growth: 2, Threshold: 0.02}, // backs of two bits
		{Bits: 1 << 10, Hashes: 1, HashBits: 11, Slots: 1, Branches: 1, Growth: 1, Threshold: 1},    // no backs
		{Bits: 1 << 10, Hashes: 1, HashBits: 13, Slots: 1, Branches: 3, Growth: 3, Threshold: 1},
		{Bits: 1 << 9, Hashes: 1, HashBits: 40, Slots: 8, Branches: 7, Growth: 3, Threshold: 0.2},
		{Bits: 1 << 17, Hashes: 1, HashBits: 40, Slots: 3, Branches: 3, Growth: 2, Threshold: 1}, // stripes of several runs
	} {
		l := newLayout(s)
		stripes := newStripes(&l)
		for block := range s.Growth + 1 {
			owners := map[uint64]lockset{} // by words: what all trees in it need
			for segment := uint64(1) << block >> 1; segment < 1<<block; segment++ {
				for group := range l.segment {
					var locks lockset
					stripes.include(&locks, group, group)
					_, front, back := l.locate(segment, group)
					for _, part := range [][2]uint64{{front, l.frontBits}, {back, l.backBits}} {
						for w := part[0] / 64; part[1] > 0 && w <= (part[0]+part[1]-1)/64; w++ {
							common, ok := owners[w]
							if !ok {
								common = locks
							}
							for i := range common {
								common[i] &= locks[i]
							}
							owners[w] = common
							if common == (lockset{}) {
								t.Fatalf("%+v: the trees in word %d of block %d, up to %d of segment %d, have no lock in common", s, w, block, group, segment)
							}
						}
					}
				}
			}
		}
	}
}

// TestOneOfManyAddsAKey has goroutines add and delete the same keys at once, while the
// filter grows and shrinks: for each key one of them succeeds.
func TestOneOfManyAddsAKey(t *testing.T) {
	f := filtertest.Make(t, New, Config{Items: 500, FPR: 0.01})
	keys := filtertest.Keys(1, effort.PickVariant[uint64](2000, 5000, 20_000))
	for range 2 {
		var added, deleted atomic.Int64
		each(4, func(g int) {
			for _, i := range rand.New(rand.NewPCG(uint64(g), 1)).Perm(len(keys)) {
				isNew, err := f.Add(keys[i])
				if err != nil {
					t.Error(err)
				}
				if isNew {
					added.Add(1)
				}
			}
		})
		has(t, f, keys, "added by many")
		intact(t, f, "added by many")
		large := f.Bits()
		each(4, func(g int) {
			for _, i := range rand.New(rand.NewPCG(uint64(g), 2)).Perm(len(keys)) {
				if f.Delete(keys[i]) == nil {
					deleted.Add(1)
				}
			}
		})
		intact(t, f, "deleted by many")
		if n := int64(len(keys)); added.Load() != n || deleted.Load() != n || f.Len() != 0 || f.Bits() >= large {
			t.Errorf("%d keys were added %d times and deleted %d times, %d are left, %d and %d bits",
				n, added.Load(), deleted.Load(), f.Len(), large, f.Bits())
		}
	}
}

// each runs something in so many goroutines.
func each(goroutines int, do func(g int)) {
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() { do(g) })
	}
	all.Wait()
}

// TestWritersAtTheEdges has goroutines that change trees at the ends of stripes, in
// buckets that overflow to level 2, while runs are split by several goroutines.
func TestWritersAtTheEdges(t *testing.T) {
	f := build1(t, Shape{Bits: 1 << 11, Hashes: 1, HashBits: 40, Slots: 2, Branches: 3, Growth: 8, Threshold: 1})
	var edges []uint64 // buckets
	for g := uint64(0); g < f.table.slow.segment; g += runTrees {
		edges = append(edges, 3*g, 3*g+2, (3*g+1<<11-1)%(1<<11), (3*g+1<<11-3)%(1<<11))
	}
	for round := range uint64(3) {
		if err := f.Grow(); err != nil {
			t.Fatal(err)
		}
		each(4, func(g int) {
			if g == 0 {
				f.FinishResize()
			}
			for i, bucket := range edges {
				x := []uint64{(uint64(i)<<8|round<<4|uint64(g))<<11 | bucket}
				if added, err := f.add(x); !added || err != nil {
					t.Errorf("adding %#x: %t, %v", x, added, err)
				}
			}
		})
		intact(t, f, "edges")
	}
	if want := uint64(3 * 4 * len(edges)); f.Len() != want {
		t.Errorf("%d numbers, want %d", f.Len(), want)
	}
}

// TestLargeExpansionsAreComplete splits so many runs that several goroutines do it, with
// writers beside them and without.
func TestLargeExpansionsAreComplete(t *testing.T) {
	keys := filtertest.Keys(3, effort.PickVariant[uint64](3000, 6000, 6000))
	for _, eager := range []bool{false, true} {
		f := filtertest.Make(t, New, Config{Items: 40_000, FPR: 0.01, Eager: eager})
		if runs := f.table.slow.runs; runs < 4*chunkRuns {
			t.Fatalf("%d runs", runs)
		}
		add(t, f, keys[:2000]...)
		if err := f.Grow(); err != nil {
			t.Fatal(err)
		}
		if eager && f.Unsplit() > 0 {
			t.Errorf("%d trees are left", f.Unsplit())
		}
		each(2, func(g int) {
			if g == 0 {
				f.FinishResize()
			} else {
				add(t, f, keys[2000:]...)
			}
		})
		f.FinishResize()
		has(t, f, keys, "split by several")
		intact(t, f, "split by several")
	}
}

// TestHistoriesAreLinearizable records short histories of a few keys beside a goroutine
// that resizes.
func TestHistoriesAreLinearizable(t *testing.T) {
	f := filtertest.Make(t, New, Config{Items: 500, FPR: 0.01})
	var done atomic.Bool
	var resizer sync.WaitGroup
	resizer.Go(func() {
		others := filtertest.Keys(1<<40, 50)
		for !done.Load() {
			f.Grow()
			f.AddBatch(others)
			f.Shrink()
			for _, k := range others {
				f.Delete(k)
			}
		}
	})
	filtertest.Histories(t, f, effort.PickVariant(100, 200, 2000), "add", "delete", "contains", "may", "may")
	done.Store(true)
	resizer.Wait()
	intact(t, f, "resized")
	filtertest.Histories(t, f, effort.PickVariant(50, 100, 1000), "add", "add", "delete", "contains", "may", "clear")
}

// TestNarrowNumbersBesideWriters has numbers so short that keys are mistaken for others
// all the time, and deletes that take the fingerprints of others: counts must stay true
// and files readable, whatever is lost.
func TestNarrowNumbersBesideWriters(t *testing.T) {
	f := build1(t, Shape{Bits: 1 << 10, Hashes: 3, HashBits: 12, Slots: 8, Branches: 3, Growth: 2, Threshold: 1})
	each(4, func(g int) {
		rng := rand.New(rand.NewPCG(uint64(g), 3))
		for range effort.PickVariant(2000, 5000, 20_000) {
			k := filter.Key(rng.Uint64N(700))
			if rng.IntN(2) == 0 {
				if _, err := f.Add(k); err != nil {
					t.Error(err)
				}
			} else {
				_ = f.Delete(k) // it may be gone
			}
		}
	})
	intact(t, f, "mistaken")
	if _, err := Read(bytes.NewReader(filtertest.Stored(t, f))); err != nil {
		t.Error(err)
	}
}

// TestChunksShareNoWord looks at the words of slow memory in which trees of different chunks
// lie: chunks that are split at the same time have none in common.
func TestChunksShareNoWord(t *testing.T) {
	for _, s := range []Shape{
		{Bits: 1 << 15, Hashes: 1, HashBits: 40, Slots: 8, Branches: 7, Growth: 3, Threshold: 0.5},
		{Bits: 1 << 15, Hashes: 1, HashBits: 40, Slots: 8, Branches: 3, Growth: 3, Threshold: 0.5},
		{Bits: 1 << 11, Hashes: 1, HashBits: 40, Slots: 8, Branches: 3, Growth: 6, Threshold: 0.5},
		{Bits: 1, Hashes: 1, HashBits: 30, Slots: 8, Branches: 3, Growth: 12, Threshold: 0.5},
	} {
		l := newLayout(s)
		for doublings := 1; doublings <= s.Growth; doublings++ {
			for _, chunks := range chunksOf(l.runs, doublings) {
				owners := map[[2]uint64]uint64{} // chunks by block and word
				for _, c := range chunks {
					for r := c * chunkRuns; r < min((c+1)*chunkRuns, l.runs<<(doublings-1)); r++ {
						for _, w := range l.wordsOf(r, doublings) {
							if owner, ok := owners[w]; ok && owner != c {
								t.Fatalf("%+v, doubling %d: chunks %d and %d share word %d of block %d", s, doublings, owner, c, w[1], w[0])
							}
							owners[w] = c
						}
					}
				}
			}
		}
	}
}

// wordsOf returns the words, by block and place, of both halves of a run.
func (l *layout) wordsOf(r uint64, doublings int) (words [][2]uint64) {
	low, run := r/l.runs, r%l.runs
	for _, segment := range []uint64{low, low | 1<<(doublings-1)} {
		for group := run * runTrees; group < min((run+1)*runTrees, l.segment); group++ {
			block, front, back := l.locate(segment, group)
			for _, part := range [][2]uint64{{front, l.frontBits}, {back, l.backBits}} {
				for w := part[0] / 64; part[1] > 0 && w <= (part[0]+part[1]-1)/64; w++ {
					words = append(words, [2]uint64{uint64(block), w})
				}
			}
		}
	}
	return words
}
