package dlbf10

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// outcome is what one trial of Sec. IV found: n keys added, those deleted that can
// be.
type outcome struct {
	deletable float64 // share of the keys
	set       float64 // set bits before anything was deleted
	cleared   float64 // of these
	clean     float64 // share of the regions
	denied    int     // keys that could not be deleted and are denied nevertheless
}

// clearedShare is the share of the set bits that deleting has cleared.
func (o outcome) clearedShare() float64 { return o.cleared / o.set }

// deleteAll deletes the keys that f has and tells what became of it.
func deleteAll(f *deletable.Filter, keys []filter.Key) (o outcome) {
	o.clean = f.CleanRegions()
	o.set = setBits(f)
	var pinned []filter.Key
	for _, k := range keys {
		if f.Delete(k) != nil {
			pinned = append(pinned, k)
		}
	}
	for _, k := range pinned {
		if !f.MayContain(k) {
			o.denied++
		}
	}
	o.deletable = 1 - float64(len(pinned))/float64(len(keys))
	o.cleared = o.set - setBits(f)
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

// simulate repeats Sec. IV: n keys drawn from a dictionary, added, deleted.
func simulate(ctx context.Context, e *lab.Env, s deletable.Shape, n int, from []filter.Key) ([]outcome, error) {
	return lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (outcome, error) {
		keys := sample(r, from, n)
		f, err := filled(s, keys)
		if err != nil {
			return outcome{}, err
		}
		return deleteAll(f, keys), nil
	})
}

// atLeastRandom gives an estimate of a share no smaller a deviation than so many
// independent keys per trial would have if the share were p. Where hardly any key
// is pinned the trials may show none at all.
func atLeastRandom(e lab.Estimate, p float64, keys int) lab.Estimate {
	e.Deviation = max(e.Deviation, math.Sqrt(p*(1-p)/float64(keys)))
	return e
}

// deletableShare and its like are figures for lab.Figure.
func deletableShare(o outcome) float64 { return o.deletable }

// sumOf adds up a count of the trials.
func sumOf[T any](trials []T, count func(T) int) (total int) {
	for _, t := range trials {
		total += count(t)
	}
	return total
}

// numbers are a shape and a number of keys as the formulas take them.
type numbers struct{ cells, k, n, s float64 }

func numbersOf(s deletable.Shape, n int) numbers {
	return numbers{float64(s.Cells()), float64(s.Hashes), float64(n), float64(s.RegionBits())}
}

func (v numbers) eq1() float64         { return theory.DeletableEq1(v.cells, v.k, v.n, v.s) }
func (v numbers) conditioned() float64 { return theory.DeletableShare(v.cells, v.k, v.n, v.s) }
func (v numbers) freeBits() float64    { return theory.DeletableFreeBits(v.cells, v.k, v.n, v.s) }
