package line_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/line"
	"github.com/everbloom-go/everbloom/internal/line/linetest"
)

// forms are the bytes of fingerprints and the bits per word of keys.
var forms = []struct{ width, rounds int }{{7, 1}, {4, 1}, {5, 2}, {3, 3}, {2, 4}}

// runOf returns a run of the fingerprints.
func runOf(width int, list ...uint64) line.Run {
	r := line.NewRun(make([]byte, 4096), len(list), width)
	for i, fp := range list {
		r.SetLast(i, fp)
	}
	return r
}

// fingerprints returns random ones.
func fingerprints(rng *rand.Rand, n, width int) (list []uint64) {
	for range n {
		list = append(list, rng.Uint64()>>(64-8*width))
	}
	return list
}

// bitsOf returns the bits of all fingerprints of a list.
func bitsOf(list []uint64, rounds int) (b line.Block) {
	for _, fp := range list {
		b.Mark(fp, rounds)
	}
	return b
}

// TestLevelsAgree does everything that there is assembly for with every set of
// instructions and compares with what Mark says.
func TestLevelsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range forms {
		list := fingerprints(rng, 60, c.width)
		run, want := runOf(c.width, list...), bitsOf(list, c.rounds)
		probes := fingerprints(rng, 2000, c.width)
		linetest.EachLevel(t, func(t *testing.T) {
			t.Helper()
			var one, all, stored line.Block
			for i, fp := range list {
				fresh := one.Add(fp, c.rounds)
				if again := one.Add(fp, c.rounds); i == 0 && !fresh || again {
					t.Errorf("%+v: Add reports %v, then %v", c, fresh, again)
				}
				if got := run.Find(fp); got != slices.Index(list, fp) {
					t.Errorf("%+v: fingerprint %d is found at %d", c, i, got)
				}
			}
			all.Collect(run, c.rounds)
			stored.Store(&all)
			if one != want || all != want || stored != want {
				t.Fatalf("%+v: Add gives %x, Collect %x, Store %x, want %x", c, one, all, stored, want)
			}
			for _, fp := range probes {
				if got, with := want.Has(fp, c.rounds), bitsOf(append(list, fp), c.rounds); got != (with == want) {
					t.Fatalf("%+v: Has(%#x) = %v", c, fp, got)
				}
				if got := run.Find(fp); got != slices.Index(list, fp) {
					t.Fatalf("%+v: %#x is found at %d", c, fp, got)
				}
			}
		})
	}
}

// TestExclusiveBits deletes each fingerprint of a run in turn. What stays of the block
// must be the bits of all others, also if some are alike.
func TestExclusiveBits(t *testing.T) {
	effort.OneGoroutine(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range forms {
		for i := range effort.Positions(t, 69, 8, 4) {
			list := fingerprints(rng, i+1, c.width)
			if i > 2 {
				list = append(list, list[1], list[2]^1) // a copy, and one that has bits in common
			}
			run, all := runOf(c.width, list...), bitsOf(list, c.rounds)
			linetest.EachLevel(t, func(t *testing.T) {
				t.Helper()
				for i, fp := range append(slices.Clone(list), rng.Uint64()&line.Mask(c.width)) {
					want := all
					if i < len(list) {
						want = bitsOf(slices.Delete(slices.Clone(list), i, i+1), c.rounds)
					}
					got, exclusive := all, line.ExclusiveOf(fp, c.rounds)
					at := exclusive.ShareAll(run, fp)
					if at >= 0 {
						exclusive.Clear(&got)
					}
					if got != want || at != slices.Index(list, fp) {
						t.Fatalf("%+v: without fingerprint %d of %d, found at %d: %x, want %x", c, i, len(list), at, got, want)
					}
				}
			})
		}
	}
}

// TestShareOne compares sharing one by one with sharing a whole run.
func TestShareOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range forms {
		list := fingerprints(rng, 30, c.width)
		got, want := bitsOf(list, c.rounds), bitsOf(list[1:], c.rounds)
		exclusive := line.ExclusiveOf(list[0], c.rounds)
		for _, fp := range list[1:] {
			exclusive.Share(fp)
		}
		if exclusive.Clear(&got); got != want {
			t.Errorf("%+v: %x, want %x", c, got, want)
		}
	}
}

func TestSetLeavesTheOthers(t *testing.T) {
	for _, c := range forms {
		r := runOf(c.width, 1, 2, 3)
		r.Set(1, 9)
		if got := r.AppendTo(nil); !slices.Equal(got, []uint64{1, 9, 3}) {
			t.Errorf("width %d: %d", c.width, got)
		}
	}
}
