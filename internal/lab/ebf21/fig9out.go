package ebf21

import (
	"fmt"

	"github.com/everbloom-go/everbloom/internal/lab"
)

func branchName(b int) string {
	if b == 1 {
		return "no tree"
	}
	return fmt.Sprintf("%d branches", b)
}

// loadPlot draws the load rates, one curve for each number of branches, and what
// exact odds say.
func loadPlot(axis lab.Axis, xs, branches []int, at func(x, b int) bucketing, found loads) lab.Plot {
	p := lab.Plot{Name: "load", Title: "Load rate at the first overflow", X: axis, Y: lab.Axis{Label: "slots in use", Percent: true}}
	for i, b := range branches {
		measured := lab.Series{Name: branchName(b), Style: lab.Dots, Color: i + 1}
		exact := lab.Series{Style: lab.Dashed, Color: i + 1}
		for _, x := range xs {
			exact.Points = append(exact.Points, lab.Point{X: float64(x), Y: at(x, b).expected()})
			if rate, ok := found[at(x, b)]; ok {
				measured.Points = append(measured.Points, rate.At(float64(x)))
			}
		}
		if len(measured.Points) > 0 {
			p.Series = append(p.Series, measured, exact)
		}
	}
	return p
}

func loadTable(first string, xs, branches []int, at func(x, b int) bucketing, found loads) lab.Table {
	t := lab.Table{Name: "rates", Title: "Load rate at the first overflow, and from exact odds", Columns: []string{first}}
	for _, b := range branches {
		t.Columns = append(t.Columns, branchName(b), "exact, "+branchName(b))
	}
	for _, x := range xs {
		row := []any{x}
		for _, b := range branches {
			cell := "no overflow"
			if rate, ok := found[at(x, b)]; ok {
				cell = rate.String()
			}
			row = append(row, cell, lab.Digits(at(x, b).expected(), 3))
		}
		t.Add(row...)
	}
	return t
}

// trend counts the steps from one value to the next at which the load rate goes up,
// or down, and those at which it goes the other way beyond chance.
type trend struct{ steps, against int }

func (t *trend) step(from, to lab.Estimate, falls bool) {
	rise := to.Mean - from.Mean
	if falls {
		rise = -rise
	}
	t.steps++
	if rise < -lab.Spread(from, to) {
		t.against++
	}
}

// check judges a claim about all steps. It must also hold from first to last.
func (t trend) check(name, claim string, ends bool) lab.Check {
	return lab.Holds(name, claim, fmt.Sprintf("against it in %d of %d steps", t.against, t.steps), t.against == 0 && t.steps > 0 && ends,
		fmt.Sprintf("no step the other way by more than %d standard errors, and so from first to last", lab.Sigmas))
}

func fig9Checks(xs, branches []int, falls bool, at func(x, b int) bucketing, found loads) []lab.Check {
	var along, across trend
	ends := true
	for i, x := range xs {
		for j, b := range branches {
			here, ok := found[at(x, b)]
			if !ok {
				continue
			}
			if i > 0 {
				along.step(found[at(xs[i-1], b)], here, falls)
				ends = ends && (here.Mean < found[at(xs[0], b)].Mean) == falls
			}
			if j > 0 {
				if fewer, ok := found[at(x, branches[j-1])]; ok {
					across.step(fewer, here, false)
				}
			}
		}
	}
	name, claim := "the load rate falls with the size", "\"the load rate gets lower as the size of the Bloom filter gets larger\""
	if !falls {
		name, claim = "the load rate rises with the bucket size", "\"the load rate increases as the size of the buckets gets larger\""
	}
	return append([]lab.Check{
		along.check(name, claim, ends),
		across.check("the load rate rises with the branches", "\"more branches can increase the load rate\"", true),
	}, exactChecks(xs, branches, at, found)...)
}

// exactChecks compares the last row with exact odds.
func exactChecks(xs, branches []int, at func(x, b int) bucketing, found loads) []lab.Check {
	var checks []lab.Check
	for i := len(xs) - 1; i >= 0 && len(checks) == 0; i-- {
		for _, b := range branches {
			here := at(xs[i], b)
			if rate, ok := found[here]; ok {
				checks = append(checks, lab.Predicted(fmt.Sprintf("load rate, 2^%d bits, %d slots, %s", here.size, here.slots, branchName(b)),
					"mean load at the first overflow of independent trees", here.expected(), rate))
			}
		}
	}
	return checks
}
