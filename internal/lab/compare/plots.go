package compare

import (
	"slices"

	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// colours are the same for a kind in every plot. Above 7 they are the first ones
// again, with dotted lines. Kinds that are not named take the next ones.
var colours = coloursOf(
	"evergreen", "blocked", "counting", "deletable", "dleft", "scalable", "bloom",
	compactName, "dynamic", "partition", "parallel", "elastic",
)

func coloursOf(names ...string) map[string]int {
	colours := map[string]int{}
	for _, k := range kinds.All() {
		if !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	for i, name := range names {
		colours[name] = i + 1
	}
	return colours
}

// memoryPlot has dots on a logarithmic axis: from ten bits to thousands.
func memoryPlot(found []*finding) lab.Plot {
	p := lab.Plot{
		Name: "memory", Title: "Memory at an equal rate",
		Y: lab.Axis{Label: "bits per key", Log: true},
	}
	all := lab.Series{Name: "all", Style: lab.Dots}
	fast := lab.Series{Name: "fast", Style: lab.Dots}
	for i, f := range found {
		p.X.Names = append(p.X.Names, f.name)
		all.Points = append(all.Points, lab.Point{X: float64(i), Y: f.all()})
		fast.Points = append(fast.Points, lab.Point{X: float64(i), Y: f.fast})
	}
	p.Series = []lab.Series{all, fast}
	return p
}

func timePlot(found []*finding) lab.Plot {
	p := lab.Plot{
		Name: "times", Title: "Time per operation",
		Y: lab.Axis{Label: "ns, processor time", Log: true},
	}
	for op, name := range operationNames {
		s := lab.Series{Name: name, Style: lab.Dots}
		for i, f := range found {
			if v := f.times.median(op); v > 0 {
				s.Points = append(s.Points, lab.Point{X: float64(i), Y: v})
			}
		}
		if len(s.Points) > 0 {
			p.Series = append(p.Series, s)
		}
	}
	for _, f := range found {
		p.X.Names = append(p.X.Names, f.name)
	}
	return p
}

// abilityTable is the one of the README, from the same source.
func abilityTable() lab.Table {
	t := lab.Table{
		Name: "abilities", Title: "What each kind can do, as all/abilities tries it",
		Columns: []string{"kind", "grows", "delete", "adding twice", "deleting an absent key", "past capacity", "merge", "concurrent"},
	}
	for _, k := range kinds.All() {
		t.Add(k.Name, yesNo(k.Grows), k.Deleting, k.Duplicates, k.AbsentDelete, k.PastCapacity, k.Merging, yesNo(k.Abilities().Concurrent))
	}
	return t
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return dash
}
