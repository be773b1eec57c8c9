package evergreen

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// A filter that was never told of the deletes must be told apart from one that
// was.
func TestAgainSeesWhatWasLeftBehind(t *testing.T) {
	f, err := evergreen.New(evergreen.Config{FPR: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	w := &walker{f: f, keys: newKeys((&lab.Env{Seed: 1}).Rand(0))}
	if err := w.grow(20_000); err != nil {
		t.Fatal(err)
	}
	if c, err := w.again(10_000); err != nil || c.unequal != 0 {
		t.Errorf("nothing was deleted: %+v, %v", c, err)
	}
	w.first += 5_000 // without a Delete
	if c, err := w.again(10_000); err != nil || c.unequal == 0 {
		t.Errorf("5,000 keys were left behind: %+v, %v", c, err)
	}
}

func TestUsedSeesWaste(t *testing.T) {
	trip := trip{growth: growth{shape: evergreen.Shape{FPR: 0.01, Hashes: 8, Width: 56}}}
	for yes, want := range map[int]lab.Verdict{10_000: lab.Reproduced, 8_000: lab.Reproduced, 7_000: lab.Differs} {
		trip.back = []look{{keys: 100_000, blocks: 10_000, yes: yes, asked: 1_000_000}}
		if c := trip.used("1 %"); c.Verdict != want {
			t.Errorf("%d yeses: %+v", yes, c)
		}
	}
}

func TestBlocksBetweenSeesTooManyAndTooFew(t *testing.T) {
	trip := trip{growth: growth{shape: evergreen.Shape{FPR: 0.01, Hashes: 8, Width: 56}}}
	right := uint64(predicted(trip.shape, 1_000_000).FastBitsPerKey * 1_000_000 / 512)
	for _, c := range []struct {
		blocks uint64
		want   lab.Verdict
	}{{right, lab.Reproduced}, {right * 5 / 4, lab.Differs}, {right * 9 / 10, lab.Differs}} {
		trip.backGlances = []look{{keys: 1_000_000, blocks: c.blocks, fast: float64(512*c.blocks) / 1_000_000}}
		if got := trip.blocksBetween("1 %"); got.Verdict != c.want {
			t.Errorf("%d blocks: %+v", c.blocks, got)
		}
	}
}
