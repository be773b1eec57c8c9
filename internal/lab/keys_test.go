package lab_test

import (
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
)

func TestFigureIsTheMeanOfOneFigure(t *testing.T) {
	type trial struct{ a, b float64 }
	e := lab.Figure([]trial{{1, 10}, {3, 30}}, func(t trial) float64 { return t.b })
	if e.Mean != 20 || e.N != 2 {
		t.Errorf("%+v", e)
	}
}

func TestYesAnswersAreCounted(t *testing.T) {
	f, err := bloom.New(bloom.Config{Items: 1000, FPR: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	keys := lab.RandomKeys(rand.New(rand.NewPCG(1, 1)), 100)
	if _, _, err := f.AddBatch(keys[:25]); err != nil {
		t.Fatal(err)
	}
	if yes, share := lab.CountYes(f, keys), lab.YesShare(f, keys); yes != 25 || share != 0.25 {
		t.Errorf("%d keys, a share of %v", yes, share)
	}
	if share := lab.YesShare(f, nil); share != 0 {
		t.Errorf("%v of no keys", share)
	}
}
