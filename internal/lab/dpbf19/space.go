package dpbf19

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var space = lab.Experiment{
	ID:       "dpbf19/space",
	Title:    "Space: units of the map and of the tree",
	Question: "How many units do the map and the tree have, do the paper's bounds hold, and how much more space than a list of filters does that take?",
	Says: "Sec. 2.2: s ≥ ⌈|S| 2^d / |U|⌉, where equality means as many Bloom filters as DBF has; s can be 2^d in the worst case, for elements distributed uniformly; " +
		"s is a natural upper bound on the number of uBFs in the CPBPT, so that there are at most 2s. The extra space is not significant (Sec. 1), on real data (Sec. 2.2).",
	Params: lab.Params{lab.Ints("sizes", 1_024, 10_240, 102_400).Full(1_024, 10_240, 102_400, 1_024_000, 10_240_000)},
	Data:   []string{listFile},
	Run:    runSpace,
	Plots: []lab.View{
		{Name: "bits", Title: "Bits per id in the paper's layout", X: "n", By: "ids", XAxis: lab.Axis{Label: "ids in the set", Log: true}, Y: lab.Axis{Label: "bits per id", Log: true}, Curves: []lab.Curve{{Measured: "paper's layout"}}},
	},
	Claims: []lab.Claim{
		{Name: "s of ids that fill their units", Printed: "exactly the same number of Bloom filters as DBF", Where: "Sec. 2.2", Of: lab.Of("s", "ids", whole), Is: lab.Matches(lab.Of("least s"))},
		{Name: "s of ids spread evenly, as a share of 2^d", Printed: "2^d in the worst case; expected 1 - (1 - 2^-d)^n of it", Where: "Sec. 2.2", Of: lab.Of("s of 2^d", "ids", spread), Is: lab.Matches(lab.Of("evenly"))},
		{Name: "uBFs of the CPBPT, if empty leaves have none", Printed: "s is a natural upper bound", Where: "Sec. 2.2", Of: lab.Of("units of the tree"), Is: lab.AtMost(lab.Of("s"))},
		{
			Kind: lab.Erratum, Name: "uBFs of the CPBPT, one for each leaf as in Def. 2.4", Printed: "s is a natural upper bound", Where: "Sec. 2.2", Of: lab.Of("leaves"), Is: lab.AtMost(lab.Of("s")),
			Why: "a set in a corner of the universe leaves empty leaves along the way to it, which have uBFs by the definition. Without these the bound holds",
		},
		{Name: "uBFs of the CPBPT over s, ids spread evenly", Printed: "could be far fewer than s, taken as a tenth", Where: "Sec. 2.2", Of: lab.Of("units of the tree", "ids", spread).Over(lab.Of("s")), Is: lab.Below(lab.Number(0.1))},
		{Name: "uBFs of the CPBPT, ids that fill their units", Printed: "exactly s if the uBFs of the puBFMap are highly populated", Where: "Sec. 2.2", Of: lab.Of("units of the tree", "ids", whole), Is: lab.Matches(lab.Of("s"))},
		{
			Name: "paper's layout to the list, ids that fill their units", Printed: "extra space not significant, taken as less than twice", Where: "Sec. 1", Of: lab.Of("paper's layout", "ids", whole).Over(lab.Of("list")), Is: lab.Below(lab.Number(lab.Comparable)),
			Why: "map and tree have a unit each for the same ids, 2s in all, so that twice is the least there is",
		},
		{Kind: lab.Question, Name: "paper's layout to the list, ids spread evenly", Printed: "the worst case, which is conceded", Where: "Sec. 2.2", Of: lab.Of("paper's layout", "ids", spread).Over(lab.Of("list")), Is: lab.Shows()},
		{
			Name: "paper's layout to the list, addresses", Printed: "extra space not significant on real data, taken as less than twice", Where: "Sec. 1 and 2.2", Of: lab.Of("addresses: paper's layout").Over(lab.Of("addresses: list")), Is: lab.Below(lab.Number(lab.Comparable)),
			Why: "addresses are scattered: most populated units of the map have one or a few ids. The paper's data are unknown", DataOnly: true,
		},
	},
}

