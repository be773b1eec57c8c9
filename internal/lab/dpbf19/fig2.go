package dpbf19

import (
	"context"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var fig2 = lab.Experiment{
	ID:       "dpbf19/fig2",
	Paper:    paper,
	Title:    "Figure 2: query time",
	Question: "How much longer does a query of a list of filters take than one of the partition filter?",
	Says: "Figure 2: DBF takes over 2 orders of magnitude more time than DPBF. Abstract: up to three orders of magnitude lower time. " +
		"Sec. 1: a binary tree has a great query advantage over the linear structure. No sizes and no times are printed.",
	Quick: lab.Params{lab.Int("id bits", 20), lab.Ints("sizes", 1_000, 10_000, 100_000), lab.Int("queries", 4_096), lab.Int("rounds", 7)},
	Full:  lab.Params{lab.Int("id bits", 26), lab.Ints("sizes", 1_000, 10_000, 100_000, 1_000_000, 10_000_000), lab.Int("queries", 4_096), lab.Int("rounds", 11)},
	Run:   runFig2,
	Plots: []lab.View{timeView("absent"), timeView("present")},
	Claims: []lab.Claim{
		{Name: "DBF to the paper's layout", Printed: "a great query advantage of the tree over the linear structure", Where: "Sec. 1", Of: timesAs(dbf, papers), Is: lab.In(lab.Span{Dim: "ids", From: 10_000}, lab.Above(lab.Number(1)))},
		{Name: "the list gets slower with the set", Printed: "linear structure", Where: "Sec. 1", Of: hundredfold(dbf), Is: lab.Above(lab.Number(1))},
		{Name: "the list gets slower than the tree does", Printed: "linear structure against binary tree", Where: "Sec. 1", Of: hundredfold(dbf), Is: lab.Above(hundredfold(papers))},
		{Name: "DBF to the paper's layout, 10,000,000 ids", Printed: "over 2 orders of magnitude", Where: "Fig. 2", Of: lab.Of("absent", lab.Contenders, dbf, "ids", 10_000_000).Over(lab.Of("absent", lab.Contenders, papers)), Is: lab.Above(lab.Number(100)), FullOnly: true},
		{Name: "three orders of magnitude", Printed: "up to three orders of magnitude, taken as nearer to three than to two", Where: "Abstract", Of: lab.Of("absent", lab.Contenders, dbf, "ids", 10_000_000).Over(lab.Of("absent", lab.Contenders, papers)), Is: lab.Above(lab.Number(316)), FullOnly: true, Why: slowPointers, Show: []lab.Pick{lab.Of("absent", lab.Contenders, dbf, "ids", 10_000_000).Over(lab.Of("absent", lab.Contenders, ours))}},
		{Kind: lab.Own, Name: "ids in the map to the paper's layout", Printed: "a table for the first bits in place of pointers is not slower: at most 1.25 times", Of: timesAs(ours, papers), Is: lab.In(lab.Span{Dim: "ids", From: 10_000}, lab.AtMost(lab.Number(1.25)))},
		{Kind: lab.Question, Name: "paper's layout to a plain filter", Printed: "not said", Of: timesAs(papers, plain), Is: lab.Shows(), Show: []lab.Pick{timesAs(ours, plain)}},
	},
}

const slowPointers = "a query of the paper's layout follows some 14 pointers, most of which miss the caches with as many ids. The sizes and the machine of the figure are not printed. With a table for the first bits in place of pointers, as filter/partition has, the ratio is larger"

// timesAs picks how many times as long as another a query about an absent id takes.
func timesAs(name, other string) lab.Pick {
	return lab.Of("absent", lab.Contenders, name).Over(lab.Of("absent", lab.Contenders, other))
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
	width, queries, seed := e.Int("id bits"), uint64(e.Int("queries")), e.Rand(0).Uint32()
	filters, size := map[string]filter.Filter{}, uint64(0) // of one size, kept for all rounds
	g, err := lab.Race{
		Name: "times", Title: "Time of a query", Dims: []lab.Dim{lab.Along("ids", e.Ints("sizes")...)}, Contenders: []string{ours, papers, dbf, plain}, Rounds: e.Int("rounds"),
		Start: func(at lab.At, name string, r *rand.Rand) ([]lab.Lap, error) {
			n, p := uint64(at.Int("ids")), evenly(width, seed)
			if size != n {
				filters, size = map[string]filter.Filter{}, n
			}
			if filters[name] == nil {
				f, err := build(name, width, n)
				if err == nil {
					err = p.fill(name, f, 0, n)
				}
				if err != nil {
					return nil, err
				}
				filters[name] = f
			}
			ask := func(work string, id func() uint64) lab.Lap {
				keys := make([]filter.Key, queries)
				for i := range keys {
					keys[i] = keyFor(name, id())
				}
				return lab.Lap{Name: work, Ops: len(keys), Run: func() error { lab.CountYes(filters[name], keys); return nil }}
			}
			return []lab.Lap{
				ask("absent", func() uint64 { return p.absent(n, r.Uint64N(1<<19)) }), ask("present", func() uint64 { return p.present(n, r.Uint64N(n)) }),
			}, nil
		},
	}.Run(ctx, e)
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{"Ids of 26 bits, of 20 in quick runs, spread evenly, units for 1,024. Keys of the list and of the plain filter are hashed before."}}, err
}
