package dynamic

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestSeekFollowsTheUnits compares the query with that of the units, for every
// number of hashes up to where positions are read one by one, and every width.
func TestSeekFollowsTheUnits(t *testing.T) {
	for hashes := 1; hashes <= 9; hashes++ {
		for _, width := range []int{1, 2, 4, 8} {
			f := filtertest.Make(t, Build, Shape{Positions: 333, Hashes: hashes, CounterBits: width, Full: 150, Salt: 9})
			stream := filtertest.Stream{Seed: uint64(hashes)}
			for i := range uint64(400) {
				f.Add(stream.Present(i))
			}
			for i := range uint64(2000) {
				k, want := stream.Absent(i), -1
				if i < 400 {
					k = stream.Present(i)
				}
				for u := range f.units {
					if f.units[u].part.MayContain(k) {
						want = u
					}
				}
				if got := f.seek(f.units, k); got != want {
					t.Fatalf("%d hashes of %d bits, key %#x: unit %d answers, want %d", hashes, width, k, got, want)
				}
			}
		}
	}
}
