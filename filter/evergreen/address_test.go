package evergreen

import (
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

func TestMixedKeysLeadBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		m, k := newMixer(rng.Uint64()), filter.Key(rng.Uint64())
		if got := m.key(m.mix(k)); got != k {
			t.Fatalf("%#x leads back to %#x", k, got)
		}
	}
}

// TestFingerprintAndPlaceAreTheWholeKey rebuilds mixed keys from what is stored.
func TestFingerprintAndPlaceAreTheWholeKey(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		mixed, n := rng.Uint64(), minBlocks+rng.Uint64N(1<<20)
		i := place(mixed, n)
		if got := mixedOf(fingerprintOf(mixed, 56), i, 56); got != mixed {
			t.Fatalf("%#x in block %d becomes %#x", mixed, i, got)
		}
		for _, width := range []int{16, 24, 32, 40} {
			known := mixedOf(fingerprintOf(mixed, width), i, width)
			if known>>(56-width) != mixed>>(56-width) || known<<(8+width) != 0 {
				t.Fatalf("%#x becomes %#x with %d bits", mixed, known, width)
			}
		}
	}
}

// TestSplitMovesByOneBit compares the place before and after a split with the bit
// that is said to tell.
func TestSplitMovesByOneBit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, n := range []uint64{256, 257, 400, 511, 512, 1000, 65535, 65536, 1 << 20} {
		lower, bit := split(n)
		moved := 0
		for try := range 5_000 {
			mixed := rng.Uint64()
			if try%2 == 0 {
				mixed = addressOf(mixed<<bit | lower) // of the block that is split
			}
			before, after := place(mixed, n), place(mixed, n+1)
			for _, width := range []int{24, 32, 40, 56} {
				up := fingerprintOf(mixed, width)>>addressBit(bit, width)&1 == 1
				if before == lower && up != (after == n) || before != lower && before != after {
					t.Fatalf("%d blocks, width %d: %#x goes from %d to %d, its bit says %v", n, width, mixed, before, after, up)
				}
			}
			if before != after {
				moved++
			}
		}
		if moved == 0 {
			t.Errorf("%d blocks: nothing moved", n)
		}
	}
}

func TestLevelsFillTheSpace(t *testing.T) {
	for _, n := range []uint64{256, 257, 300, 511, 512, 777} {
		var space float64
		for i := range n {
			space += 1 / float64(uint64(1)<<levelOf(i, n))
		}
		if space != 1 {
			t.Errorf("%d blocks are asked for %g of all keys", n, space)
		}
	}
}

// TestPlacesAreEven counts how keys that are hashed, and numbers that are not,
// spread over blocks.
func TestPlacesAreEven(t *testing.T) {
	m := newMixer(0)
	for name, form := range map[string]func(i uint64) filter.Key{
		"hashed":            func(i uint64) filter.Key { return filter.Hash{}.Uint64(i) },
		"numbers":           func(i uint64) filter.Key { return filter.Key(i) },
		"multiples of 2^10": func(i uint64) filter.Key { return filter.Key(i << 10) },
		"multiples of 2^40": func(i uint64) filter.Key { return filter.Key(i << 40) },
	} {
		var loads [256]int
		for i := range uint64(25_600) {
			loads[place(m.mix(form(i)), 256)]++
		}
		for i, load := range loads {
			if load < 50 || load > 150 {
				t.Errorf("%s: block %d has %d keys, want about 100", name, i, load)
			}
		}
	}
}
