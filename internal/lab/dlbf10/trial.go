package dlbf10

import (
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// paperTrials is the number of trials per set of parameters in Sec. IV.
const paperTrials = 2_000

// outcome is what one trial of Sec. IV found: n keys added, those deleted that can
// be.
type outcome struct {
	deletable float64 // share of the keys
	set       float64 // set bits before anything was deleted
	reset     float64 // of these
	clean     float64 // share of the regions
	lost      float64 // keys that could not be deleted and are absent nevertheless
}

// deleteAll deletes the keys that f has and tells what became of it.
func deleteAll(f *deletable.Filter, keys []filter.Key) (o outcome) {
	o.clean, o.set = f.CleanRegions(), setBits(f)
	var pinned []filter.Key
	for _, k := range keys {
		if f.Delete(k) != nil {
			pinned = append(pinned, k)
		}
	}
	o.lost = float64(len(pinned) - lab.CountYes(f, pinned))
	o.deletable = 1 - float64(len(pinned))/float64(len(keys))
	o.reset = o.set - setBits(f)
	return o
}

// setBits undoes a division, and its rounding.
func setBits(f *deletable.Filter) float64 {
	return math.Round(f.Info().Fill * float64(f.Shape().Cells()))
}

// filled returns a filter with the keys.
func filled(s deletable.Shape, keys []filter.Key) (*deletable.Filter, error) {
	f, err := deletable.Build(s)
	if err != nil {
		return nil, err
	}
	_, _, err = f.AddBatch(keys)
	return f, err
}

// addAndDelete is one trial.
func addAndDelete(s deletable.Shape, keys []filter.Key) (outcome, error) {
	f, err := filled(s, keys)
	if err != nil {
		return outcome{}, err
	}
	return deleteAll(f, keys), nil
}

// shape is that of the paper's simulation, with so many regions.
func shape(e *lab.Env, regions int) deletable.Shape {
	return deletable.Shape{Bits: uint64(e.Int("bits")), Hashes: e.Int("hashes"), Regions: uint64(regions)}
}

// sized returns a filter with density bits per key, of which one in ratio codes
// the regions.
func sized(n, k, density, ratio int) deletable.Shape {
	bits := uint64(n * density)
	return deletable.Shape{Bits: bits, Hashes: k, Regions: bits / uint64(ratio)}
}

// numbers are a shape and a number of keys as the formulas take them.
type numbers struct{ cells, k, n, s float64 }

func numbersOf(s deletable.Shape, n float64) numbers {
	return numbers{float64(s.Cells()), float64(s.Hashes), n, float64(s.RegionBits())}
}

func (v numbers) eq1() float64         { return theory.DeletableEq1(v.cells, v.k, v.n, v.s) }
func (v numbers) conditioned() float64 { return theory.DeletableShare(v.cells, v.k, v.n, v.s) }
func (v numbers) rate() float64        { return math.Pow(-math.Expm1(v.k*v.n*math.Log1p(-1/v.cells)), v.k) }

// The metrics and formulas that several experiments have.
func deletableShare(o outcome) float64 { return o.deletable }
func resetShare(o outcome) float64     { return o.reset / o.set }
func resetBits(o outcome) float64      { return o.reset }
func lostKeys(o outcome) float64       { return o.lost }

// shareFormulas are Eq. (1), and the formula with the condition that it lacks.
func shareFormulas(v func(at lab.At) numbers) []lab.Formula {
	return []lab.Formula{
		{Name: "Eq. (1)", Unit: lab.InPercent, Of: func(at lab.At) float64 { return v(at).eq1() }},
		{Name: "conditioned", Unit: lab.InPercent, Of: func(at lab.At) float64 { return v(at).conditioned() }},
	}
}

// noneLost is R2 of the paper, for any experiment that deletes.
var noneLost = lab.Claim{Name: "no false negatives after deleting", Printed: "no false negatives: R2", Where: "Sec. I", Of: lab.Of("false negatives"), Is: lab.Zero()}

// deletableAxis is that of most plots.
var deletableAxis = lab.Axis{Label: "keys that can be deleted", Percent: true, Max: 1.02}

// randomTrial adds and deletes n random keys.
func randomTrial(s deletable.Shape, n int, r *rand.Rand) (outcome, error) {
	return addAndDelete(s, lab.RandomKeys(r, n))
}

// exactRate is the mean of (X/m)^k over the number X of cells that kn hits set.
// Eq. (2) takes the power of the mean fill instead, which is smaller; the
// difference, which the paper's reference [3] is about, shows in small filters.
func exactRate(cells, k, n int) (rate float64) {
	m := float64(cells)
	set := make([]float64, cells+1) // probability that so many cells are set
	set[0] = 1
	for range k * n {
		for x := cells; x >= 0; x-- {
			set[x] *= float64(x) / m
			if x > 0 {
				set[x] += set[x-1] * (m - float64(x-1)) / m
			}
		}
	}
	for x, p := range set {
		rate += p * math.Pow(float64(x)/m, float64(k))
	}
	return rate
}
