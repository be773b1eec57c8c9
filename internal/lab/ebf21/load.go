package ebf21

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// fig9Hashes is k of Sec. 5.5.
const fig9Hashes = 8

var fig9a = lab.Experiment{
	ID:       "ebf21/fig9a",
	Paper:    paper,
	Title:    "Fig. 9a: the load rate by size and branches",
	Question: "Which share of the slots is in use when the first bucket tree overflows, by the size of the filter and the branches of the tree?",
	Says: "Sec. 5.5, CAIDA trace, 8 hash functions, 2^19 items: the load rate \"gets lower as the size of the Bloom filter gets larger\" and \"more branches can " +
		"increase the load rate\".",
	Quick: lab.Params{lab.Ints("sizes, log2", 8, 10, 12), lab.Ints("slots", tableSlots), lab.Ints("branches", 1, 2, 3, 4, 8), lab.Int("trials", 20)},
	Full:  lab.Params{lab.Ints("sizes, log2", 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19), lab.Ints("slots", tableSlots), lab.Ints("branches", 1, 2, 3, 4, 8), lab.Int("trials", 20)},
	Run:   runFig9,
	Plots: []lab.View{loadView("log2 size", lab.Axis{Label: "log2 of the size in bits"})},
	Claims: []lab.Claim{
		{Name: "the load rate by size", Printed: "gets lower as the size of the Bloom filter gets larger", Where: "Sec. 5.5", Of: lab.Of("load rate"), Is: lab.Falls("log2 size")},
		{Name: "the load rate by branches", Printed: "more branches can increase the load rate", Where: "Sec. 5.5", Of: lab.Of("load rate"), Is: lab.Rises("branches")},
		exactLoad,
	},
}

var fig9b = lab.Experiment{
	ID:       "ebf21/fig9b",
	Paper:    paper,
	Title:    "Fig. 9b: the load rate by bucket size and branches",
	Question: "Which share of the slots is in use when the first bucket tree overflows, by the size of the buckets and the branches of the tree?",
	Says: "Sec. 5.5, CAIDA trace, 2^19 items: \"with the number of branches fixed, the load rate increases as the size of the buckets gets larger. And with the size of the " +
		"buckets fixed, the load rate increases as the number of branches gets larger.\"",
	Quick: lab.Params{lab.Ints("sizes, log2", 10), lab.Ints("slots", 2, 4, 8), lab.Ints("branches", 1, 2, 3, 4, 8), lab.Int("trials", 20)},
	Full:  lab.Params{lab.Ints("sizes, log2", tableSize), lab.Ints("slots", 2, 4, 6, 8, 12, 16, 24, 32), lab.Ints("branches", 1, 2, 3, 4, 8), lab.Int("trials", 20)},
	Run:   runFig9,
	Plots: []lab.View{loadView("slots", lab.Axis{Label: "slots of a bucket"})},
	Claims: []lab.Claim{
		{Name: "the load rate by bucket size", Printed: "increases as the size of the buckets gets larger", Where: "Sec. 5.5", Of: lab.Of("load rate"), Is: lab.Rises("slots")},
		{Name: "the load rate by branches", Printed: "increases as the number of branches gets larger", Where: "Sec. 5.5", Of: lab.Of("load rate"), Is: lab.Rises("branches")},
		exactLoad,
	},
}

var exactLoad = lab.Claim{Kind: lab.Own, Name: "exact odds", Printed: "the mean load at which the first of independent trees overflows", Of: lab.Of("load rate"), Is: lab.Matches(lab.Of("exact odds"))}

func loadView(along string, axis lab.Axis) lab.View {
	return lab.View{
		Name: "load", Title: "Load rate at the first overflow; lines: from exact odds", X: along, By: "branches", XAxis: axis, Y: lab.Axis{Label: "slots in use", Percent: true},
		Curves: []lab.Curve{{Measured: "load rate", Formula: "exact odds"}},
	}
}

// bucketing is what a load rate depends on. Lines of formulas go through sizes and
// slots that are no whole numbers.
type bucketing struct {
	size     float64
	slots    float64
	branches int
}

func bucketingAt(at lab.At) bucketing {
	return bucketing{at.Float("log2 size"), at.Float("slots"), at.Int("branches")}
}

// slotsInAll is T of Sec. 5.1.3: level 1, and level 2 if there is one.
func (b bucketing) slotsInAll() float64 {
	trees := math.Ceil(math.Exp2(b.size) / float64(b.branches))
	if b.branches == 1 {
		trees = 0
	}
	return b.slots * (math.Exp2(b.size) + trees)
}

// expected is the load rate that exact odds give: the load at which the first of
// all trees overflows, on average, is the integral of the odds that none has. Loads
// of trees are taken as independent.
func (b bucketing) expected() float64 {
	if whole, part := math.Modf(b.slots); part > 0 {
		low, high := bucketing{b.size, whole, b.branches}, bucketing{b.size, whole + 1, b.branches}
		return (1-part)*low.expected() + part*high.expected()
	}
	const step = 1.0 / 32
	m, sum := math.Exp2(b.size), 0.0
	for load, none := step/2, 1.0; none > 1e-6 && load*m < b.slotsInAll(); load += step {
		none = math.Exp(-m / float64(b.branches) * theory.ElasticTreeOverflow(load, int(b.slots), b.branches))
		sum += none * step
	}
	return sum * m / b.slotsInAll()
}

// fill adds keys, with any threshold, until one finds no room or there are no more.
func (b bucketing) fill(hashes int, keys []filter.Key, salt uint64) (n uint64, full bool, err error) {
	f, err := elastic.Build(elastic.Shape{
		Bits: 1 << int(b.size), Hashes: hashes, HashBits: hashBits, Slots: int(b.slots), Branches: b.branches, Threshold: 1, Salt: salt,
	})
	if err != nil {
		return 0, false, err
	}
	_, _, err = f.AddBatch(keys)
	if errors.Is(err, filter.ErrFull) {
		return f.Len(), true, nil
	}
	return f.Len(), false, err
}

func runFig9(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	g, err := lab.Sweep(ctx, e, lab.Spec[float64]{
		Name: "rates", Title: "Load rate at the first overflow", Trials: e.Int("trials"),
		Dims: []lab.Dim{lab.Along("log2 size", e.Ints("sizes, log2")...), lab.Along("slots", e.Ints("slots")...), lab.Along("branches", e.Ints("branches")...)},
		Trial: func(at lab.At, r *rand.Rand) (float64, error) {
			b := bucketingAt(at)
			n, full, err := b.fill(fig9Hashes, lab.RandomKeys(r, int(1.1*b.slotsInAll()/fig9Hashes)), r.Uint64())
			if !full {
				return math.NaN(), err
			}
			return float64(n) * fig9Hashes / b.slotsInAll(), err
		},
		Metrics:  []lab.Metric[float64]{{Name: "load rate", Unit: lab.InPercent, Of: itself}},
		Formulas: []lab.Formula{{Name: "exact odds", Unit: lab.InPercent, Of: func(at lab.At) float64 { return bucketingAt(at).expected() }}},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
		"k = 8. A repeated packet finds its fingerprints and changes nothing, so that only flows were added, each once, and in place of CAIDA's these are random. One branch is without level 2.",
	}}, err
}
