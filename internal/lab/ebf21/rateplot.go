package ebf21

import "github.com/everbloom-go/everbloom/internal/lab"

// ratePlot draws the rates of the contenders over xs.
func ratePlot(name, title string, axis lab.Axis, xs []float64, rates map[string][]sampled, chosen []contender) lab.Plot {
	p := lab.Plot{Name: name, Title: title, X: axis, Y: lab.Axis{Label: "false positives", Log: true, Percent: true}}
	p.Notes = []string{"A curve ends, or has a gap, where no query was answered wrongly: the axis has no 0."}
	for _, c := range chosen {
		s := c.series()
		for i, x := range xs {
			if pt, ok := rates[c.name][i].point(x); ok {
				s.Points = append(s.Points, pt)
			}
		}
		if len(s.Points) > 0 {
			p.Series = append(p.Series, s)
		}
	}
	return p
}

// fastPlot shows what the rates cost.
func fastPlot(peaks []float64, rates map[string][]sampled) lab.Plot {
	p := lab.Plot{
		Name: "memory", Title: "Fast memory meanwhile",
		X: lab.Axis{Label: "relative peak data size", Log: true}, Y: lab.Axis{Label: "bits per key", Log: true},
		Notes: []string{"Dynamic filters with plain units: with counters it is four times as much. The slow memory of the EBF is not in it: see fig8a."},
	}
	for _, c := range inFig3 {
		s := c.series()
		for i, x := range peaks {
			s.Points = append(s.Points, lab.Point{X: x, Y: rates[c.name][i].fast})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// rateTable has a row for each x and a column for each contender.
func rateTable(name, title, first string, xs []float64, rates map[string][]sampled, chosen []contender) lab.Table {
	t := lab.Table{Name: name, Title: title, Columns: []string{first}}
	for _, c := range chosen {
		t.Columns = append(t.Columns, c.name)
	}
	for i, x := range xs {
		row := []any{x}
		for _, c := range chosen {
			row = append(row, lab.Digits(rates[c.name][i].rate.Mean, 3))
		}
		t.Add(row...)
	}
	return t
}
