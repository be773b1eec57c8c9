package dpbf19

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/internal/lab"
)

var fig1 = lab.Experiment{
	ID:       "dpbf19/fig1",
	Title:    "Figure 1: the rate over six orders of magnitude",
	Question: "Does the partition filter keep 1e-4 for sets of every size, and how does the rate of a list of filters grow?",
	Says: "Figure 1: a threshold of 1e-4, set sizes over six orders of magnitude. \"DPBF holds its line while DBF shows a linear increase, dominating DPBF even for small sizes\"; " +
		"DBF exceeds the threshold even for smaller sets.",
	Params: lab.Params{
		lab.Int("id bits", 20).Full(26), lab.Int("doublings from 10 ids", 13).Full(20), lab.Int("points per doubling", 4).Full(8),
		lab.Int("sets", 8).Full(6), lab.Int("queries", 2_000).Full(1_500_000), lab.Int("units of a list to ask", 600_000).Full(40_000_000),
	},
	Run: runFig1,
	Plots: []lab.View{{
		Name: "rate", Title: "Rate of false positives, from the set bits", X: "ids", By: "filter", XAxis: lab.Axis{Label: "ids in the set", Log: true}, Y: lab.Axis{Label: "false positives", Log: true},
		Curves: []lab.Curve{{Measured: "told", Style: lab.Dots}}, Marks: []lab.Mark{{X: 10, Y: target, Text: "threshold, 1e-4"}},
		Notes: []string{"What filters tell of themselves; the table has what was measured at every doubling. Rates below 1e-8 are left out."},
	}},
	Claims: []lab.Claim{
		{Name: "DPBF, measured", Printed: "DPBF holds its line: at most 1e-4", Where: "Fig. 1", Of: lab.Of("rate", "filter", dpbf), Is: lab.AtMost(lab.Number(target))},
		{Name: "DPBF, by its set bits", Printed: "DPBF holds its line: at most 1e-4", Where: "Fig. 1", Of: lab.Of("told", "filter", dpbf), Is: lab.AtMost(lab.Number(target))},
		{Name: "DBF increases", Printed: "DBF shows a linear increase", Where: "Fig. 1", Of: lab.Of("told", "filter", dbf), Is: lab.Rises("ids")},
		{Name: "α < 1: rates", Printed: "both are one unit with equal FPR", Where: "App. A, proof", Of: lab.Of("told", "filter", dpbf), Is: lab.In(lab.Span{Dim: "ids", To: 700}, lab.Matches(lab.Of("told", "filter", dbf)))},
		{Name: "DBF from 3,000 ids on", Printed: "DBF exceeds the threshold even for smaller sets", Where: "Fig. 1", Of: lab.Of("told", "filter", dbf), Is: lab.In(lab.Span{Dim: "ids", From: 3_000}, lab.Above(lab.Number(target)))},
	},
}

func runFig1(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	width := e.Int("id bits") // with 26 the paper's map has up to 65,536 units of 2.5 KB
	sizes, per := lab.Dim{Name: "ids"}, e.Int("points per doubling")
	for i := range e.Int("doublings from 10 ids")*per + 1 {
		if n := math.Round(10 * math.Exp2(float64(i)/float64(per))); i == 0 || n > sizes.Values[len(sizes.Values)-1] {
			sizes.Values = append(sizes.Values, n)
		}
	}
	// Lists have more to tell if they are short, and take long if they are not.
	asked := func(at lab.At, n float64) int {
		if at.Name("filter") == dbf {
			return min(10*e.Int("queries"), e.Int("units of a list to ask")/(int(n)/1000+1))
		}
		return e.Int("queries")
	}
	return lab.Find(ctx, e, lab.Sweep[lab.Figures]{
		Name: "sizes", Title: "False positives, units for 1,024 ids", Dims: []lab.Dim{lab.Among("filter", dpbf, dbf)}, Trace: sizes, Trials: e.Int("sets"),
		Follow: func(at lab.At, r *rand.Rand) (out []lab.Figures, err error) {
			f, err := build(at.Name("filter"), width, 0)
			p, added := evenly(width, r.Uint32()), uint64(0)
			for i, size := range sizes.Values {
				if err != nil {
					return nil, err
				}
				n := uint64(size)
				err = errors.Join(p.fill(f, added, n), ctx.Err())
				added = n
				found := lab.Figures{}
				if told := f.Info().FPR; told >= 1e-8 { // or it is nearly empty
					found["told"] = told
				}
				if (len(sizes.Values)-1-i)%per == 0 {
					found["rate"] = p.yes(f, n, asked(at, size))
				}
				out = append(out, found)
			}
			return out, err
		},
		Metrics: []lab.Metric[lab.Figures]{{Name: "rate", Asked: func(at lab.At) int { return asked(at, at.Float("ids")) }}, {Name: "told"}},
	}, lab.Notes{
		"The paper gives neither its universe nor its data. Here: ids of 26 bits, of 20 in quick runs, spread evenly, units for 1,024 of them in all filters.",
	})
}
