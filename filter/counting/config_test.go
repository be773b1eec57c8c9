package counting_test

import (
	"math"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// TestShapeIsThatOfBloom holds that the zero Config, and any other, gives as many
// counters and hashes as package bloom gives bits and hashes.
func TestShapeIsThatOfBloom(t *testing.T) {
	for _, c := range []counting.Config{
		{}, {Items: 1000}, {FPR: 0.01}, {Items: 1, FPR: 0.999}, {Items: 12_345, FPR: 1e-9, Salt: 7, CounterBits: 8}, {CounterBits: 2},
	} {
		got, err := c.Shape()
		if err != nil {
			t.Fatal(err)
		}
		plain, err := bloom.Config{Items: c.Items, FPR: c.FPR, Salt: c.Salt}.Shape()
		if err != nil {
			t.Fatal(err)
		}
		width := c.CounterBits
		if width == 0 {
			width = 4
		}
		want := counting.Shape{Counters: plain.Bits, Hashes: plain.Hashes, CounterBits: width, Salt: c.Salt}
		if got != want || got.Bits() != plain.Bits*uint64(width) || got.FPR(1000) != plain.FPR(1000) {
			t.Errorf("%+v: got %+v, want %+v", c, got, want)
		}
	}
}

func TestDefaultsAreAsDocumented(t *testing.T) {
	f, err := counting.New(counting.Config{})
	if err != nil {
		t.Fatal(err)
	}
	want := counting.Shape{Counters: 14_377_588, Hashes: 10, CounterBits: 4}
	if f.Shape() != want || f.Info().Capacity != 1_000_000 {
		t.Errorf("got %+v for %d keys, want %+v", f.Shape(), f.Info().Capacity, want)
	}
	if load := f.Shape().Load(1_000_000); math.Abs(load-math.Ln2) > 0.003 {
		t.Errorf("a load of %g, want ln 2 but for rounding", load)
	}
}

func TestConfigReportsAllProblems(t *testing.T) {
	_, err := counting.Config{Items: math.MaxUint64, FPR: 2, CounterBits: 5}.Shape()
	if err == nil || !strings.HasPrefix(err.Error(), "counting: ") {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"FPR: 2", "Items: 18446744073709551615", "CounterBits: 5, must be 2, 4 or 8"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want also %q", err, want)
		}
	}
}

func TestBuildRefusesBadShapes(t *testing.T) {
	for _, s := range []counting.Shape{
		{},
		{Counters: 1, Hashes: 1},
		{Counters: 1, CounterBits: 4},
		{Hashes: 1, CounterBits: 4},
		{Counters: 8, Hashes: -1, CounterBits: 4},
		{Counters: 8, Hashes: 65, CounterBits: 4},
		{Counters: 8, Hashes: 1, CounterBits: 16},
		{Counters: 8, Hashes: 1, CounterBits: -4},
		{Counters: 1 << 60, Hashes: 1, CounterBits: 4},
		{Counters: 1 << 50, Hashes: 1, CounterBits: 8}, // more than there is memory
	} {
		if f, err := counting.Build(s); err == nil || f != nil {
			t.Errorf("%+v: built", s)
		}
	}
	_, err := counting.Build(counting.Shape{})
	for _, want := range []string{"Counters: 0", "Hashes: 0", "CounterBits: 0"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want also %q", err, want)
		}
	}
}

// TestWorkedSizes asks for what Sec. 4 and 5.1 of [dlCBF06] build.
func TestWorkedSizes(t *testing.T) {
	for _, c := range []struct {
		items       uint64
		fpr         float64
		perKey      float64
		hashes      int
		toleranceOf float64
	}{
		{1_000_000, 0.01327, 9, 6, 0.01},
		{49_152, 0.001529, 13.5, 9, 0.01},
	} {
		s, err := counting.Config{Items: c.items, FPR: c.fpr}.Shape()
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(s.Counters) / float64(c.items); s.Hashes != c.hashes || math.Abs(got-c.perKey) > c.toleranceOf {
			t.Errorf("%d keys at %g: %.4f counters per key and %d hashes, want %g and %d", c.items, c.fpr, got, s.Hashes, c.perKey, c.hashes)
		}
	}
}

// TestPredictedLinesFollowTheLoop: two positions are read at first, then four, the last
// few together, each group if all before are above zero.
func TestPredictedLinesFollowTheLoop(t *testing.T) {
	for hashes, want := range map[int]func(fill float64) float64{
		1: func(float64) float64 { return 1 },
		3: func(fill float64) float64 { return 2 + fill*fill },
		7: func(fill float64) float64 { return 2 + 4*fill*fill + math.Pow(fill, 6) },
		8: func(fill float64) float64 { return 2 + 4*fill*fill + 2*math.Pow(fill, 6) },
	} {
		s := counting.Shape{Counters: 1000, Hashes: hashes, CounterBits: 4}
		for _, n := range []uint64{0, 100, 1_000_000} {
			fill := theory.BloomFill(1000, float64(hashes), float64(n))
			p, err := s.Predict(n)
			if err != nil || math.Abs(p.MissLines-want(fill)) > 1e-9 || p.HitLines != float64(hashes) {
				t.Errorf("%d hashes, fill %g: %+v, %v, want %g lines", hashes, fill, p, err, want(fill))
			}
		}
	}
}
