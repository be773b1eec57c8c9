package walk

import (
	"errors"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
)

func testKeys() Keys { return NewKeys((&lab.Env{Seed: 1}).Rand(0)) }

func newWalker(t *testing.T, rate float64) (*walker, *evergreen.Filter) {
	t.Helper()
	f, err := evergreen.New(evergreen.Config{FPR: rate})
	if err != nil {
		t.Fatal(err)
	}
	return &walker{f: f, keys: testKeys()}, f
}

func TestAbsentKeysAreNeverPresent(t *testing.T) {
	k := testKeys()
	seen := map[filter.Key]bool{}
	for i := range 10_000 {
		seen[k.Present(i)], seen[k.Absent(i)], seen[k.Absent(-1-i)] = true, true, true
	}
	if len(seen) != 30_000 {
		t.Errorf("%d different keys of 30,000", len(seen))
	}
}

func TestSizesAreAtEqualRatios(t *testing.T) {
	if got := Sizes(1000, 1_000_000, 4); !slices.Equal(got, []int{1000, 10_000, 100_000, 1_000_000}) {
		t.Error(got)
	}
}

// TestWalkersDeleteTheOldestFirst moves the window of present keys along.
func TestWalkersDeleteTheOldestFirst(t *testing.T) {
	w, f := newWalker(t, 0.01)
	for _, step := range []struct{ to, first, next int }{{1000, 0, 1000}, {400, 600, 1000}, {500, 600, 1100}} {
		if err := w.to(step.to); err != nil || w.first != step.first || w.next != step.next {
			t.Fatalf("to %d: present %d to %d, %v; want %d to %d", step.to, w.first, w.next, err, step.first, step.next)
		}
	}
	if f.Len() != 500 || f.Contains(w.keys.Present(599)) || !f.Contains(w.keys.Present(600)) {
		t.Errorf("%d keys in the filter", f.Len())
	}
	w.first-- // a key that is not there any more
	if err := w.to(0); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("deleting what is gone: %v", err)
	}
}

func TestLooksCountAnswers(t *testing.T) {
	w, f := newWalker(t, 0.5)
	looks, err := Through(t.Context(), f, w.keys, []int{10_000, 20_000}, 5_000, false)
	if err != nil {
		t.Fatal(err)
	}
	l, info := looks[1], f.Info()
	if l.Keys != 20_000 || l.Denied != 0 || l.Yes == 0 || l.Yes == 1 || l.Yes == looks[0].Yes {
		t.Errorf("%+v", l)
	}
	if want := float64(info.FastBits+info.SlowBits) / 20_000; l.All() != want || l.Most < want || l.Says != info.FPR {
		t.Errorf("%+v, want %v bits", l, want)
	}
	w.next = 40_000 // half of these were never added
	if l := w.look(1_000); l.Denied < 0.3 || l.Denied > 0.5 {
		t.Errorf("%v denied, want nearly half", l.Denied)
	}
}

func TestTheWayBackIsInOrderOfTheSizes(t *testing.T) {
	w, f := newWalker(t, 0.01)
	looks, err := Through(t.Context(), f, w.keys, []int{1_000, 2_000, 4_000}, 100, true)
	if err != nil || len(looks) != 3 || looks[0].Keys != 1_000 || looks[2].Keys != 4_000 || f.Len() != 1_000 {
		t.Errorf("%+v, %d keys, %v", looks, f.Len(), err)
	}
}
