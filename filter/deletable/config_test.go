package deletable_test

import (
	"math"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestShapes holds the sizes for some requests.
func TestShapes(t *testing.T) {
	type config = deletable.Config
	for _, c := range []struct {
		config config
		want   deletable.Shape
	}{
		{config{}, deletable.Shape{Bits: 16_433_661, Hashes: 8, Regions: 1_825_963}},
		{config{FPR: 0.01}, deletable.Shape{Bits: 11_490_273, Hashes: 5, Regions: 1_641_468}},
		{config{FPR: 0.01, Deletability: 0.5}, deletable.Shape{Bits: 10_418_044, Hashes: 6, Regions: 801_388}},
		{config{FPR: 0.01, Deletability: 0.99}, deletable.Shape{Bits: 17_199_090, Hashes: 5, Regions: 4_299_773}},
		{config{FPR: 0.01, RegionShare: 0.1}, deletable.Shape{Bits: 10_658_840, Hashes: 7, Regions: 1_065_884}},
		{config{FPR: 0.01, RegionShare: 0.5, Salt: 4}, deletable.Shape{Bits: 19_185_912, Hashes: 7, Regions: 9_592_956, Salt: 4}},
		{config{Items: 1, FPR: 0.3}, deletable.Shape{Bits: 5, Hashes: 1, Regions: 1}},
	} {
		got, err := c.config.Shape()
		if err != nil || got != c.want {
			t.Errorf("%+v: got %+v, %v, want %+v", c.config, got, err, c.want)
		}
	}
}

// TestShapeIsTheSmallest compares with a search through all hashes and region
// sizes that takes its time.
func TestShapeIsTheSmallest(t *testing.T) {
	effort.PlainOnly(t)
	for _, n := range []uint64{3, 50, 5000} {
		for _, fpr := range []float64{0.3, 0.001} {
			for _, share := range []float64{0.05, 0.5, 0.9, 0.999} {
				s, err := deletable.Config{Items: n, FPR: fpr, Deletability: share}.Shape()
				if err != nil {
					t.Fatal(err)
				}
				if s.FPR(n) > fpr*(1+1e-9) || s.Deletability(n) < share*(1-1e-9) {
					t.Errorf("%d keys at %g, %g: %+v has rate %g, deletability %g", n, fpr, share, s, s.FPR(n), s.Deletability(n))
				}
				best := smallest(n, fpr, share)
				if float64(s.Bits) > 1.001*float64(best.Bits)+3 { // tiny ones pay for the margin
					t.Errorf("%d keys at %g, %g: %+v, but %+v would do", n, fpr, share, s, best)
				}
			}
		}
	}
}

// smallest finds the least m' for each k and region size by bisection.
func smallest(n uint64, fpr, share float64) (best deletable.Shape) {
	enough := func(s deletable.Shape) bool {
		return s.FPR(n) <= fpr && s.Deletability(n) >= share+deletable.FewRegions(share, float64(s.Regions))
	}
	for k := 1; k <= 16; k++ {
		for size := uint64(1); size <= 60; size++ {
			shape := func(cells uint64) deletable.Shape {
				r := (cells + size - 1) / size
				return deletable.Shape{Bits: cells + r, Hashes: k, Regions: r}
			}
			low, high := uint64(0), 64*n*uint64(k)/min(size, 4)+1
			for high-low > 1 {
				mid := (low + high) / 2
				if s := shape(mid); enough(s) {
					high = mid
				} else {
					low = mid
				}
			}
			if s := shape(high); enough(s) && (best.Bits == 0 || s.Bits < best.Bits) {
				best = s
			}
		}
	}
	return best
}

// TestAskedDeletabilityIsReached fills filters with the keys that they were made
// for and deletes them all.
func TestAskedDeletabilityIsReached(t *testing.T) {
	effort.PlainOnly(t)
	all := effort.Pick[uint64](4000, 20_000)
	for _, n := range []uint64{1, 2, 3, 5, 8, 12, 30, 300, effort.Pick[uint64](2000, 5000)} {
		for _, fpr := range []float64{0.1, 0.01, 0.001} {
			for _, share := range []float64{0.3, 0.5, 0.8, 0.9, 0.99} {
				config := deletable.Config{Items: n, FPR: fpr, Deletability: share}
				mean, spread := measure(t, config, max(4, all/n))
				if mean < share-4*spread {
					t.Errorf("%d keys at %g: asked for %g, got %.4f ± %.4f", n, fpr, share, mean, spread)
				}
			}
		}
	}
}

// measure returns the share of keys that could be deleted, the mean over so many
// filters, and the standard deviation of the mean.
func measure(t *testing.T, c deletable.Config, filters uint64) (mean, spread float64) {
	t.Helper()
	shape, err := c.Shape()
	if err != nil {
		t.Fatal(err)
	}
	var sum, squares float64
	for seed := range filters {
		f := build(t, shape)
		keys := filtertest.Keys(seed, c.Items)
		f.AddBatch(keys)
		deleted, _, _, err := filter.DeleteBatch(f, keys)
		if err != nil {
			t.Fatal(err)
		}
		share := float64(deleted) / float64(len(keys))
		sum += share
		squares += share * share
	}
	n := float64(filters)
	mean = sum / n
	return mean, math.Sqrt(max(squares/n-mean*mean, mean*(1-mean)/float64(c.Items)) / n)
}

func TestConfigReportsAllProblems(t *testing.T) {
	for _, x := range []float64{-1, 1, 1.5, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := (deletable.Config{Deletability: x}).Shape(); err == nil || !strings.Contains(err.Error(), "Deletability") {
			t.Errorf("Deletability %v: %v", x, err)
		}
		if _, err := (deletable.Config{RegionShare: x}).Shape(); err == nil || !strings.Contains(err.Error(), "RegionShare") {
			t.Errorf("RegionShare %v: %v", x, err)
		}
	}
	_, err := deletable.Config{Items: math.MaxUint64, FPR: 2, Deletability: 3, RegionShare: 0.6}.Shape()
	for _, want := range []string{"FPR: 2", "Items: 18446744073709551615", "Deletability: 3", "RegionShare: 0.6", "one of them decides"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := (deletable.Config{Items: 1 << 40, FPR: 1e-10}).Shape(); err == nil || !strings.Contains(err.Error(), "keys of 64 bits") {
		t.Errorf("rate under the floor of 64-bit keys: %v", err)
	}
	if _, err := (deletable.Config{Items: 1 << 44, FPR: 0.5, Deletability: 1 - 1e-9}).Shape(); err == nil || !strings.Contains(err.Error(), "bits, at most") {
		t.Errorf("too many bits: %v", err)
	}
}

// TestExtremeRequestsArePlanned is about arithmetic at its limits: every request has an
// answer or an error, at once.
func TestExtremeRequestsArePlanned(t *testing.T) {
	effort.PlainOnly(t)
	for _, n := range []uint64{1, 2, 1000, 1 << 30, 1 << 44} {
		for _, fpr := range []float64{0.9999999, 0.5, 1e-6, 1e-15} {
			for _, share := range []float64{1e-300, 1e-9, 0.5, 0.999999, 1 - 1e-9} {
				s, err := deletable.Config{Items: n, FPR: fpr, Deletability: share}.Shape()
				if err != nil {
					continue
				}
				if s.Regions < 1 || s.Regions > s.Cells() || s.Hashes < 1 || s.FPR(n) > fpr*(1+1e-6) || !(s.Deletability(n) >= share*(1-1e-6)) {
					t.Errorf("%d keys at %g, %g: %+v: rate %g, deletability %g", n, fpr, share, s, s.FPR(n), s.Deletability(n))
				}
			}
		}
	}
}

func TestBuildRefusesBadShapes(t *testing.T) {
	if f, err := deletable.New(deletable.Config{FPR: 2}); err == nil || f != nil {
		t.Error("a rate of 2 was taken")
	}
	for _, s := range []deletable.Shape{
		{},
		{Bits: 2, Hashes: 1},
		{Bits: 1, Hashes: 1, Regions: 1},
		{Bits: 3, Hashes: 1, Regions: 2},
		{Bits: 8, Hashes: 0, Regions: 1},
		{Bits: 8, Hashes: -1, Regions: 1},
		{Bits: 8, Hashes: 65, Regions: 1},
		{Bits: 8, Hashes: 1, Regions: math.MaxUint64},
		{Bits: 1 << 60, Hashes: 1, Regions: 1},
		{Bits: 1 << 50, Hashes: 1, Regions: 1}, // more than there is memory
	} {
		if f, err := deletable.Build(s); err == nil || f != nil {
			t.Errorf("%+v: built", s)
		}
	}
}
