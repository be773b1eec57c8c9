package filtertest

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// counts returns the content of a set as a map, by way of its methods.
func counts(t *testing.T, s *Set) map[filter.Key]uint64 {
	t.Helper()
	got := maps.Collect(s.All())
	total := uint64(0)
	for i := range s.Len() {
		k := s.At(i)
		total += s.Count(k)
		if !s.Has(k) || got[k] != s.Count(k) || s.Count(k) == 0 {
			t.Fatalf("key %#x: has %t, count %d, listed with %d", k, s.Has(k), s.Count(k), got[k])
		}
	}
	if len(got) != s.Len() || total != s.Total() || len(s.Keys()) != s.Len() {
		t.Fatalf("%d keys listed, %d told; total %d, told %d", len(got), s.Len(), total, s.Total())
	}
	return got
}

func TestSetFollowsAMap(t *testing.T) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 0))
	var s Set
	want := make(map[filter.Key]uint64)
	for step := range 20_000 {
		k := filter.Key(r.IntN(50))
		was := want[k]
		switch r.IntN(4) {
		case 0, 1:
			want[k]++
			if got := s.Add(k); got != want[k] {
				t.Fatalf("seed %d, step %d: Add gave %d, want %d", seed, step, got, want[k])
			}
		case 2:
			if got := s.Delete(k); got != (was > 0) {
				t.Fatalf("seed %d, step %d: Delete gave %t of %d", seed, step, got, was)
			}
			want[k] = max(1, was) - 1
		case 3:
			if got := s.Remove(k); got != (was > 0) {
				t.Fatalf("seed %d, step %d: Remove gave %t of %d", seed, step, got, was)
			}
			want[k] = 0
		}
		if want[k] == 0 {
			delete(want, k)
		}
		if step%100 == 0 && !maps.Equal(counts(t, &s), want) {
			t.Fatalf("seed %d, step %d: set %v, want %v", seed, step, counts(t, &s), want)
		}
	}
}

func TestSetMerges(t *testing.T) {
	build := func(keys ...filter.Key) *Set {
		var s Set
		for _, k := range keys {
			s.Add(k)
		}
		return &s
	}
	a, b := build(1, 1, 2, 3, 3, 3), build(3, 3, 4, 1)
	a.Union(b)
	if want := map[filter.Key]uint64{1: 3, 2: 1, 3: 5, 4: 1}; !maps.Equal(counts(t, a), want) {
		t.Errorf("union %v, want %v", counts(t, a), want)
	}
	a.Intersect(b)
	if want := map[filter.Key]uint64{1: 1, 3: 2, 4: 1}; !maps.Equal(counts(t, a), want) {
		t.Errorf("intersection %v, want %v", counts(t, a), want)
	}
	if want := map[filter.Key]uint64{1: 1, 3: 2, 4: 1}; !maps.Equal(counts(t, b), want) {
		t.Errorf("the operand became %v", counts(t, b))
	}
	b.Union(b)
	b.Intersect(b)
	if want := map[filter.Key]uint64{1: 2, 3: 4, 4: 2}; !maps.Equal(counts(t, b), want) {
		t.Errorf("with itself %v, want %v", counts(t, b), want)
	}
}
