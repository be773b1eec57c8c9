package evergreen

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
)

func TestSavedAndReadReproducesForAnOrdinaryFilter(t *testing.T) {
	f, err := evergreen.New(evergreen.Config{FPR: 0.01, Width: 24})
	if err != nil {
		t.Fatal(err)
	}
	w := &walker{f: f, keys: newKeys((&lab.Env{}).Rand(0))}
	if err := w.grow(1000); err != nil {
		t.Fatal(err)
	}
	if c := savedAndRead(f); c.Verdict != lab.Reproduced {
		t.Errorf("%+v", c)
	}
}

// Filters that hold whole keys owe one delete, however often a key is added.
func TestOwedSeesOtherWidths(t *testing.T) {
	for width, want := range map[int]int{24: 3, 32: 3, 56: 1} {
		f, err := evergreen.New(evergreen.Config{FPR: 0.01, Width: width})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := owed(f, newKeys((&lab.Env{}).Rand(0)).member(7)); got != want || err != nil {
			t.Errorf("width %d: %d deletes, want %d; %v", width, got, want, err)
		}
	}
}
