package dpbf19

import (
	"context"
	"fmt"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var fig345 = lab.Experiment{
	ID:       "dpbf19/fig3-5",
	Title:    "Figures 3 to 5: the worked example",
	Question: "Does the filter populate, compress and keep the example's tree as the paper draws it?",
	Says: "Figures 3 to 5: |U| = 32, depth 3, so n_t = 4 and there are 8 uBFs, of 5 bits and 2 hash functions; A = {4, 5, 8, 10, 17, 19, 22, 25, 31}. " +
		"10 goes to N3,2. N1,0 with 4 elements, N2,2 with 3 and N2,3 with 2 become leaves; the last two cannot be merged, since M1,1 has 5 > 4.",
	Params: lab.Params{lab.Ints("A", exampleIDs...)},
	Run:    runExample,
	Claims: []lab.Claim{
		{Name: "n_t = |U|/2^d", Printed: "4", Where: "Fig. 3", Of: lab.Of("n_t"), Is: lab.Rounds()},
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
		lab.Fixed("n_t", lab.Plain, float64(exampleShape.UnitIDs())), lab.Fixed("rate of 4 ids in 5 bits", lab.Plain, theory.BloomFPR(5, 2, 4))),
		lab.Notes{"From what a filter/partition of this shape tells: its nodes, its units and its ids."})
}
