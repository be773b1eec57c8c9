package dlbf10

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// One key with two positions in four cells of two regions: it cannot be deleted only
// if both positions are the same cell, one time in four.
func TestLiteralDeletableOfOneKey(t *testing.T) {
	s := deletable.Shape{Bits: 6, Hashes: 2, Regions: 2}
	if got := literalDeletable(s, 1); math.Abs(got-0.75) > 1e-12 {
		t.Errorf("%v, want 0.75", got)
	}
}

func TestLiteralDeletableMatchesSimulation(t *testing.T) {
	for _, c := range []struct {
		s deletable.Shape
		n int
	}{
		{deletable.Shape{Bits: 240, Hashes: 5, Regions: 24}, 22},
		{deletable.Shape{Bits: 32, Hashes: 3, Regions: 4}, 3},
		{deletable.Shape{Bits: 64, Hashes: 4, Regions: 32}, 6},
	} {
		r := rand.New(rand.NewPCG(7, uint64(c.n)))
		shares := make([]float64, 4_000)
		for i := range shares {
			shares[i] = idealTrial(r, c.s, c.n, true).deletable
		}
		if found, want := lab.Mean(shares), literalDeletable(c.s, c.n); !found.Within(want, lab.Sigmas) {
			t.Errorf("%+v, %d keys: %s, formula %v", c.s, c.n, found, want)
		}
	}
}
