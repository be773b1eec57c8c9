package dlcbf06

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Without churn and with true deletes all three constructions hold what they got.
func TestSketchesHoldTheirKeys(t *testing.T) {
	for _, b := range builds {
		r := rand.New(rand.NewPCG(3, 3))
		s := &sketch{locate: b.build(r)}
		var keys []filter.Key
		for range 2000 {
			if k := filter.Key(r.Uint64()); s.add(k) {
				keys = append(keys, k)
			}
		}
		for _, k := range keys {
			if len(s.find(k)) == 0 {
				t.Fatalf("%s: %#x is denied", b.name, k)
			}
		}
		for _, k := range keys {
			s.remove(k)
		}
		if s.denied > 0 && b.name != "independent choices" {
			t.Errorf("%s: %d keys could not be deleted", b.name, s.denied)
		}
	}
}

// A key that was never added must be able to be denied.
func TestSketchDeniesAbsentKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	s := &sketch{locate: permuted(false)(r)}
	s.add(1)
	s.remove(2)
	if s.denied != 1 || len(s.find(1)) != 1 {
		t.Errorf("%d denied, %d copies", s.denied, len(s.find(1)))
	}
}

func TestFullSketchDropsKeys(t *testing.T) {
	s := &sketch{locate: func(k filter.Key) (at [4]place) {
		for i := range at {
			at[i] = place{0, uint16(k)}
		}
		return at
	}}
	for k := range filter.Key(40) {
		s.add(k)
	}
	if s.full != 8 {
		t.Errorf("%d keys found no room in four buckets of 8, want 8 of 40", s.full)
	}
}

func TestChurnEndsWithTheFirstError(t *testing.T) {
	f, err := dleft.Build(dleft.Shape{Subtables: 1, Buckets: 1, Cells: 4, Remainder: 20, Counter: 2})
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	err = churn(f, 5, 10, 1, rand.New(rand.NewPCG(1, 1)), func() { looks++ })
	if !errors.Is(err, filter.ErrFull) || looks != 0 {
		t.Errorf("%v after %d looks", err, looks)
	}
	if f, err = dleft.Build(example); err != nil {
		t.Fatal(err)
	}
	if err := churn(f, 100, 10, 5, rand.New(rand.NewPCG(1, 1)), func() { looks++ }); err != nil || looks != 3 || f.Len() != 100 {
		t.Errorf("%v, %d looks, %d keys", err, looks, f.Len())
	}
}

func TestLargestFindsTheCounter(t *testing.T) {
	for value := range uint64(16) {
		for at := range 32 {
			words := []uint64{0x1111111111111111, 0x2222222222222222}
			words[at/16] &^= 15 << (at % 16 * 4)
			words[at/16] |= value << (at % 16 * 4)
			if got := largest(words); got != max(7, int(value)) {
				t.Errorf("counter %d of %d: %d", at, value, got)
			}
		}
	}
	if got := largest([]uint64{12, 0xe0, 8}); got != 14 {
		t.Errorf("12, 14, 8: %d", got)
	}
}

func TestOutsideAndQuantilesAgree(t *testing.T) {
	low, high := quantiles(10_000, 0.0015, 0.01)
	if odds := outside(10_000, 0.0015, low, high); odds > 0.02 || odds < 0.001 {
		t.Errorf("outside of %g to %g: %g", low, high, odds)
	}
	if odds := outside(10_000, 0.0015, 0, 1); odds != 0 {
		t.Errorf("outside of everything: %g", odds)
	}
}

func TestDistinctCountsEqualFingerprints(t *testing.T) {
	if got := distinct(exampleKeys); math.Abs(got-49_116) > 0.1 {
		t.Errorf("%g of 49,152 are different, want 49,116", got)
	}
	if got := distinct(1); math.Abs(got-1) > 1e-6 {
		t.Errorf("%g of 1", got)
	}
}

func TestMissedGrowsWithTheDistance(t *testing.T) {
	if a, b := missed(256, 12), missed(1024, 12); !(a > 0 && a < 0.04 && b > a && b < 0.15) {
		t.Errorf("%g and %g", a, b)
	}
}

func TestCountersReturnAsTheyDoInSimulation(t *testing.T) {
	const load, value, rounds = 2.0, 5, 20_000
	r := rand.New(rand.NewPCG(6, 7))
	back := 0
	for range rounds {
		x := value - 1
		for x > 0 && x < value {
			if r.Float64() < load/(load+float64(x)) {
				x++
			} else {
				x--
			}
		}
		if x == value {
			back++
		}
	}
	lo, hi := theory.BinomialInterval(rounds, returns(load, value), 4)
	if b := float64(back); b < lo || b > hi {
		t.Errorf("%d of %d came back, the formula gives %.0f to %.0f", back, rounds, lo, hi)
	}
	if p := returns(0.667, 9); p < 0.08 || p > 0.09 { // 0.667/8.667 at once, and a little more
		t.Errorf("%g", p)
	}
}
