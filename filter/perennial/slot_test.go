package perennial

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomEntries returns entries of a bucket in order, some of them counted or void.
func randomEntries(rng *rand.Rand, c coder) []entry {
	var entries []entry
	for range rng.IntN(6) {
		e := entry{v: rng.Uint64()>>(64-c.w) | 1<<rng.IntN(int(c.w)), count: 1}
		if rng.IntN(3) == 0 {
			e.count += rng.Uint64N(9)
		}
		if rng.IntN(4) == 0 {
			e.v, e.depth = 0, 1+rng.Uint64N(5)
		}
		entries = append(entries, e)
	}
	return c.join(entries)
}

func TestEntriesAreCodedAndDecoded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		c := coder{minWidth + uint(rng.IntN(8))}
		entries := randomEntries(rng, c)
		if len(entries) > 0 && rng.IntN(10) == 0 {
			entries[0].count = c.maxCount()
		}
		slots := c.encode(entries, nil)
		if got := c.decode(slots, nil); !slices.Equal(got, entries) {
			t.Fatalf("%v is stored as %x and read as %v", entries, slots, got)
		}
	}
}

// TestSplitAndMergeKeepWhatFits tries with keys instead of with the rule: what fitted an
// entry of a bucket fits one of its half, and the other way round.
func TestSplitAndMergeKeepWhatFits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	c := coder{minWidth}
	covers := func(entries []entry, y uint64) (n uint64) {
		for _, e := range entries {
			if e.v == 0 || fits(e.v, y) {
				n += e.count
			}
		}
		return n
	}
	for range 2_000 {
		entries := randomEntries(rng, c)
		low, high := c.split(entries, nil, nil)
		back := c.merge(low, high, nil)
		for key := range uint64(1) << (c.w + 1) { // the bits behind the bucket's
			y := key>>1&^1 | 1
			half := [2][]entry{low, high}[key>>c.w]
			want := covers(entries, y)
			if got := covers(half, key&(c.flag()<<1-1)|1); got != want {
				t.Fatalf("%v has %d entries for %b, its half %v has %d", entries, want, key, half, got)
			}
			if got := covers(back, y); got != want {
				t.Fatalf("%v has %d entries for %b, split and merged as %v %d", entries, want, key, back, got)
			}
		}
	}
}

func TestLengthsAndPrefixes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	c := coder{12}
	for range 1_000 {
		x, n := rng.Uint64(), uint(rng.IntN(12))
		v := c.entryOf(x, n)
		if c.lengthOf(v) != n || n > 0 && v>>(c.w-n) != x>>(64-n) || bits.Len64(v) > int(c.w) {
			t.Fatalf("the first %d bits of %x are %012b", n, x, v)
		}
		if y := x>>(64-c.w) | 1; !fits(v, y) {
			t.Fatalf("%012b does not fit %012b", v, y)
		}
	}
}
