package dpbf19

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var theorem = lab.Experiment{
	ID:       "dpbf19/theorem",
	Title:    "Theorem A.1: the rate of a list of filters",
	Question: "Is the rate of a list that of the theorem and of its proof, between whole numbers of units as well, and is its linear form a bound?",
	Says: "Theorem A.1: n_t = -(m/k) ln(1 - f_t^(1/k)), α = |A|/n_t, f_D ≥ 1 - (1 - f_t)^⌊α⌋ ≈ ⌊α⌋ f_t. Proof: for α < 1 both filters are one unit with equal rates; " +
		"for α ≥ 1 there are ⌊α⌋ units; every one but the last has rate f_t, the last f_last; f_D ≥ ⌊α⌋ f_t.",
	Params: lab.Params{
		lab.Floats("unit rates", 1e-4, 1e-2), lab.Int("keys of a unit", 2_000).Full(10_000), lab.Floats("α", 0.5, 1.5, 4.5, 9.9, 32.5).Full(0.5, 1.5, 2.5, 4.5, 9.9, 16.5, 32.5, 64.5, 150.5),
		lab.Int("lists", 20).Full(40), lab.Int("units to ask", 300_000).Full(25_000_000),
	},
	Run: runTheorem,
	Plots: []lab.View{{
		Name: "rate", Title: "Rate of a list; lines: the product in the proof", X: "α", By: "f_t", XAxis: lab.Axis{Label: "α, keys of the list over keys of a unit", Log: true}, Y: lab.Axis{Label: "false positives", Log: true, Percent: true},
		Curves: []lab.Curve{{Measured: "rate", Formula: "proof"}},
	}},
	Claims: []lab.Claim{
		{Name: "rate, from below", Printed: "1 - (1-f_t)^⌊α⌋ (1-f_last), with units that are full k-1 bits early", Where: "App. A, proof", Of: lab.Of("rate"), Is: lab.AtLeast(lab.Of("proof, units full early"))},
		{Name: "rate, from above", Printed: "1 - (1-f_t)^⌊α⌋ (1-f_last), with units that are full to the last bit", Where: "App. A, proof", Of: lab.Of("rate"), Is: lab.AtMost(lab.Of("proof, units full late"))},
		{Name: "Theorem A.1", Printed: "f_D ≥ 1 - (1-f_t)^⌊α⌋, but for units that are full early", Where: "Theorem A.1", Of: lab.Of("rate"), Is: lab.AtLeast(lab.Of("Theorem A.1, units full early"))},
		{Kind: lab.Erratum, Name: "units of a list", Printed: "⌊α⌋ for α ≥ 1", Where: "App. A, proof", Of: lab.Of("units"), Is: lab.In(lab.Span{Dim: "α", From: 1}, lab.Matches(lab.Of("⌊α⌋"))), Why: "⌊α⌋ are the full ones; the last comes on top, as the product in the same proof has it"},
		{
			Kind: lab.Erratum, Name: "last line of the proof", Printed: "f_D ≥ ⌊α⌋ f_t follows from f_D ≥ 1 - (1-f_t)^⌊α⌋", Where: "App. A, proof", Of: lab.Of("Theorem A.1", "f_t", 0.01), Is: lab.AtLeast(lab.Of("⌊α⌋ f_t")),
			Why: "(1-x)^y ≥ 1-xy by Bernoulli's inequality, so that ⌊α⌋ f_t is the larger one; it is an approximation while it is far below 1, as the theorem's ≈ has it",
		},
	},
}

// unitShape is a list of units for so many keys at rate f, as Eq. (1) gives them.
func unitShape(keys int, f float64) dynamic.Shape {
	k := math.Round(-math.Log2(f))
	m := theory.PartitionUnitBits(float64(keys), k, f)
	return dynamic.Shape{Positions: uint64(m), Hashes: int(k), CounterBits: 1, Full: uint64(m * math.Pow(f, 1/k))}
}

