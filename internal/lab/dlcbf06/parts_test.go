package dlcbf06

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dleft"
)

// Without churn and with true deletes all three constructions hold what they got.
func TestSketchesHoldTheirKeys(t *testing.T) {
	for name, locate := range locators {
		r := rand.New(rand.NewPCG(3, 3))
		s := &sketch{locate: locate(r)}
		keys, err := churn(s, 2000, 0, 1, r, func() {})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			if len(s.find(k)) == 0 {
				t.Fatalf("%s: %#x is denied", name, k)
			}
		}
		for _, k := range keys {
			_ = s.Delete(k) // counts what it does not find
		}
		if s.denied > 0 && name != directBuild {
			t.Errorf("%s: %d keys could not be deleted", name, s.denied)
		}
	}
}

// A key that was never added must be able to be denied.
func TestSketchDeniesAbsentKeys(t *testing.T) {
	s := &sketch{locate: permuted(false)(rand.New(rand.NewPCG(4, 4)))}
	if _, err := s.Add(1); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(2); err != nil || s.denied != 1 || len(s.find(1)) != 1 {
		t.Errorf("%v, %d denied, %d copies", err, s.denied, len(s.find(1)))
	}
}

// crowded has all keys in the first bucket of each subarray.
func crowded(k filter.Key) (at [4]place) {
	for i := range at {
		at[i] = place{0, uint16(k)}
	}
	return at
}

func TestFullSketchesRefuseKeys(t *testing.T) {
	s := &sketch{locate: crowded, moves: 3}
	for k := range filter.Key(32) {
		if _, err := s.Add(k); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Add(32); !errors.Is(err, filter.ErrFull) || s.moved > 0 {
		t.Errorf("%v after %d moves in one bucket", err, s.moved)
	}
}

// The first bucket of each subarray is full of keys that may move on, step by step, to
// the bucket with room: how far is how many moves are needed.
func TestSketchesMoveAsOftenAsTheyMay(t *testing.T) {
	const needed = 3
	for moves := 1; moves <= 3; moves++ {
		// Keys below 8·needed fill bucket k/8 and may go on to the next one.
		s := &sketch{moves: moves, locate: func(k filter.Key) (at [4]place) {
			here := min(int(k)/8, needed)
			return [4]place{{here, uint16(k)}, {here, uint16(k)}, {here + 1, uint16(k)}, {here + 1, uint16(k)}}
		}}
		for k := range filter.Key(8 * needed) {
			at := s.locate(k)
			_, cell := s.free(0, at[0].bucket)
			*cell = slot{at[0].remainder, 1, k}
			_, cell = s.free(1, at[1].bucket)
			*cell = slot{at[1].remainder, 1, k}
			_, cell = s.free(2, at[0].bucket)
			*cell = slot{at[0].remainder, 1, k}
			_, cell = s.free(3, at[0].bucket)
			*cell = slot{at[0].remainder, 1, k}
		}
		last, path := s.makeRoom(0, 0, moves, nil), s.moved
		if (last != nil) != (moves >= needed) || last != nil && path != needed {
			t.Errorf("%d moves allowed: room %t with %d", moves, last != nil, path)
		}
	}
}

// At a load that needs moves no key gets lost, and more moves carry further.
func TestMovedKeysAreFound(t *testing.T) {
	var rooms [3]float64
	for moves := 1; moves <= 2; moves++ {
		r := rand.New(rand.NewPCG(5, 5))
		s := &sketch{locate: permuted(false)(r), moves: moves}
		m, err := s.try(65_024, 20_000, r)
		if err != nil || m["keys denied"] > 0 || s.denied > 0 || s.moved == 0 {
			t.Errorf("%d moves: %+v, %d denied, %d moved, %v", moves, m, s.denied, s.moved, err)
		}
		rooms[moves] = m["no room"]
	}
	if rooms[1] != 1 || rooms[2] != 0 {
		t.Errorf("no room with one and two moves: %v", rooms[1:])
	}
}

func TestChurnEndsWithTheFirstError(t *testing.T) {
	f, err := dleft.Build(dleft.Shape{Subtables: 1, Buckets: 1, Cells: 4, Remainder: 20, Counter: 2})
	if err != nil {
		t.Fatal(err)
	}
	looks := 0
	_, err = churn(f, 5, 10, 1, rand.New(rand.NewPCG(1, 1)), func() { looks++ })
	if !errors.Is(err, filter.ErrFull) || looks != 0 {
		t.Errorf("%v after %d looks", err, looks)
	}
	if f, err = dleft.Build(example); err != nil {
		t.Fatal(err)
	}
	if _, err := churn(f, 100, 10, 5, rand.New(rand.NewPCG(1, 1)), func() { looks++ }); err != nil || looks != 3 || f.Len() != 100 {
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

// Of 10,000 queries 20 yeses are above 0.00195 and 19 are not: 24.3 % of the trials are
// outside, by exact binomial sums.
func TestOddsOfThePrintedRanges(t *testing.T) {
	if got := dleftRates.odds(); math.Abs(got-0.243) > 0.0006 {
		t.Errorf("d-left: %v", got)
	}
	if got := cbfRates.odds(); math.Abs(got-0.201) > 0.0006 {
		t.Errorf("counting: %v", got)
	}
	for yes, want := range map[int]bool{10: true, 11: false, 19: false, 20: true} {
		if dleftRates.outside(yes) != want {
			t.Errorf("%d yeses are outside: %t", yes, !want)
		}
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
