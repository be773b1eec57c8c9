package ebf21

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

func testKeys(stream uint64, n int) []filter.Key {
	return distinct(rand.New(rand.NewPCG(seed, stream)), n)
}

func TestContendersBeginWithTheSameSize(t *testing.T) {
	const size = 14
	for _, c := range inFig3 {
		f, err := c.build(size, 1)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if bits := f.Info().FastBits; bits > 1<<size || bits < 1<<size*9/10 {
			t.Errorf("%s begins with %d bits", c.name, bits)
		}
	}
	f, _ := countingDynamic.build(size, 1)
	if bits := f.Info().FastBits; bits != 4<<size {
		t.Errorf("%d bits for 2^%d counters", bits, size)
	}
}

func TestNoContenderDeniesAKey(t *testing.T) {
	keys := testKeys(1, 5000)
	for _, c := range append(inFig3, inFig7...) {
		f, err := c.build(12, 1)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err := addAll(f, keys); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if n := denied(f, keys); n > 0 {
			t.Errorf("%s denies %d keys", c.name, n)
		}
	}
}

func TestDoublingFilterAppendsUnitsOfTwiceTheLength(t *testing.T) {
	f, err := newDoubling(bloom.Shape{Bits: 1 << 10, Hashes: tableHashes}, tableThreshold)
	if err != nil {
		t.Fatal(err)
	}
	keys := testKeys(2, 20*int(fullKeys(10)))
	if err := addAll(f, keys); err != nil {
		t.Fatal(err)
	}
	for i, u := range f.units {
		if u.Shape().Bits != 1<<(10+i) {
			t.Errorf("unit %d has %d bits", i, u.Shape().Bits)
		}
		if fill := float64(u.SetBits()) / float64(u.Shape().Bits); fill > tableThreshold+0.01 || i < len(f.units)-1 && fill < tableThreshold-0.001 {
			t.Errorf("unit %d is full by %.3f", i, fill)
		}
	}
	if len(f.units) != 5 { // 1 + 2 + 4 + 8 < 20 < 31
		t.Errorf("%d units", len(f.units))
	}
	if added, _ := f.Add(keys[0]); added {
		t.Error("a key of the first unit was added again")
	}
	info := f.Info()
	if info.FastBits != 31<<10 || math.Abs(info.FPR-4.3*tableRate) > tableRate {
		t.Errorf("%d bits, rate %g", info.FastBits, info.FPR)
	}
	if _, err := newDoubling(bloom.Shape{}, tableThreshold); err == nil {
		t.Error("a filter of nothing was built")
	}
}

func TestFirstUnitIsTheLargestThatFits(t *testing.T) {
	for _, size := range []int{12, 15, 18} {
		items := firstUnit(size)
		fits, err := scalable.Shape{Items: items, FPR: tableRate}.Predict(1)
		more, err2 := scalable.Shape{Items: items + 64, FPR: tableRate}.Predict(1)
		if err != nil || err2 != nil || fits.FastBitsPerKey > float64(uint64(1)<<size) || more.FastBitsPerKey <= float64(uint64(1)<<size) {
			t.Errorf("2^%d: %d items have %g bits, 64 more %g", size, items, fits.FastBitsPerKey, more.FastBitsPerKey)
		}
	}
}

func TestEvenFillGivesTheWholeTheRate(t *testing.T) {
	for _, n := range []float64{1 << 12, 1 << 14, 1 << 18, 1 << 20} {
		fill := evenFill(peakSize, n)
		s := dynamic.Shape{Positions: 1 << peakSize, Hashes: tableHashes, CounterBits: 4, Full: uint64(fill * (1 << peakSize))}
		if p, err := s.Predict(uint64(n)); err != nil || p.FPR > 1.05*tableRate {
			t.Errorf("%v keys: rate %g, want %g at most: %v", n, p.FPR, tableRate, err)
		}
	}
}

func TestChunksCoverAllKeys(t *testing.T) {
	keys := testKeys(3, 10)
	var lengths []int
	for part := range chunks(t.Context(), keys, 4) {
		lengths = append(lengths, len(part))
	}
	if len(lengths) != 3 || lengths[2] != 2 {
		t.Errorf("%v", lengths)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range chunks(ctx, keys, 4) {
		t.Error("interrupted, and there is more")
	}
	for range chunks(t.Context(), keys, 4) {
		break
	}
}

func TestMixAsksItsShareAfterEachKey(t *testing.T) {
	f, _ := elasticOne.build(12, 1)
	keys := testKeys(4, 20)
	asked := mixQueries(rand.New(rand.NewPCG(seed, 5)), keys, 3*len(keys))
	if len(asked) != 6*len(keys) {
		t.Fatalf("%d queries", len(asked))
	}
	if err := mix(f, keys, asked); err != nil {
		t.Fatal(err)
	}
	known := map[filter.Key]bool{}
	for _, k := range keys {
		known[k] = true
	}
	for i, k := range asked {
		if known[k] != (i%2 == 0) {
			t.Fatalf("query %d", i)
		}
	}
}

// TestExpectedLoadRate compares the integral with the first overflow of buckets at
// which fingerprints are thrown without a filter.
func TestExpectedLoadRate(t *testing.T) {
	r := rand.New(rand.NewPCG(seed, 6))
	for _, b := range []bucketing{{10, 2, 1}, {10, 8, 1}, {12, 4, 1}} {
		const trials = 200
		rates := make([]float64, trials)
		for i := range rates {
			counts, thrown := make([]int, 1<<b.size), 0
			for {
				at := r.IntN(len(counts))
				if counts[at]++; counts[at] > b.slots {
					break
				}
				thrown++
			}
			rates[i] = float64(thrown) / b.slotsInAll()
		}
		if got := lab.Mean(rates); !got.Within(b.expected(), 5) {
			t.Errorf("seed %d: %+v: %v thrown, %g expected", seed, b, got, b.expected())
		}
	}
	if a, b := (bucketing{10, 8, 3}).expected(), (bucketing{16, 8, 3}).expected(); a <= b || b < 0.2 || a > 0.8 {
		t.Errorf("%g and %g", a, b)
	}
	if slots := (bucketing{10, 8, 3}).slotsInAll(); slots != 8*(1024+342) {
		t.Errorf("%v slots", slots)
	}
}
