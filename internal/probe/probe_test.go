package probe

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

// TestMixerNeverChanges pins what stored filters depend on.
func TestMixerNeverChanges(t *testing.T) {
	for _, c := range []struct {
		salt       uint64
		key        filter.Key
		mix, after uint64
	}{
		{0, 0, 0xbe8cab644efdda51, 0x17c47f8f13b3b025},
		{0, 1, 0x20c4352fce485e4c, 0x5d05c2d26abfd63c},
		{0, 2, 0x7a7ba6d34c68d209, 0xd6e5560acbaaa63d},
		{0, 0x123456789abcdef, 0xcc51ec9c8f39b8cf, 0xb026f3969b3fd17b},
		{0, 1<<64 - 1, 0xbeeaaa514cf9d219, 0x88745cc8673e9f8d},
		{1, 1, 0xf790a85ff10dbb74, 0xb265b6c6e7e76684},
		{1, 2, 0x99e87fc21b1446ee, 0x928cdf5a19e17a86},
		{1, 0x123456789abcdef, 0x49a4217e243f999d, 0x8c06b6dba127fb61},
		{2, 1, 0x2165b0c6f40857d0, 0x6600d572ca764c10},
		{2, 0x123456789abcdef, 0xd60d5e09e96c267a, 0x8dad02e829d24b02},
		{1<<63 - 1, 1, 0x4d07c38d969a26ed, 0x42b29a12dc69eaf1},
		{1<<63 - 1, 0x123456789abcdef, 0xb71614fd964c8202, 0x2dc7f307a8eb892a},
	} {
		mix := NewMixer(c.salt).Mix(c.key)
		if mix != c.mix || Step(mix) != c.after {
			t.Errorf("salt %#x, key %#x: mix %#x, step %#x; must stay %#x, %#x",
				c.salt, uint64(c.key), mix, Step(mix), c.mix, c.after)
		}
	}
}

func TestMixersAreOddAndDiffer(t *testing.T) {
	seen := make(map[Mixer]uint64)
	for _, base := range []uint64{0, 1 << 20, 1<<63 - 500} {
		for salt := base; salt < base+500; salt++ {
			m := NewMixer(salt)
			if other, ok := seen[m]; ok || m%2 == 0 {
				t.Errorf("salt %#x: mixer %#x is even or that of salt %#x", salt, uint64(m), other)
			}
			seen[m] = salt
		}
	}
}

func TestStepByIsRepeatedStep(t *testing.T) {
	const seed = 2
	r := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		h := r.Uint64()
		want := h
		for n := range 5 {
			if got := StepBy(h, n); got != want {
				t.Fatalf("seed %d: %d steps from %#x give %#x, want %#x", seed, n, h, got, want)
			}
			want = Step(want)
		}
	}
}

func TestReduceStaysInRangeAndReachesBothEnds(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	for _, n := range []uint64{1, 2, 3, 64, 1000, 1<<32 + 1, 1<<63 + 1, math.MaxUint64} {
		if lo, hi := Reduce(0, n), Reduce(math.MaxUint64, n); lo != 0 || hi != n-1 {
			t.Errorf("onto %d: the ends go to %d and %d", n, lo, hi)
		}
		last := uint64(0)
		for range 1000 {
			if got := Reduce(r.Uint64(), n); got >= n {
				t.Fatalf("seed %d: onto %d: got %d", seed, n, got)
			}
		}
		for i := range uint64(1000) { // order is kept
			got := Reduce(i<<54, n)
			if got < last {
				t.Fatalf("onto %d: %#x goes to %d, below %d", n, i<<54, got, last)
			}
			last = got
		}
	}
}

// keyForms are the keys that positions must be spread for: hashed ones, and the
// same numbers raw.
var keyForms = map[string]func(i uint64) filter.Key{
	"hashed": func(i uint64) filter.Key { return filter.Hash{}.Uint64(i) },
	"raw":    func(i uint64) filter.Key { return filter.Key(i) },
}

// TestPositionsAreEvenlySpread counts where the first eight positions of keys
// fall. A multiplication spreads numbers in a row more evenly than chance would,
// so that only too uneven is a fault.
func TestPositionsAreEvenlySpread(t *testing.T) {
	const keys, hashes = 100_000, 8
	for name, form := range keyForms {
		for _, salt := range []uint64{0, 1, 12345} {
			for _, cells := range []uint64{64, 1000, 9973} {
				var counts [hashes][]int
				for i := range counts {
					counts[i] = make([]int, cells)
				}
				m := NewMixer(salt)
				for i := range uint64(keys) {
					h := m.Mix(form(i))
					for p := range hashes {
						counts[p][Reduce(h, cells)]++
						h = Step(h)
					}
				}
				for p := range hashes {
					wantEven(t, fmt.Sprintf("%s keys, salt %d, %d cells, position %d", name, salt, cells, p), counts[p])
				}
			}
		}
	}
}

// TestPairsOfPositionsAreEvenlySpread does the same for two positions of one key
// together: if they depended on each other, rates would be higher than theory
// says.
func TestPairsOfPositionsAreEvenlySpread(t *testing.T) {
	const hashes, cells = 6, 40
	keys := effort.Pick(60_000, 200_000)
	m := NewMixer(7)
	for name, form := range keyForms {
		for a := range hashes {
			for b := range a {
				counts := make([]int, cells*cells)
				for i := range uint64(keys) {
					h := m.Mix(form(i))
					x, y := Reduce(power(h, a), cells), Reduce(power(h, b), cells)
					counts[x*cells+y]++
				}
				wantEven(t, fmt.Sprintf("%s keys, positions %d and %d", name, b, a), counts)
			}
		}
	}
}

func power(h uint64, steps int) uint64 {
	for range steps {
		h = Step(h)
	}
	return h
}

// wantEven fails if the counts are more uneven than chance explains: chi-square
// of n cells has mean n-1 and variance 2(n-1), and five deviations are allowed.
func wantEven(t *testing.T, name string, counts []int) {
	t.Helper()
	if x, most := chiSquare(counts), chiMost(len(counts)); x > most {
		t.Errorf("%s: chi-square %.0f, want %.0f at most", name, x, most)
	}
}

func chiMost(cells int) float64 {
	free := float64(cells - 1)
	return free + 5*math.Sqrt(2*free)
}

func chiSquare(counts []int) (sum float64) {
	total := 0
	for _, n := range counts {
		total += n
	}
	mean := float64(total) / float64(len(counts))
	for _, n := range counts {
		sum += (float64(n) - mean) * (float64(n) - mean) / mean
	}
	return sum
}
