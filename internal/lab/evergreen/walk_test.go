package evergreen

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
)

func testKeys() keys { return newKeys((&lab.Env{Seed: 1}).Rand(0)) }

func newWalker(t *testing.T, c evergreen.Config) *walker {
	t.Helper()
	f, err := evergreen.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return &walker{f: f, keys: testKeys()}
}

func TestStrangersAreNeverMembers(t *testing.T) {
	k := testKeys()
	seen := map[filter.Key]bool{}
	for i := range 10_000 {
		seen[k.member(i)], seen[k.stranger(i)], seen[k.stranger(-1-i)] = true, true, true
	}
	if len(seen) != 30_000 {
		t.Errorf("%d different keys of 30,000", len(seen))
	}
}

func TestSizesAreAtEqualRatios(t *testing.T) {
	if got := sizes(100, 1600, 5); !slices.Equal(got, []int{100, 200, 400, 800, 1600}) {
		t.Error(got)
	}
	if got := sizes(1000, 1_000_000, 4); !slices.Equal(got, []int{1000, 10_000, 100_000, 1_000_000}) {
		t.Error(got)
	}
}

// TestWalkersDeleteTheOldestFirst moves the window of members along.
func TestWalkersDeleteTheOldestFirst(t *testing.T) {
	w := newWalker(t, evergreen.Config{FPR: 0.01})
	for _, step := range []struct {
		change      func(int) error
		to          int
		first, next int
	}{{w.grow, 1000, 0, 1000}, {w.shrink, 400, 600, 1000}, {w.grow, 500, 600, 1100}, {w.grow, 300, 600, 1100}, {w.shrink, 900, 600, 1100}} {
		if err := step.change(step.to); err != nil || w.first != step.first || w.next != step.next {
			t.Fatalf("to %d: members %d to %d, %v; want %d to %d", step.to, w.first, w.next, err, step.first, step.next)
		}
	}
	if w.f.Len() != 500 || w.f.Contains(w.keys.member(599)) || !w.f.Contains(w.keys.member(600)) {
		t.Errorf("%d keys in the filter", w.f.Len())
	}
	w.first-- // a key that is not there any more
	if err := w.shrink(0); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("deleting what is gone: %v", err)
	}
}

func TestLooksCountAnswers(t *testing.T) {
	w := newWalker(t, evergreen.Config{FPR: 0.5})
	if err := w.grow(20_000); err != nil {
		t.Fatal(err)
	}
	l := w.look(5_000)
	if l.keys != 20_000 || l.asked != 5_000 || l.denied != 0 || l.yes == 0 || l.yes == l.asked || l.blocks != w.f.Blocks() {
		t.Errorf("%+v", l)
	}
	info := w.f.Info()
	if want := float64(info.FastBits) / 20_000; l.fast != want || l.slow != float64(info.SlowBits)/20_000 || l.says != info.FPR {
		t.Errorf("%+v, want %v fast bits", l, want)
	}
	if w.asked != 5_000 {
		t.Errorf("the next look begins with stranger %d", w.asked)
	}
	if other := w.look(5_000); other.yes == l.yes && w.look(5_000).yes == l.yes {
		t.Errorf("three looks have %d yeses: they asked the same strangers", l.yes)
	}
}

// TestDeniedAsksFromTheOldestToTheYoungest has a window that says more than is there.
func TestDeniedAsksFromTheOldestToTheYoungest(t *testing.T) {
	w := newWalker(t, evergreen.Config{FPR: 1e-9})
	if err := w.grow(1000); err != nil {
		t.Fatal(err)
	}
	if n := w.denied(1000); n != 0 {
		t.Errorf("%d denied", n)
	}
	w.next = 2000 // half of these were never added
	if n := w.denied(2000); n != 1000 {
		t.Errorf("%d of 2000 denied, want 1000", n)
	}
	if n := w.denied(10); n != 5 {
		t.Errorf("%d of 10 denied, want 5", n)
	}
}

