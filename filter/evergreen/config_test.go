package evergreen_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/effort"
)

func TestZeroConfigIsTheDefault(t *testing.T) {
	s, err := evergreen.Config{}.Shape()
	want := evergreen.Shape{FPR: 0.001, Hashes: 8, Width: 56}
	if err != nil || s != want || !s.Exact() {
		t.Errorf("got %+v, %v, want %+v", s, err, want)
	}
}

// TestRateChoosesHashes has the numbers of bits per key for the rates that people
// ask for.
func TestRateChoosesHashes(t *testing.T) {
	for fpr, want := range map[float64]int{0.5: 8, 0.1: 8, 0.01: 8, 1e-3: 8, 1e-4: 16, 1e-5: 16, 1e-9: 24} {
		s, err := evergreen.Config{FPR: fpr}.Shape()
		if err != nil || s.Hashes != want {
			t.Errorf("rate %g: %d bits per key, %v, want %d", fpr, s.Hashes, err, want)
		}
	}
}

func TestConfigReportsAllProblems(t *testing.T) {
	_, err := evergreen.New(evergreen.Config{FPR: 0.7, Width: 33, Items: math.MaxUint64})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"FPR: 0.7, must be", "Width: 33, must be 24, 32, 40 or 56", "Items: 18446744073709551615, at most"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	for _, fpr := range []float64{math.NaN(), -1, 1e-10, 1, math.Inf(1)} {
		if _, err := evergreen.New(evergreen.Config{FPR: fpr}); err == nil {
			t.Errorf("rate %g is accepted", fpr)
		}
	}
	if _, err := evergreen.New(evergreen.Config{FPR: 0.01, Width: 24, Items: 1e9}); err == nil || !strings.Contains(err.Error(), "at most 4294967 with 24 bits") {
		t.Errorf("a billion keys in 24 bits: %v", err)
	}
}

func TestImpossibleShapesAreRefused(t *testing.T) {
	for _, s := range []evergreen.Shape{
		{},
		{FPR: 0.01, Hashes: 7, Width: 56},
		{FPR: 0.01, Hashes: 40, Width: 56},
		{FPR: 0.01, Hashes: 8, Width: 48},
		{FPR: 0.01, Hashes: 8, Width: 64},
		{FPR: 0.01, Hashes: 8, Width: 8},
		{FPR: 2, Hashes: 8, Width: 56},
	} {
		if f, err := evergreen.Build(s); err == nil {
			t.Errorf("%+v was built: %+v", s, f.Info())
		}
	}
}

// TestHugeItemsAreRefused asks for more than the machine has.
func TestHugeItemsAreRefused(t *testing.T) {
	if _, err := evergreen.New(evergreen.Config{Items: 1 << 38}); !errors.Is(err, filter.ErrStorage) {
		t.Errorf("half a terabyte of blocks: %v, want ErrStorage", err)
	}
}

func TestItemsAreAFloor(t *testing.T) {
	effort.OneGoroutine(t)
	n := effort.Pick[uint64](20_000, 100_000)
	f, err := evergreen.New(evergreen.Config{Items: n, FPR: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	blocks := f.Blocks()
	var keys []filter.Key
	for i := range n {
		keys = append(keys, filter.Hash{}.Uint64(i))
	}
	f.AddBatch(keys)
	if f.Blocks() > blocks+20 {
		t.Errorf("made with %d blocks, it has %d with the keys it was made for", blocks, f.Blocks())
	}
	if deleted, notFound, _, err := filter.DeleteBatch(f, keys); deleted != len(keys) || notFound != 0 || err != nil {
		t.Errorf("deleted %d, not found %d, %v", deleted, notFound, err)
	}
	if f.Blocks() != blocks {
		t.Errorf("made with %d blocks, it has %d after all keys were deleted", blocks, f.Blocks())
	}
}
