package field

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

var growing = lab.Experiment{
	ID:       "all/growing",
	Title:    "The kinds that grow",
	Question: "What becomes of the rate and of the memory when a set grows to many times the size that it began with?",
	Says: "docs/choosing.md: evergreen, perennial, scalable and partition keep the rate; scalable takes 12.6 bits per key for 1 % if its first size was right, 14 to 48 after it has grown; " +
		"dynamic and parallel have a rate that rises; elastic takes thousands of bits per key.",
	Quick: growingParams(1_000, 64_000, 121, 4_000), Full: growingParams(10_000, 1_280_000, 141, 100_000),
	Run: runGrowing,
	Plots: []lab.View{
		{
			Name: "rate", Title: "The rate while the set grows, asked for 1 %", X: "n", By: "kind", Only: []any{"scalable", "partition", "dynamic", "perennial", "evergreen"}, XAxis: lab.Axis{Label: "keys", Log: true},
			Y: lab.Axis{Label: "false positives", Log: true, Percent: true}, Curves: []lab.Curve{{Measured: "rate", Style: lab.Dots}},
			Notes: []string{"Sizes at which no query was answered wrongly have no point, since the axis has no 0: a small evergreen filter has room to spare."},
		},
		{
			Name: "bits", Title: "All memory while the set grows", X: "n", By: "kind", Only: []any{"scalable", "partition", "dynamic", "perennial", "evergreen"}, XAxis: lab.Axis{Label: "keys", Log: true},
			Y: lab.Axis{Label: "bits per key", Log: true}, Curves: []lab.Curve{{Measured: "bits per key", Style: lab.Line}},
		},
	},
	Claims: growingClaims(),
}

func growingParams(first, keys, sizes, queries int) lab.Params {
	return lab.Params{lab.Int("first size", first), lab.Int("keys", keys), lab.Int("sizes", sizes), lab.Float("rate", 0.01), lab.Int("queries", queries)}
}

// growers are the kinds that grow by themselves.
func growers() []kinds.Kind {
	return slices.DeleteFunc(slices.Clone(kinds.All()), func(k kinds.Kind) bool { return !k.Grows })
}

// growingClaims tells those that keep the rate from those whose rate rises.
func growingClaims() []lab.Claim {
	claims := []lab.Claim{
		{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
		{Name: "scalable: bits per key after it has grown", Printed: "14 to 48", Where: page, Of: lab.Of("bits from twice the first size", "kind", "scalable"), Is: lab.Inside("14", "48")},
	}
	for _, k := range growers() {
		c := lab.Claim{Name: k.Name + ": rate", Printed: "it is kept", Where: page, Of: lab.Of("rate", "kind", k.Name), Is: lab.AtMost(lab.Of("asked"))}
		if k.Drifts {
			c.Printed, c.Of, c.Is = "it rises", lab.Of("rate in the end", "kind", k.Name), lab.Above(lab.Of("asked"))
		}
		claims = append(claims, c)
	}
	return claims
}

// A moment is a look at a filter on its way.
type moment struct {
	walk.Look
	end, grown float64 // the rate in the end; bits per key from twice the first size on
}

func runGrowing(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list, first, queries := growers(), e.Int("first size"), e.Int("queries")
	sizes := walk.Sizes(first, e.Int("keys"), e.Int("sizes"))
	g, err := lab.Sweep(ctx, e, lab.Spec[moment]{
		Name: "sizes", Title: "Rate and memory on the way", Dims: []lab.Dim{kindDim(list)}, Trace: lab.Along("n", sizes...), Trials: 1,
		Follow: func(at lab.At, r *rand.Rand) ([]moment, error) {
			f, err := build(list[at.Int("kind")], first, e.Float("rate"))
			if err != nil {
				return nil, err
			}
			looks, err := (&walk.Walker{F: f, Keys: walk.NewKeys(r)}).Through(ctx, sizes, queries)
			moments := make([]moment, len(looks))
			for i, l := range looks {
				moments[i] = moment{l, math.NaN(), math.NaN()}
				if l.Keys >= 2*first {
					moments[i].grown = l.All()
				}
				if i == len(looks)-1 {
					moments[i].end = l.Yes
				}
			}
			return moments, err
		},
		Metrics: append(walk.MetricsOf(queries, func(t moment) walk.Look { return t.Look }),
			lab.Metric[moment]{Name: "rate in the end", Unit: lab.InPercent, Of: func(t moment) float64 { return t.end }, Asked: lab.Each(queries)},
			lab.Metric[moment]{Name: "bits from twice the first size", Of: func(t moment) float64 { return t.grown }}),
		Formulas: []lab.Formula{lab.Fixed("asked", lab.InPercent, e.Float("rate"))},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
		fmt.Sprintf("All are made for %d keys. Bits per key are those of the whole filter, fast and slow, by its own account.", first),
	}}, err
}
