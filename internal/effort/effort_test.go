package effort

import (
	"slices"
	"testing"
)

func TestFormIsAskedForByTheVariable(t *testing.T) {
	for asked, long := range map[string]bool{"": false, "0": false, "1": true, "yes": true} {
		t.Setenv("EVERBLOOM_LONG", asked)
		if Long() != long || Pick(1, 2) == 2 != long || Brief() != (UnderRace || !long) {
			t.Errorf("EVERBLOOM_LONG=%q: long form %t, picked %d, brief %t", asked, Long(), Pick(1, 2), Brief())
		}
		want := 2 // of variant, short and long
		if Variant {
			want = 1
		}
		if long {
			want = 3
		}
		if long && UnderRace {
			want = 2
		}
		if got := PickVariant(1, 2, 3); got != want {
			t.Errorf("EVERBLOOM_LONG=%q: race %t, variant %t, picked %d, want %d", asked, UnderRace, Variant, got, want)
		}
	}
}

func TestLongFormTriesEveryPosition(t *testing.T) {
	t.Setenv("EVERBLOOM_LONG", "1")
	if got := slices.Collect(Positions(t, 5, 2, 3)); !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("got %d", got)
	}
}

func TestShortFormsTogetherTryEveryPosition(t *testing.T) {
	t.Setenv("EVERBLOOM_LONG", "")
	const n, head, step = 100, 10, 7
	tried := map[int]bool{}
	for range 200 {
		got := slices.Collect(Positions(t, n, head, step))
		for i, p := range got {
			tried[p] = true
			if i < head && p != i || i > head && p != got[i-1]+step || p >= n {
				t.Fatalf("got %d", got)
			}
		}
		if last := got[len(got)-1]; last < n-step {
			t.Fatalf("the last of %d is %d", n, last)
		}
	}
	if len(tried) != n {
		t.Errorf("200 runs tried %d of %d positions", len(tried), n)
	}
	if got := slices.Collect(Positions(t, 3, head, step)); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("fewer than the first %d: got %d", head, got)
	}
	for i := range Positions(t, n, head, step) {
		if i == 3 {
			break // or the iterator panics
		}
	}
}
