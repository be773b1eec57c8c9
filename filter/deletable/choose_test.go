package deletable_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

var inPacket = deletable.Shape{Bits: 240, Hashes: 5, Regions: 24, Salt: 1000}

// TestChooseTakesTheLowestFill builds the candidates again, one by one.
func TestChooseTakesTheLowestFill(t *testing.T) {
	keys := filtertest.Keys(1, 22)
	f, number, err := deletable.Choose(inPacket, keys, deletable.BestFill(), 16)
	if err != nil {
		t.Fatal(err)
	}
	if f.Shape() != inPacket.Candidate(number) || f.Shape().Salt != 1000+uint64(number) {
		t.Errorf("candidate %d has shape %+v", number, f.Shape())
	}
	for i := range 16 {
		g := build(t, inPacket.Candidate(i))
		g.AddBatch(keys)
		if got, best := g.Info().Fill, f.Info().Fill; got < best || got == best && i < number {
			t.Errorf("candidate %d has fill %g, candidate %d was chosen with %g", i, got, number, best)
		}
		if i == number && !bytes.Equal(g.AppendRaw(nil), f.AppendRaw(nil)) {
			t.Error("the chosen filter is not what its number says")
		}
	}
	if err := codec.Whole(f); err != nil {
		t.Error(err)
	}
}

// TestChooseMakesNamedKeysDeletable asks for keys that the first candidate pins.
func TestChooseMakesNamedKeysDeletable(t *testing.T) {
	keys := filtertest.Keys(2, 22)
	first := build(t, inPacket)
	first.AddBatch(keys)
	var named []filter.Key
	for _, k := range keys {
		if first.Delete(k) != nil {
			named = append(named, k)
		}
	}
	if len(named) == 0 {
		t.Fatal("nothing is pinned, choose other keys")
	}
	f, number, err := deletable.Choose(inPacket, keys, deletable.AllDeletable(named...), 64)
	if err != nil || number == 0 {
		t.Fatalf("candidate %d, %v", number, err)
	}
	raw := f.AppendRaw(nil)
	g, err := deletable.FromRaw(inPacket.Candidate(number), raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range named {
		if err := g.Delete(k); err != nil {
			t.Errorf("the receiver deletes %#x: %v", k, err)
		}
	}
}

func TestChooseSaysWhenNoneWillDo(t *testing.T) {
	keys := filtertest.Keys(3, 5)
	twice := append(keys, keys[0])
	_, _, err := deletable.Choose(inPacket, twice, deletable.AllDeletable(keys[0]), 8)
	if !errors.Is(err, filter.ErrPinned) || !strings.Contains(err.Error(), "none of 8 candidates") {
		t.Errorf("a key that is there twice: %v", err)
	}
	_, _, err = deletable.Choose(deletable.Shape{}, keys, deletable.AllDeletable(1, 2), 0)
	for _, want := range []string{"Bits: 0", "Hashes: 0", "candidates: 0", "named key 0x1", "named key 0x2"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestChooseCountsTheNamedKeys builds the candidates again and counts in each what
// the goals are about.
func TestChooseCountsTheNamedKeys(t *testing.T) {
	keys, absent := filtertest.Keys(1, 22), filtertest.Keys(2, 300)
	claimed := func(f *deletable.Filter) (n int) {
		for _, k := range absent {
			if f.MayContain(k) {
				n++
			}
		}
		return n
	}
	pinned := func(f *deletable.Filter) (n int) {
		for _, k := range keys {
			g, err := deletable.FromRaw(f.Shape(), f.AppendRaw(nil))
			if err != nil {
				t.Fatal(err)
			}
			if g.Delete(k) != nil {
				n++
			}
		}
		return n
	}
	for name, c := range map[string]struct {
		goal  deletable.Goal
		count func(*deletable.Filter) int
	}{
		"false": {deletable.FewestFalse(absent...), claimed},
		"most":  {deletable.MostDeletable(keys...), pinned},
		"both": {
			deletable.MostDeletable(keys...).And(deletable.FewestFalse(absent...)),
			func(f *deletable.Filter) int { return claimed(f) + pinned(f) },
		},
	} {
		f, number, err := deletable.Choose(inPacket, keys, c.goal, 32)
		if err != nil {
			t.Fatal(err)
		}
		best, fill := c.count(f), f.Info().Fill
		for i := range 32 {
			g := build(t, inPacket.Candidate(i))
			g.AddBatch(keys)
			if n := c.count(g); n < best || n == best && g.Info().Fill < fill {
				t.Errorf("%s: candidate %d has %d and fill %g, candidate %d was chosen with %d and %g", name, i, n, g.Info().Fill, number, best, fill)
			}
		}
	}
}

func TestChooseRefusesAbsentKeysThatArePresent(t *testing.T) {
	keys := filtertest.Keys(1, 5)
	_, _, err := deletable.Choose(inPacket, keys, deletable.FewestFalse(keys[3]), 4)
	if err == nil || !strings.Contains(err.Error(), "is among the keys") {
		t.Errorf("%v", err)
	}
}
