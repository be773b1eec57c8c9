package dpbf19

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/internal/theory"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var fig345 = lab.Experiment{
	ID:       "dpbf19/fig3-5",
	Paper:    paper,
	Title:    "Figures 3 to 5: the worked example",
	Question: "Does the filter populate, compress and keep the example's tree as the paper draws it?",
	Says: "Figures 3 to 5: |U| = 32, depth 3, so n_t = 4 and there are 8 uBFs, of 5 bits and 2 hash functions; A = {4, 5, 8, 10, 17, 19, 22, 25, 31}. " +
		"10 goes to N3,2. N1,0 with 4 elements, N2,2 with 3 and N2,3 with 2 become leaves; the last two cannot be merged, since M1,1 has 5 > 4.",
	Quick: lab.Params{lab.Ints("A", exampleIDs...)},
	Full:  lab.Params{lab.Ints("A", exampleIDs...)},
	Run:   runExample,
}

// exampleIDs is the set A of Sec. 2.2.
var exampleIDs = []int{4, 5, 8, 10, 17, 19, 22, 25, 31}

// exampleShape is the tree of Sec. 2.2. Units are full by the number of their ids,
// as in the paper.
var exampleShape = partition.Shape{Universe: 32, IDBits: 5, Depth: 3, UnitBits: 5, Hashes: 2, Full: 5, Count: 4}

func runExample(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f, err := partition.Build(exampleShape)
	if err != nil {
		return nil, err
	}
	for _, id := range e.Ints("A") {
		if _, err := f.Add(filter.Key(id)); err != nil {
			return nil, err
		}
	}
	return &lab.Result{
		Checks: append(mapChecks(f), treeChecks(f)...),
		Tables: []lab.Table{subsets(f)},
		Plots: []lab.Plot{
			{Name: "fig3", Title: "Figure 3: the tree of depth 3 with the elements of A, and the map of its populated units", Drawing: drawFigure3(f)},
			{Name: "fig4", Title: "Figure 4: subtrees with at most 4 elements become leaves", Drawing: drawFigure4(f)},
			{Name: "fig5", Title: "Figure 5: the compressed tree, and the map with the leaves that its units belong to", Drawing: drawFigure5(f)},
		},
		Notes: []string{"Drawn from what a filter of this shape tells: its nodes, its units and its ids."},
	}, nil
}

// within returns the ids that belong to node N_depth,index.
func within(f *partition.Filter, depth int, index uint64) (ids []uint64) {
	for id := range f.IDs() {
		if id>>(f.Shape().IDBits-depth) == index {
			ids = append(ids, id)
		}
	}
	return ids
}

// mapChecks are about Figure 3.
func mapChecks(f *partition.Filter) []lab.Check {
	s := f.Shape()
	var units []string
	for unit := range f.Units() {
		units = append(units, fmt.Sprintf("N3,%d", unit))
	}
	home := uint64(10) >> (s.IDBits - s.Depth)
	return []lab.Check{
		lab.Exact("n_t = |U|/2^d", "4", float64(s.UnitIDs())),
		lab.Exact("uBFs at the leaves", "8", float64(int(1)<<s.Depth)),
		same("Figure 3: leaf of element 10", "N3,2", fmt.Sprintf("N3,%d", home)),
		lab.Holds("Figure 3: element 10 is in its unit", "inserted into N3,2", fmt.Sprint(within(f, s.Depth, home)), slices.Contains(within(f, s.Depth, home), 10), "10 is among them"),
		same("Figure 3: puBFMap of A", "N3,1 N3,2 N3,4 N3,5 N3,6 N3,7", strings.Join(units, " ")),
		lab.Holds("Figure 3: 5 bits and 2 hash functions for 4 elements", "by Eq. (1), for some f < 1",
			fmt.Sprintf("%.0f bits at f = 0.637", theory.PartitionUnitBits(4, 2, 0.637)), theory.PartitionUnitBits(4, 2, 0.637) == 5, "Eq. (1) gives 5 bits: the example is about the tree, not about rates"),
	}
}

// treeChecks are about Figures 4 and 5.
func treeChecks(f *partition.Filter) []lab.Check {
	var leaves []string
	for n := range f.Nodes() {
		if n.Leaf {
			leaves = append(leaves, fmt.Sprintf("N%d,%d: %d", n.Depth, n.Index, n.Keys))
		}
	}
	size := func(depth int, index uint64) float64 { return float64(len(within(f, depth, index))) }
	return []lab.Check{
		lab.Exact("Figure 4: elements of A in M1,0", "4", size(1, 0)),
		lab.Exact("Figure 4: elements of A in M2,2", "3", size(2, 2)),
		lab.Exact("Figure 4: elements of A in M2,3", "2", size(2, 3)),
		lab.Exact("Figure 4: elements of A in M1,1, more than 4", "5", size(1, 1)),
		same("Figures 4 and 5: leaves of the CPBPT and their elements", "N1,0: 4, N2,2: 3, N2,3: 2", strings.Join(leaves, ", ")),
	}
}

// same compares texts.
func same(name, printed, ours string) lab.Check {
	return lab.Holds(name, printed, ours, ours == printed, "the same")
}

// subsets has all nodes of the full tree.
func subsets(f *partition.Filter) lab.Table {
	s := f.Shape()
	table := lab.Table{Name: "nodes", Title: "The nodes of the full tree", Columns: []string{"node", "ids", "elements of A", "in the compressed tree"}}
	kept := map[[2]uint64]string{}
	for n := range f.Nodes() {
		kept[[2]uint64{uint64(n.Depth), n.Index}] = "inner node"
		if n.Leaf {
			kept[[2]uint64{uint64(n.Depth), n.Index}] = fmt.Sprintf("leaf, %d of %d bits set", n.SetBits, s.UnitBits)
		}
	}
	for depth := range s.Depth + 1 {
		wide := s.Universe >> depth
		for index := range uint64(1) << depth {
			table.Add(fmt.Sprintf("N%d,%d", depth, index), fmt.Sprintf("%d to %d", index*wide, (index+1)*wide-1),
				numbers(within(f, depth, index)), kept[[2]uint64{uint64(depth), index}])
		}
	}
	return table
}

// numbers lists ids.
func numbers(ids []uint64) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = fmt.Sprint(id)
	}
	return strings.Join(texts, ", ")
}
