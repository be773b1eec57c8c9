package bloom_test

import (
	"math"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter/bloom"
)

// TestShapeFollowsSum holds the worked sizes of the formulas of [Sum].
func TestShapeFollowsSum(t *testing.T) {
	for _, c := range []struct {
		config bloom.Config
		want   bloom.Shape
	}{
		{bloom.Config{}, bloom.Shape{Bits: 14_377_588, Hashes: 10}},
		{bloom.Config{Items: 1000}, bloom.Shape{Bits: 14_378, Hashes: 10}},
		{bloom.Config{Items: 1000, FPR: 0.01}, bloom.Shape{Bits: 9_586, Hashes: 7}},
		{bloom.Config{Items: 1, FPR: 0.5}, bloom.Shape{Bits: 2, Hashes: 1}},
		{bloom.Config{Items: 1, FPR: 0.999}, bloom.Shape{Bits: 2, Hashes: 1}},
		{bloom.Config{Items: 10, FPR: 1e-15, Salt: 7}, bloom.Shape{Bits: 719, Hashes: 50, Salt: 7}},
	} {
		got, err := c.config.Shape()
		if err != nil || got != c.want {
			t.Errorf("%+v: got %+v, %v, want %+v", c.config, got, err, c.want)
		}
	}
}

// TestBlockedShapeMeetsBars holds the sizes that were promised: at most 10.3 bits
// per key for 1 % and 16.0 for 0.1 %.
func TestBlockedShapeMeetsBars(t *testing.T) {
	for _, c := range []struct{ fpr, bits float64 }{{0.01, 10.3}, {0.001, 16.0}, {1e-5, 30.5}} {
		for _, n := range []uint64{10_000, 1_000_000, 50_000_000} {
			s, err := bloom.Config{Items: n, FPR: c.fpr}.BlockedShape()
			if err != nil {
				t.Fatal(err)
			}
			if got := float64(s.Bits()) / float64(n); got > c.bits {
				t.Errorf("%d keys at %g: %.3f bits per key, want at most %g", n, c.fpr, got, c.bits)
			}
			if got := s.FPR(n); got > c.fpr {
				t.Errorf("%d keys at %g: predicted rate %g", n, c.fpr, got)
			}
		}
	}
}

func TestConfigReportsAllProblems(t *testing.T) {
	_, err := bloom.Config{Items: math.MaxUint64, FPR: 2}.BlockedShape()
	if err == nil || !strings.Contains(err.Error(), "FPR: 2") || !strings.Contains(err.Error(), "Items: 18446744073709551615") {
		t.Errorf("got %v, want both problems", err)
	}
	if _, err := (bloom.Config{Items: 1 << 40, FPR: 1e-10}).Shape(); err == nil || !strings.Contains(err.Error(), "keys of 64 bits") {
		t.Errorf("rate under the floor of 64-bit keys: %v", err)
	}
}

func TestBuildRefusesBadShapes(t *testing.T) {
	for _, s := range []bloom.Shape{{}, {Bits: 1}, {Hashes: 1}, {Bits: 8, Hashes: -1}, {Bits: 8, Hashes: 65}, {Bits: 1 << 60, Hashes: 1}} {
		if f, err := bloom.Build(s); err == nil || f != nil {
			t.Errorf("%+v: built", s)
		}
	}
	for _, s := range []bloom.BlockedShape{{}, {Blocks: 1}, {Hashes: 8}, {Blocks: 1, Hashes: 7}, {Blocks: 1, Hashes: 40}, {Blocks: 1, Hashes: -8}, {Blocks: 1 << 60, Hashes: 8}} {
		if f, err := bloom.BuildBlocked(s); err == nil || f != nil {
			t.Errorf("%+v: built", s)
		}
	}
}
