package filtertest

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

func TestStreamsOfFewBitsAreWholeAndDisjoint(t *testing.T) {
	for width := 2; width <= 12; width++ {
		for seed := range uint64(5) {
			s := Stream{Seed: seed, Bits: width}
			seen := make(map[filter.Key]bool)
			for i := range uint64(1) << (width - 1) {
				for _, k := range []filter.Key{s.Present(i), s.Absent(i)} {
					if seen[k] || k >= 1<<width {
						t.Fatalf("width %d, seed %d: key %#x came twice or is too wide", width, seed, k)
					}
					seen[k] = true
				}
			}
			if len(seen) != 1<<width {
				t.Errorf("width %d, seed %d: %d keys, want all %d", width, seed, len(seen), 1<<width)
			}
		}
	}
}

func TestStreamsOf64BitsAreDistinctAndRepeatable(t *testing.T) {
	seen := make(map[filter.Key]bool)
	for i := range uint64(100_000) {
		seen[Stream{Seed: 1}.Present(i)] = true
		seen[Stream{Seed: 1}.Absent(i)] = true
		seen[Stream{Seed: 2}.Present(i)] = true
	}
	if len(seen) != 300_000 {
		t.Errorf("%d distinct keys among 300,000", len(seen))
	}
	if !slices.Equal(Keys(3, 50), Stream{Seed: 3, Bits: 64}.Keys(50)) {
		t.Error("Keys differs from the Stream of 64 bits")
	}
	if slices.Equal(Keys(3, 50), Keys(4, 50)) {
		t.Error("two seeds give the same keys")
	}
}

// TestStreamKeysLookHashed looks at each bit and at neighbours: filters measure
// their rates with these keys.
func TestStreamKeysLookHashed(t *testing.T) {
	const n = 20_000
	var ones [64]int
	flips := 0
	for i := range uint64(n) {
		k := uint64(Stream{Seed: 5}.Present(i))
		flips += bits.OnesCount64(k ^ uint64(Stream{Seed: 5}.Present(i+1)))
		for b := range ones {
			ones[b] += int(k >> b & 1)
		}
	}
	for b, count := range ones {
		CheckRate(t, "ones of a bit", count, n, 0.5, 5)
		if t.Failed() {
			t.Fatalf("bit %d", b)
		}
	}
	CheckRate(t, "bits that change from key to key", flips, 64*n, 0.5, 5)
}

func TestCheckRateFailsOutsideTheSpread(t *testing.T) {
	for _, c := range []struct {
		hits, probes int
		predicted    float64
		fails        bool
	}{
		{100, 10_000, 0.01, false},
		{130, 10_000, 0.01, false},
		{200, 10_000, 0.01, true},
		{40, 10_000, 0.01, true},
		{0, 10_000, 0, false},
		{100, 10_000, 0, true},
		{10_000, 10_000, 1, false},
		{9000, 10_000, 1, true},
		{0, 100, 0.001, false},
	} {
		notes := record(t, func(tb *recorder) { CheckRate(tb, "x", c.hits, c.probes, c.predicted, 4) })
		if (notes != "") != c.fails {
			t.Errorf("%d of %d at %g: notes %q, want failure %t", c.hits, c.probes, c.predicted, notes, c.fails)
		}
	}
}

func TestMeasureRateCountsAnswers(t *testing.T) {
	s := Stream{Seed: 9}
	f := NewExact(ExactConfig{})
	for i := range uint64(30) {
		_, _ = f.Add(s.Absent(10 * i)) // 10 of them among the first 100
	}
	if hits := MeasureRate(f, s, 100); hits != 10 {
		t.Errorf("%d found among 100, want 10", hits)
	}
}
