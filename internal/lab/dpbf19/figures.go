package dpbf19

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
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
	return lab.Find(ctx, e, lab.Sweep{
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
		Metrics: []lab.Metric{{Name: "rate", Asked: func(at lab.At) int { return asked(at, at.Float("ids")) }}, {Name: "told"}},
	}, lab.Notes{
		"The paper gives neither its universe nor its data. Here: ids of 26 bits, of 20 in quick runs, spread evenly, units for 1,024 of them in all filters.",
	})
}

var fig2 = lab.Experiment{
	ID:       "dpbf19/fig2",
	Title:    "Figure 2: query time",
	Question: "How much longer does a query of a list of filters take than one of the partition filter?",
	Says: "Figure 2: DBF takes over 2 orders of magnitude more time than DPBF. Abstract: up to three orders of magnitude lower time. " +
		"Sec. 1: a binary tree has a great query advantage over the linear structure. No sizes and no times are printed.",
	Params: lab.Params{lab.Int("id bits", 20).Full(26), lab.Ints("sizes", 1_000, 10_000, 100_000).Full(1_000, 10_000, 100_000, 1_000_000, 10_000_000), lab.Int("queries", 4_096), lab.Int("rounds", 7).Full(31)},
	Run:    runFig2,
	Plots:  []lab.View{timeView("absent"), timeView("present")},
	Claims: []lab.Claim{
		{Name: "DBF to DPBF", Printed: "a great query advantage of the tree over the linear structure, taken as twice or more", Where: "Sec. 1", Of: timesAs(dbf, dpbf), Is: lab.In(lab.Span{Dim: "ids", From: 10_000}, lab.Above(lab.Number(lab.Much)))},
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

var fig345 = lab.Experiment{
	ID:       "dpbf19/fig3-5",
	Title:    "Figures 3 to 5: the worked example",
	Question: "Does the filter populate, compress and keep the example's tree as the paper draws it?",
	Says: "Figures 3 to 5: |U| = 32, depth 3, so n_t = 4 and there are 8 uBFs, of 5 bits and 2 hash functions; A = {4, 5, 8, 10, 17, 19, 22, 25, 31}. " +
		"10 goes to N3,2. N1,0 with 4 elements, N2,2 with 3 and N2,3 with 2 become leaves; the last two cannot be merged, since M1,1 has 5 > 4.",
	Params: lab.Params{lab.Ints("A", exampleIDs...)},
	Run:    runExample,
	Claims: []lab.Claim{
		{Name: "units of the map", Printed: "N3,1 N3,2 N3,4 N3,5 N3,6 N3,7", Where: "Fig. 3", Of: lab.Of("in the map"), Is: lab.Matches(lab.Of("in the map of Fig. 3"))},
		{Name: "elements in M1,0", Printed: "4", Where: "Fig. 4", Of: lab.Of("elements", "node", "N1,0"), Is: lab.Rounds()},
		{Name: "elements in M2,2", Printed: "3", Where: "Fig. 4", Of: lab.Of("elements", "node", "N2,2"), Is: lab.Rounds()},
		{Name: "elements in M2,3", Printed: "2", Where: "Fig. 4", Of: lab.Of("elements", "node", "N2,3"), Is: lab.Rounds()},
		{Name: "elements in M1,1, more than n_t", Printed: "5", Where: "Fig. 4", Of: lab.Of("elements", "node", "N1,1"), Is: lab.Rounds()},
		{Name: "leaves of the CPBPT", Printed: "N1,0 N2,2 N2,3", Where: "Figs. 4 and 5", Of: lab.Of("leaf"), Is: lab.Matches(lab.Of("leaf of Fig. 5"))},
		{Kind: lab.Question, Name: "rate for which a unit has 5 bits", Printed: "5 bits and 2 hash functions for 4 elements", Where: "Fig. 3", Of: lab.Of("rate of 4 ids in 5 bits"), Is: lab.Shows()},
	},
}

// exampleIDs is the set A of Sec. 2.2.
var exampleIDs = []int{4, 5, 8, 10, 17, 19, 22, 25, 31}

// exampleShape is the tree of Sec. 2.2. Units are full by the number of their ids,
// as in the paper.
var exampleShape = partition.Shape{Universe: 32, IDBits: 5, Depth: 3, UnitBits: 5, Hashes: 2, Full: 5, Count: 4}

func nodeName(depth int, index uint64) string { return fmt.Sprintf("N%d,%d", depth, index) }

func runExample(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	f, err := partition.Build(exampleShape)
	if err != nil {
		return nil, err
	}
	for _, id := range e.Ints("A") {
		if _, err := f.Add(filter.Key(id)); err != nil {
			return nil, err
		}
	}
	var all, leaves, units []string // names of nodes
	elements := map[string]float64{}
	for depth := range exampleShape.Depth + 1 {
		for index := range uint64(1) << depth {
			all = append(all, nodeName(depth, index))
		}
		for id := range f.IDs() {
			elements[nodeName(depth, id>>(exampleShape.IDBits-depth))]++
		}
	}
	for unit := range f.Units() {
		units = append(units, nodeName(exampleShape.Depth, unit))
	}
	for n := range f.Nodes() {
		if n.Leaf {
			leaves = append(leaves, nodeName(n.Depth, n.Index))
		}
	}
	set := func(name string, list ...string) lab.Formula {
		return lab.Formula{Name: name, Of: func(at lab.At) float64 { return lab.OneIf(slices.Contains(list, at.Name("node"))) }}
	}
	return lab.Find(ctx, e, lab.Computed("nodes", "The nodes of the full tree", []lab.Dim{lab.Among("node", all...)},
		lab.Formula{Name: "elements", Of: func(at lab.At) float64 { return elements[at.Name("node")] }},
		set("leaf", leaves...), set("leaf of Fig. 5", "N1,0", "N2,2", "N2,3"), set("in the map", units...), set("in the map of Fig. 3", "N3,1", "N3,2", "N3,4", "N3,5", "N3,6", "N3,7")), lab.Computed("numbers", "Numbers of the example", nil,
		lab.Fixed("rate of 4 ids in 5 bits", lab.Plain, theory.BloomFPR(5, 2, 4))),
		lab.Notes{"From what a filter/partition of this shape tells: its nodes, its units and its ids."})
}
