package dleft

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// pair is two equal shapes with ample room: no two of the first keys share a
// fingerprint.
func pair(t *testing.T) (a, b *Filter) {
	t.Helper()
	s := Shape{Subtables: 4, Buckets: 10, Cells: 8, Remainder: 20, Counter: 3}
	return build(t, s), build(t, s)
}

func copies(f *Filter, k filter.Key) uint64 {
	cell, ok := f.seek(f.fingerprint(k))
	if !ok {
		return 0
	}
	_, counter := f.get(cell)
	return counter + 1
}

func TestUnionAddsCopies(t *testing.T) {
	a, b := pair(t)
	add(t, a, 1, 2, 2, 3)
	add(t, b, 2, 3, 3, 4)
	if err := a.Union(b); err != nil {
		t.Fatal(err)
	}
	for k, want := range []uint64{0, 1, 3, 3, 1} {
		if got := copies(a, filter.Key(k)); got != want {
			t.Errorf("key %d: %d copies, want %d", k, got, want)
		}
	}
	if a.Len() != 8 || a.check() != nil || b.Len() != 4 {
		t.Errorf("Len %d and %d, %v", a.Len(), b.Len(), a.check())
	}
}

func TestUnionOfManyCopiesSticks(t *testing.T) {
	a, b := pair(t)
	for range 5 {
		add(t, a, 1, 2)
		add(t, b, 1, 3)
	}
	for range 8 {
		add(t, b, 2, 4)
	}
	if err := a.Union(b); err != nil {
		t.Fatal(err)
	}
	// 1 has 10 copies, 2 has 13, 3 has 5 and 4 has 8: all but 3 are stuck.
	if a.stuck != 3 || a.exact != 5 || a.vague != 31 || a.check() != nil {
		t.Errorf("%+v, %v", a.tally, a.check())
	}
	for range 70 { // the sum of copies has an end
		if err := a.Union(a); err != nil {
			t.Fatal(err)
		}
	}
	if a.stuck != 4 || a.Len() != maxVague || a.check() != nil {
		t.Errorf("%+v, %v", a.tally, a.check())
	}
}

func TestIntersectTakesTheFewerCopies(t *testing.T) {
	a, b := pair(t)
	add(t, a, 1, 2, 2, 2, 3, 5)
	add(t, b, 2, 2, 3, 3, 4, 5)
	for range 20 {
		add(t, b, 5, 6) // stuck in b
		add(t, a, 6)    // stuck in both
	}
	if err := a.Intersect(b); err != nil {
		t.Fatal(err)
	}
	for k, want := range []uint64{0, 0, 2, 1, 0, 8, 8} {
		if got := copies(a, filter.Key(k)); got != want {
			t.Errorf("key %d: counter of %d copies, want %d", k, got, want)
		}
	}
	// At most one 5 and twenty 6 are left.
	if a.exact != 3 || a.stuck != 2 || a.vague != 21 || a.check() != nil {
		t.Errorf("%+v, %v", a.tally, a.check())
	}
	empty, _ := pair(t)
	if err := a.Intersect(empty); err != nil || a.tally != (tally{}) || a.check() != nil {
		t.Errorf("intersection with nothing: %v, %+v, %v", err, a.tally, a.check())
	}
}
