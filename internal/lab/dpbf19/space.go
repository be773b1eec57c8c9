package dpbf19

import (
	"context"
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var space = lab.Experiment{
	ID:       "dpbf19/space",
	Paper:    paper,
	Title:    "Space: units of the map and of the tree",
	Question: "How many units do the map and the tree have, do the paper's bounds hold, and how much more space than a list of filters does that take?",
	Says: "Sec. 2.2: s ≥ ⌈|S| 2^d / |U|⌉, where equality means as many Bloom filters as DBF has; s can be 2^d in the worst case, for elements distributed uniformly; " +
		"s is a natural upper bound on the number of uBFs in the CPBPT, so that there are at most 2s; internal nodes are at most the leaves. " +
		"The extra space is not significant (Sec. 1), on real data (Sec. 2.2).",
	Quick: lab.Params{lab.Ints("sizes", 1_000, 10_000, 100_000)},
	Full:  lab.Params{lab.Ints("sizes", 1_000, 10_000, 100_000, 1_000_000, 10_000_000)},
	Data:  []string{listFile},
	Run:   runSpace,
}

// counted is what a filter of some ids is made of.
type counted struct {
	name     string
	n        uint64
	s        uint64 // populated units of the map
	tree     uint64 // units of the tree
	empty    uint64 // leaves without ids
	internal uint64
	paper    uint64 // bits of the paper's layout
	ours     uint64
}

func runSpace(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	shape, err := wish.Shape()
	if err != nil {
		return nil, err
	}
	sizes := e.Ints("sizes")
	var all []counted
	seed := e.Rand(0).Uint32()
	for i, n := range sizes {
		for j, p := range populations(seed) {
			e.Progress(4*i+j, 4*len(sizes))
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			f, err := partition.New(wish)
			if err != nil {
				return nil, err
			}
			if err := p.fill(f, uint64(n)); err != nil {
				return nil, err
			}
			all = append(all, countUnits(p.name, f))
		}
	}
	result := &lab.Result{Checks: spaceChecks(all, shape)}
	listed, note, err := blocklist(e.Data)
	if err != nil {
		return nil, err
	}
	if listed != nil {
		all = append(all, countUnits("addresses of a blocklist", listed))
		result.Checks = append(result.Checks, onRealData(all[len(all)-1], shape))
	}
	result.Notes = append(result.Notes, note)
	result.Tables = []lab.Table{spaceTable(all, shape)}
	result.Plots = []lab.Plot{spacePlot(all, shape)}
	return result, nil
}

// countUnits takes a filter apart.
func countUnits(name string, f *partition.Filter) counted {
	info := f.Info()
	c := counted{name: name, n: f.Len(), ours: info.FastBits + info.SlowBits}
	for range f.Units() {
		c.s++
	}
	for n := range f.Nodes() {
		switch {
		case !n.Leaf:
			c.internal++
		case n.Keys == 0:
			c.empty++
		default:
			c.tree++
		}
	}
	c.paper = uint64(theory.PartitionPaperBits(float64(c.s), float64(c.tree), float64(f.Shape().UnitBits)))
	return c
}

// listBits is the size of a list of units for the same ids, all full but the last.
func (c counted) listBits(s partition.Shape) float64 {
	return theory.PartitionMinUnits(float64(c.n), universe, s.Depth) * float64(s.UnitBits)
}

// spaceChecks are the bounds of Sec. 2.2, over all sets.
func spaceChecks(all []counted, s partition.Shape) []lab.Check {
	lower, twice, treeBound, strict, inner := true, true, true, true, true
	sets := fmt.Sprintf("all of %d sets", len(all))
	worst := sets
	for _, c := range all {
		lower = lower && float64(c.s) >= theory.PartitionMinUnits(float64(c.n), universe, s.Depth) && c.s <= 1<<s.Depth
		treeBound = treeBound && c.tree <= c.s
		twice = twice && float64(c.paper) <= 2*float64(c.s)*float64(s.UnitBits)
		inner = inner && c.internal <= c.tree+c.empty
		if c.tree+c.empty > c.s && strict {
			strict, worst = false, fmt.Sprintf("%s, %d ids: s = %d, the tree has %d leaves, %d of them empty", c.name, c.n, c.s, c.tree+c.empty, c.empty)
		}
	}
	checks := []lab.Check{
		lab.Holds("Eq. (2): s ≥ ⌈|S| 2^d / |U|⌉, and s ≤ 2^d", "for every set", sets, lower, "holds for every set"),
		lab.Holds("uBFs of the CPBPT: at most s, if empty leaves have none", "for every set", sets, treeBound, "holds for every set"),
		lab.Holds("uBFs in all: at most 2s, if empty leaves have none", "for every set", sets, twice, "holds for every set"),
		lab.Holds("uBFs of the CPBPT: at most s, one for each leaf as in Def. 2.4", "s is a natural upper bound", worst, strict, "holds for every set").
			Because("a set in a corner of the universe leaves empty leaves along the way to it, which have uBFs by the definition. Without these the bound holds"),
		lab.Holds("internal nodes of the CPBPT: at most the leaves", "for every set", sets, inner, "holds for every set"),
	}
	checks = append(checks, fewerUnits(all)...)
	return append(append(checks, bestAndWorst(all, s)...), extraSpace(all, s)...)
}

// bestAndWorst are sets that fill their units, and evenly spread ones.
func bestAndWorst(all []counted, s partition.Shape) (checks []lab.Check) {
	for _, c := range all {
		switch c.name {
		case "whole units of 1,024":
			least := theory.PartitionMinUnits(float64(c.n), universe, s.Depth)
			checks = append(checks, lab.Holds(fmt.Sprintf("%d ids that fill their units", c.n), "exactly the same number of Bloom filters as DBF",
				fmt.Sprintf("s = %d, DBF %.0f", c.s, least), float64(c.s) == least, "equal"))
		case "spread evenly":
			want := theory.PartitionUniformUnits(float64(c.n), s.Depth)
			reach := lab.Sigmas * unitsDeviation(float64(c.n), float64(uint64(1)<<s.Depth))
			lo, hi := math.Floor(want-reach), math.Ceil(want+reach)
			checks = append(checks, lab.Holds(fmt.Sprintf("%d ids spread evenly: s", c.n), fmt.Sprintf("2^d in the worst case; expected 2^d (1 - (1 - 2^-d)^n) = %.0f", want), fmt.Sprint(c.s),
				lo <= float64(c.s) && float64(c.s) <= hi, fmt.Sprintf("%.0f to %.0f: %d standard deviations of the units that n ids hit", lo, hi, lab.Sigmas)))
		}
	}
	return checks
}

// unitsDeviation is the standard deviation of the number of units that are hit if n
// ids fall into m independently:
//
//	Var = m(m-1)(1-2/m)^n + m(1-1/m)^n - m²(1-1/m)^(2n)
//
// written so that the large terms do not cancel. Different ids spread no wider.
func unitsDeviation(n, m float64) float64 {
	zero := math.Exp(n * math.Log1p(-1/m))
	both := math.Exp(n * math.Log1p(-2/m))
	// (1-2/m) / (1-1/m)² is 1 - 1/(m-1)².
	apart := zero * zero * math.Expm1(n*math.Log1p(-1/((m-1)*(m-1))))
	return math.Sqrt(max(0, m*m*apart+m*(zero-both)))
}

// fewerUnits is about the tree of evenly spread ids and of ids that fill their units.
func fewerUnits(all []counted) (checks []lab.Check) {
	for _, c := range all {
		name := fmt.Sprintf("uBFs of the CPBPT, %d ids, %s", c.n, c.name)
		ours := fmt.Sprintf("%d, s = %d", c.tree, c.s)
		switch c.name {
		case "spread evenly":
			checks = append(checks, lab.Holds(name, "could be far fewer than s", ours, 10*c.tree <= c.s, "a tenth at most"))
		case "whole units of 1,024":
			checks = append(checks, lab.Holds(name, "exactly s if the uBFs of the puBFMap are highly populated", ours, c.tree == c.s, "equal"))
		}
	}
	return checks
}

// onRealData is the claim about space; the paper's data are unknown.
func onRealData(c counted, s partition.Shape) lab.Check {
	ratio := float64(c.paper) / c.listBits(s)
	return lab.Holds("paper's layout on real data, times the list", "not significantly larger", lab.Digits(ratio, 3), ratio <= 2, "at most twice: 2s units if s is at its lower bound").
		Because("addresses of a blocklist are scattered: most populated units of the map have one or a few ids. Keeping the ids in place of the map's units, as we do, helps")
}

// extraSpace is the same claim on made-up ids, the largest set of each sort: those
// whose s is at its lower bound, as the paper expects of real data, and those that are
// spread evenly.
func extraSpace(all []counted, s partition.Shape) (checks []lab.Check) {
	most := uint64(0)
	for _, c := range all {
		most = max(most, c.n)
	}
	for _, c := range all {
		if c.n != most || c.name != "spread evenly" && c.name != "whole units of 1,024" {
			continue
		}
		ratio := float64(c.paper) / c.listBits(s)
		checks = append(checks, lab.Holds(fmt.Sprintf("paper's layout, times the list, made-up ids: %s", c.name), "extra space not significant (Sec. 1)", lab.Digits(ratio, 3),
			ratio <= 2, "at most twice: 2s units if s is at its lower bound").
			Because("ids that are spread out have a unit of the map for one or a few of them each, which is the worst case of Sec. 2.2; the paper speaks of real data, which are unknown"))
	}
	return checks
}

func spaceTable(all []counted, s partition.Shape) lab.Table {
	table := lab.Table{
		Name: "space", Title: fmt.Sprintf("Units of %d bits, for 1024 ids at 1e-4", s.UnitBits),
		Columns: []string{"ids", "n", "s", "least s", "units of the tree", "empty leaves", "bits per key: list", "paper's layout", "times the list", "ours", "times the list", "plain filter"},
		Notes:   []string{"The paper's layout has a unit for every populated leaf of the map and one for each leaf of the tree that has ids; ours keeps the ids themselves in place of the map's units."},
	}
	for _, c := range all {
		n, list := float64(c.n), c.listBits(s)
		table.Add(c.name, c.n, c.s, theory.PartitionMinUnits(n, universe, s.Depth), c.tree, c.empty, lab.Digits(list/n, 3), lab.Digits(float64(c.paper)/n, 3),
			lab.Digits(float64(c.paper)/list, 3), lab.Digits(float64(c.ours)/n, 3), lab.Digits(float64(c.ours)/list, 3), lab.Digits(theory.BloomBits(1, target), 3))
	}
	return table
}

// spacePlot draws bits per key of the largest sets.
func spacePlot(all []counted, s partition.Shape) lab.Plot {
	most := uint64(0)
	for _, c := range all {
		if c.name == "spread evenly" {
			most = max(most, c.n)
		}
	}
	listed, layout, ours := lab.Series{Name: "list", Style: lab.Dots, Color: 2}, lab.Series{Name: "paper's layout", Style: lab.Dots, Color: 3}, lab.Series{Name: "ours", Style: lab.Dots, Color: 1}
	var names []string
	for _, c := range all {
		if c.n != most && c.name != "addresses of a blocklist" {
			continue
		}
		x, n := float64(len(names)), float64(c.n)
		names = append(names, c.name)
		listed.Points = append(listed.Points, lab.Point{X: x, Y: c.listBits(s) / n})
		layout.Points = append(layout.Points, lab.Point{X: x, Y: float64(c.paper) / n})
		ours.Points = append(ours.Points, lab.Point{X: x, Y: float64(c.ours) / n})
	}
	return lab.Plot{
		Name: "bits", Title: fmt.Sprintf("Memory for %d ids at 1e-4", most),
		X: lab.Axis{Names: names}, Y: lab.Axis{Label: "bits per key", Log: true}, Series: []lab.Series{listed, layout, ours},
	}
}
