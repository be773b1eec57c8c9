package filtertest

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

func TestMakeReturnsOrStops(t *testing.T) {
	half := func(n int) (int, error) {
		if n%2 != 0 {
			return 0, errPlanted
		}
		return n / 2, nil
	}
	if got := Make(t, half, 6); got != 3 {
		t.Errorf("got %d, want 3", got)
	}
	if notes := record(t, func(tb *recorder) { Make(tb, half, 7) }); notes != "7: planted" {
		t.Errorf("the notes are %q", notes)
	}
}

func TestFindReturnsTheFirst(t *testing.T) {
	want := Stream{}.Present(11)
	if got := Find(t, func(k filter.Key) bool { return k == want || k == (Stream{}).Present(12) }); got != want {
		t.Errorf("got %#x, want %#x", got, want)
	}
	if notes := record(t, func(tb *recorder) { Find(tb, func(filter.Key) bool { return false }) }); notes == "" {
		t.Error("a key that does not exist was found")
	}
}
