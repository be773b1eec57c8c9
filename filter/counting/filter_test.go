package counting_test

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// subject returns the kind with counters of the given width.
func subject(name string, counterBits int) filtertest.Subject {
	return filtertest.Subject{
		Name: name,
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return counting.New(counting.Config{Items: items, FPR: fpr, CounterBits: counterBits})
		},
		Read: func(r io.Reader) (filter.Filter, error) { return counting.Read(r) },
	}
}

var (
	two   = subject("counting2", 2)
	four  = subject("counting", 0)
	eight = subject("counting8", 8)
)

func TestConformance(t *testing.T) { filtertest.Run(t, four) }

// build returns an empty filter of the shape.
func build(t *testing.T, s counting.Shape) *counting.Filter {
	t.Helper()
	return filtertest.Make(t, counting.Build, s)
}

// positions returns the counters of a key, sorted.
func positions(s counting.Shape, k filter.Key) []uint64 {
	var out []uint64
	h := probe.NewMixer(s.Salt).Mix(k)
	for range s.Hashes {
		out = append(out, probe.Reduce(h, s.Counters))
		h = probe.Step(h)
	}
	slices.Sort(out)
	return out
}

// find returns the first key for which ok holds.
func find(t *testing.T, s counting.Shape, ok func(at []uint64) bool) filter.Key {
	t.Helper()
	return filtertest.Find(t, func(k filter.Key) bool { return ok(positions(s, k)) })
}

// wantCounters checks the values of all counters and the filter's invariants.
func wantCounters(t *testing.T, f *counting.Filter, when string, want map[uint64]int) {
	t.Helper()
	for i := range f.Shape().Counters {
		if got := f.Counter(i); got != want[i] {
			t.Errorf("%s: counter %d is %d, want %d", when, i, got, want[i])
		}
	}
	if err := codec.Whole(f); err != nil {
		t.Errorf("%s: %v", when, err)
	}
}

// remove deletes a key that must be found.
func remove(t *testing.T, f *counting.Filter, k filter.Key) {
	t.Helper()
	if err := f.Delete(k); err != nil {
		t.Fatalf("deleting %#x: %v", k, err)
	}
}

// refuse deletes a key that must not be found, and checks that nothing changes.
func refuse(t *testing.T, f *counting.Filter, k filter.Key) {
	t.Helper()
	before, info := filtertest.Stored(t, f), f.Info()
	if err := f.Delete(k); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("deleting %#x: %v, want ErrNotFound", k, err)
	}
	if after := filtertest.Stored(t, f); !slices.Equal(before, after) {
		t.Errorf("a refused Delete changed the filter:\n%x\n%x", before, after)
	}
	if got := f.Info(); got.Keys != info.Keys || got.Fill != info.Fill {
		t.Errorf("a refused Delete changed Info from %+v to %+v", info, got)
	}
}

// tiny is small enough for any coincidence.
var tiny = counting.Shape{Counters: 32, Hashes: 3, CounterBits: 4}

func distinct(at []uint64) bool { return at[0] != at[1] && at[1] != at[2] }

// TestCoincidingPositionsCountTwice looks at a key that has one position twice,
// alone, and beside a key that makes the filter think it could be there.
func TestCoincidingPositionsCountTwice(t *testing.T) {
	twice := find(t, tiny, func(at []uint64) bool { return at[0] == at[1] && at[1] != at[2] })
	at := positions(tiny, twice)
	cover := find(t, tiny, func(other []uint64) bool {
		return distinct(other) && slices.Contains(other, at[0]) && slices.Contains(other, at[2])
	})
	f := build(t, tiny)
	f.Add(twice)
	wantCounters(t, f, "added", map[uint64]int{at[0]: 2, at[2]: 1})
	remove(t, f, twice)
	wantCounters(t, f, "deleted", nil)

	f.Add(cover)
	if !f.MayContain(twice) {
		t.Fatal("the test is wrong: the key is covered")
	}
	refuse(t, f, twice) // its counter is 1, and must not go below zero
	if !f.MayContain(cover) {
		t.Error("a refused Delete lost another key")
	}
	remove(t, f, cover)
	wantCounters(t, f, "in the end", nil)
}

// TestSaturatedCountersStay adds more copies than a counter holds. Deleting all of
// them must leave the counters where they are: one of them may be another key's.
func TestSaturatedCountersStay(t *testing.T) {
	for _, width := range []int{2, 4, 8} {
		s := counting.Shape{Counters: 32, Hashes: 3, CounterBits: width}
		top := 1<<width - 1
		k := find(t, s, distinct)
		at := positions(s, k)
		f := build(t, s)
		for range top - 1 {
			f.Add(k)
		}
		if f.Saturated() != 0 {
			t.Errorf("%d bits: saturated by %d copies", width, top-1)
		}
		full := map[uint64]int{at[0]: top, at[1]: top, at[2]: top}
		for range 3 {
			f.Add(k)
			wantCounters(t, f, "saturated", full)
		}
		if got := f.Info().Details[0]; got.Name != "saturated counters" || got.Value != "3" {
			t.Errorf("%d bits: Info says %+v", width, got)
		}
		other := find(t, s, func(p []uint64) bool { return slices.Contains(p, at[0]) && !slices.Equal(p, at) })
		f.Add(other)
		for range top + 2 {
			remove(t, f, k)
		}
		if !f.MayContain(other) || !f.MayContain(k) || f.Len() != 1 {
			t.Errorf("%d bits: after deleting all copies: %t, %t, %d keys", width, f.MayContain(other), f.MayContain(k), f.Len())
		}
		remove(t, f, other)
		wantCounters(t, f, "emptied", full)
		// What is left says yes for k, yet nothing is in the set.
		refuse(t, f, k)
	}
}

// TestCopiesDoNotMakeOverfull counts different keys, as the rate does.
func TestCopiesDoNotMakeOverfull(t *testing.T) {
	f := filtertest.Make(t, counting.New, counting.Config{Items: 100, FPR: 0.01})
	keys := filtertest.Keys(1, 200)
	for range 10 {
		f.AddBatch(keys[:50])
	}
	if info := f.Info(); info.Overfull || info.Keys != 500 || info.Capacity != 100 {
		t.Errorf("50 keys ten times: %+v", info)
	}
	f.AddBatch(keys)
	if info := f.Info(); !info.Overfull || info.FPR < 0.01 {
		t.Errorf("200 keys in a filter for 100: %+v", info)
	}
}
