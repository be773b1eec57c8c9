package dpbf19

import (
	"context"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var fig2 = lab.Experiment{
	ID:       "dpbf19/fig2",
	Title:    "Figure 2: query time",
	Question: "How much longer does a query of a list of filters take than one of the partition filter?",
	Says: "Figure 2: DBF takes over 2 orders of magnitude more time than DPBF. Abstract: up to three orders of magnitude lower time. " +
		"Sec. 1: a binary tree has a great query advantage over the linear structure. No sizes and no times are printed.",
	Params: lab.Params{lab.Int("id bits", 20).Full(26), lab.Ints("sizes", 1_000, 10_000, 100_000).Full(1_000, 10_000, 100_000, 1_000_000, 10_000_000), lab.Int("queries", 4_096), lab.Int("rounds", 7).Full(11)},
	Run:    runFig2,
	Plots:  []lab.View{timeView("absent"), timeView("present")},
	Claims: []lab.Claim{
		{Name: "DBF to DPBF", Printed: "a great query advantage of the tree over the linear structure", Where: "Sec. 1", Of: timesAs(dbf, dpbf), Is: lab.In(lab.Span{Dim: "ids", From: 10_000}, lab.Above(lab.Number(1)))},
		{Name: "the list gets slower with the set", Printed: "linear structure", Where: "Sec. 1", Of: hundredfold(dbf), Is: lab.Above(lab.Number(1))},
		{Name: "the list gets slower than the tree does", Printed: "linear structure against binary tree", Where: "Sec. 1", Of: hundredfold(dbf), Is: lab.Above(hundredfold(dpbf))},
		{Name: "DBF to DPBF, 10,000,000 ids", Printed: "over 2 orders of magnitude", Where: "Fig. 2", Of: timesAs(dbf, dpbf, "ids", 10_000_000), Is: lab.Above(lab.Number(100)), FullOnly: true},
		{
			Name: "three orders of magnitude", Printed: "up to three orders of magnitude, taken as nearer to three than to two", Where: "Abstract", Of: timesAs(dbf, dpbf, "ids", 10_000_000), Is: lab.Above(lab.Number(316)), FullOnly: true,
			Why: "a query follows some 14 pointers, most of which miss the caches with as many ids. The sizes and the machine of the figure are not printed",
		},
		{Kind: lab.Question, Name: "DPBF to a plain filter", Printed: "not said", Of: timesAs(dpbf, plain), Is: lab.Shows()},
	},
}

// timesAs picks how many times as long as another a query about an absent id takes.
func timesAs(name, other string, at ...any) lab.Pick {
	return lab.Of("absent", append([]any{lab.Contenders, name}, at...)...).Over(lab.Of("absent", lab.Contenders, other))
}

// hundredfold picks what a hundred times the ids cost.
func hundredfold(name string) lab.Pick {
	return lab.Of("absent", lab.Contenders, name, "ids", 100_000).Over(lab.Of("absent", lab.Contenders, name, "ids", 1_000))
}

func timeView(work string) lab.View {
	return lab.View{
		Name: work, Title: "Time of a query, ids that are " + work, X: "ids", By: lab.Contenders, XAxis: lab.Axis{Label: "ids in the set", Log: true}, Y: lab.Axis{Label: "ns per query", Log: true},
		Curves: []lab.Curve{{Measured: work}},
	}
}

func runFig2(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	width, p := e.Int("id bits"), evenly(e.Int("id bits"), e.Rand(0).Uint32())
	filters, size := map[string]filter.Filter{}, uint64(0) // of one size, kept for all rounds
	return lab.Find(ctx, e, lab.Race{
		Name: "times", Title: "Time of a query", Dims: []lab.Dim{lab.Along("ids", e.Ints("sizes")...)}, Contenders: []string{dpbf, dbf, plain}, Rounds: e.Int("rounds"),
		Start: func(at lab.At, name string, r *rand.Rand) ([]lab.Lap, error) {
			n := uint64(at.Int("ids"))
			if size != n {
				filters, size = map[string]filter.Filter{}, n
			}
			if filters[name] == nil {
				f, err := build(name, width, n)
				if err == nil {
					err = p.fill(f, 0, n)
				}
				if err != nil {
					return nil, err
				}
				filters[name] = f
			}
			ask := func(work string, number func() uint64) lab.Lap {
				keys := make([]filter.Key, e.Int("queries"))
				for i := range keys {
					keys[i] = p(number())
				}
				return lab.Lap{Name: work, Ops: len(keys), Run: func() error { lab.CountYes(filters[name], keys); return nil }}
			}
			return []lab.Lap{ask("absent", func() uint64 { return n + r.Uint64N(1<<19) }), ask("present", func() uint64 { return r.Uint64N(n) })}, nil
		},
	}, lab.Notes{"Ids of 26 bits, of 20 in quick runs, spread evenly, units for 1,024. All filters hash the id, once."})
}