func TestWaysUpHaveALookAtEverySize(t *testing.T) {
	w := newWalker(t, evergreen.Config{FPR: 0.01})
	stops := []int{1000, 2000, 4000}
	looks, glances, err := w.up(t.Context(), stops, 100)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range looks {
		if l.keys != stops[i] || l.asked != 100 {
			t.Errorf("look %d: %+v", i, l)
		}
	}
	if want := math.Log(4) / math.Log(fine); math.Abs(float64(len(glances))-want) > 2 {
		t.Errorf("%d glances, want %.0f", len(glances), want)
	}
	for i, l := range glances {
		if l.asked != 0 || i > 0 && l.keys <= glances[i-1].keys {
			t.Errorf("glance %d: %+v", i, l)
		}
	}
	full := newWalker(t, evergreen.Config{FPR: 1e-5, Width: 24})
	if _, _, err := full.up(t.Context(), []int{1000, 100_000}, 1); !errors.Is(err, filter.ErrFull) {
		t.Errorf("a filter that is too small: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := newWalker(t, evergreen.Config{FPR: 0.01}).up(ctx, stops, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestTheWayBackComparesAtAnEighth(t *testing.T) {
	e := &lab.Env{Params: lab.Params{lab.Int("least keys", 1000), lab.Int("most keys", 32_000), lab.Int("sizes", 6), lab.Int("queries", 500)}}
	trip, err := thereAndBack(t.Context(), e, evergreen.Config{FPR: 0.01}, testKeys())
	if err != nil {
		t.Fatal(err)
	}
	if trip.last != 32_000 || len(trip.looks) != 6 || len(trip.back) != 5 || trip.back[4].keys != 1000 {
		t.Errorf("%d keys, %d looks, %d on the way back: %+v", trip.last, len(trip.looks), len(trip.back), trip.back)
	}
	if c := trip.again; c.keys > 4000 || c.keys < 3900 || c.asked != 500 || c.unequal != 0 {
		t.Errorf("%+v", c)
	}
	if trip.deleted.asked != 500 || trip.deleted.yes > 50 {
		t.Errorf("deleted keys: %+v", trip.deleted)
	}
	for _, c := range trip.checks() {
		if c.Unexpected() {
			t.Errorf("%+v", c)
		}
	}
	if n := len(trip.table().Rows); n != 11 {
		t.Errorf("%d rows", n)
	}
	// A filter that shows what was deleted, and one that forgets what was not.
	trip.deleted.yes, trip.again.unequal, trip.back[2].denied = 100, 1, 1
	differ := map[string]bool{}
	for _, c := range trip.checks() {
		differ[c.Name] = c.Verdict == lab.Differs
	}
	for _, name := range []string{"rate of deleted keys, 1 %", "nothing is left of deleted keys, 1 %", "no member denied while shrinking, 1 %"} {
		if !differ[name] {
			t.Errorf("%s does not differ", name)
		}
	}
}

func TestNumbersAreReadAsPrinted(t *testing.T) {
	for text, want := range map[string][2]float64{"10.1": {10.1, 0.05}, "67": {67, 0.5}, "0.125": {0.125, 0.0005}} {
		if n, half := numberOf(text), halfOf(text); n != want[0] || math.Abs(half-want[1]) > 1e-12 {
			t.Errorf("%s: %v, %v", text, n, half)
		}
	}
}

func TestLooksArePicked(t *testing.T) {
	looks := []look{{keys: 10, fast: 1, slow: 10, yes: 1, asked: 100}, {keys: 20, fast: 2, slow: 20, yes: 4, asked: 100}, {keys: 30, fast: 3, slow: 30, yes: 2, asked: 100}}
	if got := pick(looks, 20, fastBits); !slices.Equal(got, []float64{2, 3}) {
		t.Errorf("fast: %v", got)
	}
	if got := pick(looks, 0, allBits); !slices.Equal(got, []float64{11, 22, 33}) {
		t.Errorf("all: %v", got)
	}
	if points := line(looks, slowBits); len(points) != 3 || points[1].X != 20 || points[1].Y != 20 {
		t.Errorf("%v", points)
	}
	if yes, asked := sum(looks); yes != 7 || asked != 300 {
		t.Errorf("%d of %d", yes, asked)
	}
	points := rates(looks, 0.02)
	if p := points[1]; math.Abs(p.Y-2) > 1e-9 || p.Lo >= p.Y || p.Hi <= p.Y {
		t.Errorf("4 %% of 2 %% asked: %+v", p)
	}
}

// TestOnlySizesAboveTheSmallestCountTogether has a small filter with a rate far below.
func TestOnlySizesAboveTheSmallestCountTogether(t *testing.T) {
	looks := []look{{keys: 10, blocks: smallest, asked: 1_000_000}}
	for range 50 {
		looks = append(looks, look{keys: 100_000, blocks: smallest + 1, yes: 10_300, asked: 1_000_000})
	}
	if c := kept("rate", "kept", 0.01, looks); c.Verdict != lab.Differs {
		t.Errorf("each is a little too high: %+v", c)
	}
	for i := range looks {
		looks[i].blocks = smallest
	}
	if c := kept("rate", "kept", 0.01, looks); c.Verdict != lab.Reproduced {
		t.Errorf("none of them is judged with the others: %+v", c)
	}
}

func TestFiguresAboutTensAreRightToTheNearest(t *testing.T) {
	for ours, want := range map[float64]lab.Verdict{75: lab.Reproduced, 84.9: lab.Reproduced, 74.9: lab.Differs, 85.1: lab.Differs} {
		if c := nearTen("bits", "about 80", 80, ours); c.Verdict != want {
			t.Errorf("%v: %+v", ours, c)
		}
	}
}

func TestCompactFiltersAreFullWhereTheySay(t *testing.T) {
	if !math.IsNaN(capacity(7, 24)) {
		t.Error("a rate of 7 has a capacity")
	}
	e := &lab.Env{Params: lab.Params{lab.Float("rate", 1e-5), lab.Int("width", 24), lab.Int("queries", 1000)}}
	result := &lab.Result{}
	w, err := fill(e, result)
	if err != nil || float64(w.len()) != capacity(1e-5, 24) {
		t.Fatalf("%v keys, %v", capacity(1e-5, 24), err)
	}
	if err := strangers(e, w, result); err != nil {
		t.Fatal(err)
	}
	for _, c := range result.Checks {
		if c.Verdict == lab.Differs {
			t.Errorf("%+v", c)
		}
	}
	e.Params[1] = lab.Int("width", 99)
	if _, err := fill(e, result); err == nil {
		t.Error("fingerprints of 99 bits")
	}
}