// listed is what the proof says about lists of α units.
type listed struct {
	shape   dynamic.Shape
	m, k    float64
	f, full float64 // f_t, and ⌊α⌋
	keys    float64
}

func listAt(at lab.At, unit int) listed {
	f := at.Float("f_t")
	s := unitShape(unit, f)
	l := listed{shape: s, m: float64(s.Positions), k: float64(s.Hashes), f: f, full: math.Floor(at.Float("α"))}
	l.keys = math.Round(at.Float("α") * theory.DynamicCapacity(l.m, l.k, f))
	return l
}

// product is the rate of units that are full with so many set bits, and take as many
// keys as another number of bits does; what they do not take is for the last one.
func (l listed) product(set, taken float64) float64 {
	last := theory.BloomFPR(l.m, l.k, max(0, l.keys-l.full*theory.BloomCardinality(l.m, l.k, taken)))
	return 1 - math.Pow(1-math.Pow(set/l.m, l.k), l.full)*(1-last)
}

// early is the number of set bits at which a unit may be full: the last k-1 bits of the
// key after it would be too many.
func (l listed) early() float64 { return float64(l.shape.Full) - l.k + 1 }

func runTheorem(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	unit := e.Int("keys of a unit")
	questions := func(at lab.At) int { return int(float64(e.Int("units to ask")) / math.Ceil(at.Float("α"))) }
	formula := func(name string, of func(l listed) float64) lab.Formula {
		return lab.Formula{Name: name, Unit: lab.InPercent, Of: func(at lab.At) float64 { return of(listAt(at, unit)) }}
	}
	return lab.Find(ctx, e, lab.Sweep{
		Name: "lists", Title: "Lists of units", Dims: []lab.Dim{lab.Along("f_t", e.Floats("unit rates")...), lab.Along("α", e.Floats("α")...)}, Trials: e.Int("lists"),
		Trial:   func(at lab.At, r *rand.Rand) (lab.Figures, error) { return askList(listAt(at, unit), r, questions(at)) },
		Metrics: []lab.Metric{{Name: "rate", Unit: lab.InPercent, Asked: questions}, {Name: "units"}},
		Formulas: []lab.Formula{
			formula("proof", func(l listed) float64 {
				return theory.DynamicFPR(l.m, l.k, theory.DynamicCapacity(l.m, l.k, l.f), l.keys)
			}),
			formula("proof, units full early", func(l listed) float64 { return l.product(l.early(), float64(l.shape.Full)+1) }),
			formula("proof, units full late", func(l listed) float64 { return l.product(float64(l.shape.Full), l.early()) }),
			formula("Theorem A.1", func(l listed) float64 { return theory.DynamicFPRBound(l.f, l.full) }),
			formula("Theorem A.1, units full early", func(l listed) float64 { return theory.DynamicFPRBound(math.Pow(l.early()/l.m, l.k), l.full) }),
			formula("⌊α⌋ f_t", func(l listed) float64 { return theory.DynamicLinearFPR(l.f, l.full) }),
			{Name: "⌊α⌋", Of: func(at lab.At) float64 { return math.Floor(at.Float("α")) }},
		},
	}, lab.Notes{
		"Lists are of package dynamic, whose units are full by their set bits, up to k-1 bits before the rate is reached: that lowers the rate of a unit by 0.6 % at most for 1e-4, by 0.1 % for 1e-2. " +
			"Half a unit is added to most α, so that it does not change the number of full ones.",
	})
}

// askList fills a list and asks it.
func askList(l listed, r *rand.Rand, questions int) (lab.Figures, error) {
	d, err := dynamic.Build(l.shape)
	if err = lab.AddAll(d, err, lab.RandomKeys(r, int(l.keys))); err != nil {
		return nil, err
	}
	rate := 0.0
	for range questions {
		rate += lab.OneIf(d.MayContain(filter.Key(r.Uint64()))) / float64(questions)
	}
	return lab.Figures{"rate": rate, "units": float64(d.Units())}, nil
}
