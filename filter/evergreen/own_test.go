package evergreen

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// TestOwnBitsAreThoseNobodyElseHas deletes each fingerprint of a run in turn. What
// stays of the block must be the bits of all others, also if some are alike.
func TestOwnBitsAreThoseNobodyElseHas(t *testing.T) {
	effort.OneGoroutine(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, s := range []Shape{
		{Hashes: 8, Width: 56},
		{Hashes: 16, Width: 40},
		{Hashes: 24, Width: 24},
		{Hashes: 32, Width: 32},
	} {
		rounds, g := s.perWord(), geometries[s.Width/8]()
		for i := range effort.Positions(t, 69, 8, 4) {
			n := i + 1
			list := make([]uint64, n, n+2)
			for i := range list {
				list[i] = rng.Uint64() & g.mask
			}
			if n > 3 {
				list = append(list, list[1], list[2]^1) // a copy, and one that has bits in common
			}
			run := make([]byte, 4096)
			g.fill(run, list)
			for i, fp := range list {
				want := bitsOf(slices.Delete(slices.Clone(list), i, i+1), rounds)
				eachLevel(t, func(t *testing.T) {
					t.Helper()
					o := newOwn(fp, rounds)
					at := o.shareAll(run, len(list), g, fp)
					got := bitsOf(list, rounds)
					o.clear(&got)
					if got != want || at != slices.Index(list, fp) {
						t.Fatalf("%+v: without fingerprint %d of %d, found at %d: %x, want %x", s, i, len(list), at, got, want)
					}
				})
			}
			absent := rng.Uint64() & g.mask
			eachLevel(t, func(t *testing.T) {
				t.Helper()
				o := newOwn(absent, rounds)
				if at := o.shareAll(run, len(list), g, absent); at != slices.Index(list, absent) {
					t.Fatalf("%+v: a fingerprint that is not there is found at %d", s, at)
				}
			})
		}
	}
}

// bitsOf returns the bits of all fingerprints of a list.
func bitsOf(list []uint64, rounds int) (b block) {
	for _, fp := range list {
		b.mark(fp, rounds)
	}
	return b
}
