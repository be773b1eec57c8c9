package ebf21

import (
	"fmt"
	"slices"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// crewPlots draws the speeds over the ratios, one plot for each number of threads.
func crewPlots(ratios, can []int, times rounds) []lab.Plot {
	var plots []lab.Plot
	for _, threads := range can {
		p := lab.Plot{
			Name: fmt.Sprintf("threads-%d", threads), Title: fmt.Sprintf("Mixed speed, threads: %d", threads),
			X: lab.Axis{Label: "insertions : positive : random queries"}, Y: lab.Axis{Label: "million operations per second"},
		}
		for _, c := range inFig7 {
			s := c.series()
			s.Style = lab.Bars
			for i, queries := range ratios {
				s.Points = append(s.Points, lab.Point{X: float64(i), Y: mops(times, c.name, crew(threads, queries))})
			}
			p.Series = append(p.Series, s)
		}
		for _, queries := range ratios {
			p.X.Names = append(p.X.Names, fmt.Sprintf("1:%d:%d", queries, queries))
		}
		plots = append(plots, p)
	}
	return plots
}

func crewTable(ratios, can, cannot []int, times rounds) lab.Table {
	t := lab.Table{Name: "speeds", Title: "Million operations per second", Columns: []string{"threads", "ratio"}}
	for _, c := range inFig7 {
		t.Columns = append(t.Columns, c.name)
	}
	for _, threads := range slices.Concat(can, cannot) {
		for _, queries := range ratios {
			row := []any{threads, fmt.Sprintf("1:%d:%d", queries, queries)}
			for _, c := range inFig7 {
				cell := "not run: too few processors"
				if slices.Contains(can, threads) {
					cell = lab.Digits(mops(times, c.name, crew(threads, queries)), 3)
				}
				row = append(row, cell)
			}
			t.Add(row...)
		}
	}
	return t
}

// fig7Checks are the claim for the numbers of threads that the paper has, where the
// machine has them, and what was measured with others.
func fig7Checks(ratios, can, cannot []int, times rounds) []lab.Check {
	var checks []lab.Check
	for _, threads := range can {
		c := speedCheck{
			name: fmt.Sprintf("EBF against Par-BF, threads: %d (queries of each sort to an insertion)", threads), claim: "\"the MOPS of EBF is higher than that of Par-BF\" with 4 and with 16 threads", reason: threadReason, reach: threadReach,
		}
		for _, queries := range ratios {
			c.at = append(c.at, float64(queries))
			c.times = append(c.times, times.Speedup("EBF", "Par-BF", crew(threads, queries)))
		}
		checked := c.check()
		if threads != 4 && threads != 16 {
			checked = lab.Show(checked.Name, checked.Ours)
		}
		checks = append(checks, checked)
	}
	for _, threads := range cannot {
		checks = append(checks, lab.Show(fmt.Sprintf("EBF against Par-BF, threads: %d", threads), "not run: this machine has too few processors"))
	}
	return append(checks, helpful("EBF", ratios, can, times), helpful(shardedEBF, ratios, can, times))
}

// helpful compares the most threads with one.
func helpful(chosen string, ratios, can []int, times rounds) lab.Check {
	name := "several threads are faster than one, " + chosen
	most := slices.Max(can)
	if most == 1 {
		return lab.Show(name, "not run: this machine has one processor")
	}
	c := speedCheck{name: fmt.Sprintf("%s with %d (queries of each sort to an insertion)", name, most), claim: "\"the multi-thread technique is helpful to accelerate the processing speed\"", reason: threadReason, reach: threadReach}
	for _, queries := range ratios {
		c.at = append(c.at, float64(queries))
		c.times = append(c.times, mops(times, chosen, crew(most, queries))/mops(times, chosen, crew(1, queries)))
	}
	return c.check()
}
