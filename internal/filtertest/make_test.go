package filtertest

import (
	"strings"
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

func TestRefusesMergeFindsWhatIsWrong(t *testing.T) {
	small, large := NewExact(ExactConfig{Items: 1}), NewExact(ExactConfig{Items: 2})
	RefusesMerge(t, small, large, "Items:2")
	careless := hooks{Intersect: func(f *Exact, other filter.Filter) error {
		_, _ = f.Add(1)
		return f.Intersect(other)
	}}.faulty(small)
	for want, refuse := range map[string]func(tb *recorder){
		"got <nil>":          func(tb *recorder) { RefusesMerge(tb, small, NewExact(ExactConfig{Items: 1}), "") },
		`and "Items:3"`:      func(tb *recorder) { RefusesMerge(tb, small, large, "Items:3") },
		"changed the filter": func(tb *recorder) { RefusesMerge(tb, careless, large, "Items:2") },
	} {
		if notes := record(t, refuse); !strings.Contains(notes, want) {
			t.Errorf("the notes are %q, want %q", notes, want)
		}
	}
}
