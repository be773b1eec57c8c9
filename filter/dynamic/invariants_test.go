package dynamic

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestChecksFindDamage(t *testing.T) {
	for name, damage := range map[string]func(*Filter){
		"no units":          func(f *Filter) { f.units = nil },
		"count of set ones": func(f *Filter) { f.units[0].set++ },
		"beyond full":       func(f *Filter) { f.shape.Full = 10 },
		"words of another":  func(f *Filter) { f.units[0].words = f.units[1].words },
		"an empty unit": func(f *Filter) {
			u, _ := newUnit(f.shape)
			f.units = append([]unit{u}, f.units...)
		},
		"impossible shape": func(f *Filter) { f.shape.Hashes = 0 },
	} {
		f := filtertest.Make(t, Build, Shape{Positions: 100, Hashes: 5, CounterBits: 4, Full: 40})
		for _, k := range filtertest.Keys(1, 30) {
			f.Add(k)
		}
		if err := f.check(); err != nil || len(f.units) < 2 {
			t.Fatalf("%d units: %v", len(f.units), err)
		}
		damage(f)
		if err := f.check(); err == nil {
			t.Errorf("%s: damage was not found", name)
		}
	}
}

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
