package dlbf10

import (
	"math"
	"testing"

	"github.com/everbloom-go/everbloom/internal/theory"
)

var large = numbers{cells: 1e7, k: 5, n: 5e5, s: 9}

// At the start the chain must say what the paper's formulas say.
func TestFluidStartsWithTheFormulas(t *testing.T) {
	f := newFluid(large)
	if got, want := f.cleanShare(), theory.DeletableCleanRegion(large.cells, large.k, large.n, large.s); math.Abs(got-want) > 1e-5 {
		t.Errorf("clean regions %v, formula %v", got, want)
	}
	if got, want := f.deletable(), large.conditioned(); math.Abs(got-want) > 1e-5 {
		t.Errorf("deletable %v, formula %v", got, want)
	}
}

func TestFluidWearsOff(t *testing.T) {
	f := newFluid(large)
	weights := func() (total float64) {
		for _, c := range f.cohorts {
			total += c.weight
		}
		return total
	}
	clean, share := f.cleanShare(), f.deletable()
	for range 8 {
		f.advance(0.5)
		if f.cleanShare() >= clean || f.deletable() >= share {
			t.Errorf("clean %v after %v, deletable %v after %v", f.cleanShare(), clean, f.deletable(), share)
		}
		clean, share = f.cleanShare(), f.deletable()
		if math.Abs(weights()-1) > 1e-9 {
			t.Errorf("cohorts are %v of the keys", weights())
		}
	}
	for j, p := range f.clean {
		if p < 0 {
			t.Errorf("a probability of %v for %d set cells", p, j)
		}
	}
	f.advance(20)
	if w := weights(); math.Abs(w-1) > 1e-5 {
		t.Errorf("cohorts are %v of the keys after the oldest were dropped", w)
	}
}

// Without hits nothing collides, and without deletions nothing is cleared; the
// chain must also not depend on the size of its steps.
func TestFluidStepsAreSmallEnough(t *testing.T) {
	f := newFluid(large)
	f.advance(1)
	// The clean regions obey the same chain; a hundred times finer by hand.
	g := newFluid(large)
	for range int(100 / fluidStep) {
		g.move(g.clean, 0, fluidStep/100)
	}
	if a, b := f.cleanShare(), g.cleanShare(); math.Abs(a-b) > 1e-4 {
		t.Errorf("clean %v, with finer steps %v", a, b)
	}
}

func TestHalfLifeGrowsWithRoom(t *testing.T) {
	tight, roomy := numbers{cells: 1e6, k: 5, n: 1e5, s: 9}, numbers{cells: 2e6, k: 5, n: 1e5, s: 9}
	a, b := halfLife(tight, 8), halfLife(roomy, 8)
	if a >= b || a <= 0 || b >= 8 {
		t.Errorf("half-lives %v and %v turnovers", a, b)
	}
	if got := halfLife(roomy, 1); got != 1 {
		t.Errorf("half-life %v beyond the limit", got)
	}
	if got := halfLife(numbers{cells: 1e6, k: 5, n: 3e5, s: 9}, 8); got != 0 {
		t.Errorf("an overfull filter lasts %v turnovers", got)
	}
}