// addressWidth is the width of ids here, that of addresses.
const addressWidth = 32

func runSpace(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	ways := []func(int, uint32) ids{evenly, aligned}
	parts := []lab.Part{lab.Sweep{
		Name: "space", Title: "Units for 1,024 ids, and bits per id", Dims: []lab.Dim{lab.Among("ids", spread, whole), lab.Along("n", e.Ints("sizes")...)}, Trials: 1,
		Trial: func(at lab.At, r *rand.Rand) (lab.Figures, error) {
			return countUnits(uint64(at.Int("n")), ways[at.Int("ids")](addressWidth, r.Uint32()))
		},
		Metrics: []lab.Metric{
			{Name: "s"},
			{Name: "least s"},
			{Name: "s of 2^d", Unit: lab.InPercent, Asked: lab.Each(1 << (addressWidth - unitWidth))},
			{Name: "units of the tree"},
			{Name: "leaves"},
			{Name: "list", Unit: "bits"},
			{Name: "paper's layout", Unit: "bits"},
		},
		Formulas: []lab.Formula{{Name: "evenly", Unit: lab.InPercent, Of: func(at lab.At) float64 {
			return math.Ldexp(theory.PartitionUniformUnits(at.Float("n"), addressWidth-unitWidth), unitWidth-addressWidth)
		}}},
	}, lab.Notes{
		"Ids of 32 bits. The paper's layout has a unit for every populated leaf of the map and one for each leaf of the tree that has ids: counted, since a million units of 2.5 KB do not fit into memory here.",
	}}
	if e.Data != "" {
		addresses, err := lab.IPv4(e.Data, listFile)
		if err != nil {
			return nil, err
		}
		c, err := countUnits(uint64(len(addresses)), func(i uint64) filter.Key { return filter.Key(addresses[i]) })
		if err != nil {
			return nil, err
		}
		parts = append(parts, lab.Notes{fmt.Sprintf("Addresses are the %v of the blocklist %s.", c["ids"], listFile)}, lab.Computed("addresses", "Bits per id", nil,
			lab.Fixed("addresses: ids", lab.Plain, c["ids"]), lab.Fixed("addresses: s", lab.Plain, c["s"]), lab.Fixed("addresses: list", "bits", c["list"]),
			lab.Fixed("addresses: paper's layout", "bits", c["paper's layout"])))
	}
	return lab.Find(ctx, e, parts...)
}

// countUnits makes a filter of n ids and takes it apart: s populated units of the map, and
// units and leaves of the tree. A list has all units full but the last.
func countUnits(n uint64, p ids) (lab.Figures, error) {
	f, err := partition.New(configFor(addressWidth))
	if err == nil {
		err = p.fill(f, 0, n)
	}
	if err != nil {
		return nil, err
	}
	s, tree, empty := 0.0, 0.0, 0.0
	for range f.Units() {
		s++
	}
	for n := range f.Nodes() {
		switch {
		case n.Leaf && n.Keys == 0:
			empty++
		case n.Leaf:
			tree++
		}
	}
	all, unitBits := float64(f.Len()), float64(f.Shape().UnitBits)
	least := theory.PartitionMinUnits(all, 1<<addressWidth, addressWidth-unitWidth)
	return lab.Figures{
		"ids": all, "s": s, "least s": least, "s of 2^d": math.Ldexp(s, unitWidth-addressWidth), "units of the tree": tree, "leaves": tree + empty,
		"list": least * unitBits / all, "paper's layout": theory.PartitionPaperBits(s, tree, unitBits) / all, // without pointers
	}, nil
}

// listFile is where addresses are in a folder with data.
const listFile = "ip/ipsum.txt.gz"
