package dlbf10

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/internal/lab"
)

func lifePlot(name, title string, lives []*life) lab.Plot {
	p := lab.Plot{
		Name: name, Title: title, X: lab.Axis{Label: "turnovers: times that all keys were replaced"},
		Y: lab.Axis{Label: "live keys that can be deleted", Percent: true, Max: 1.02},
	}
	for i, l := range lives {
		predicted := lab.Series{Name: l.name, Color: i + 1}
		measured := lab.Series{Name: l.name + ", measured", Style: lab.Dots, Color: i + 1}
		f := newFluid(numbersOf(l.shape, l.n))
		for j, s := range l.state {
			t := l.every * float64(j)
			predicted.Points = append(predicted.Points, lab.Point{X: t, Y: f.deletable()})
			measured.Points = append(measured.Points, s.deletable.At(t))
			f.advance(l.every)
		}
		p.Series = append(p.Series, predicted, measured)
	}
	return p
}

// wearPlot shows what the bits left behind do to the rate.
func wearPlot(lives []*life) lab.Plot {
	p := lab.Plot{
		Name: "rate", Title: fmt.Sprintf("False positives while keys are replaced, m/r = %d", fixedRatio),
		X: lab.Axis{Label: "turnovers: times that all keys were replaced"}, Y: lab.Axis{Label: "false positives, fill^k", Log: true, Percent: true},
	}
	for _, l := range lives {
		s := lab.Series{Name: l.name, Style: lab.LinePoints}
		for j, state := range l.state {
			s.Points = append(s.Points, lab.Point{X: l.every * float64(j), Y: state.rate.Mean})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// longest is where the search for the end of a filter's useful life gives up.
const longest = 64

// lifeTable tells the practical limits.
func lifeTable(byDensity, byRatio []*life, e *lab.Env) lab.Table {
	last := e.Int("turnovers")
	t := lab.Table{
		Name: "limits", Title: "Practical limits",
		Columns: []string{
			"m/n", "m/r", "deletable at first", "after one turnover", fmt.Sprintf("after %d", last),
			"half of the keys pinned after, turnovers", "rate at first", fmt.Sprintf("rate after %d", last), fmt.Sprintf("undeleted keys after %d, per live key", last),
		},
		Notes: []string{"The half-life is the prediction's. A filter that shall last longer needs a lower load or smaller regions; rebuilding it starts over."},
	}
	for i, l := range append(append([]*life{}, byDensity...), byRatio...) {
		density, ratio := fixedDensity, fixedRatio
		if i < len(byDensity) {
			density = e.Ints("densities, m/n")[i]
		} else {
			ratio = e.Ints("bits per region, m/r")[i-len(byDensity)]
		}
		one, end := l.state[int(math.Round(1/l.every))], l.state[len(l.state)-1]
		t.Add(density, ratio, l.state[0].deletable, one.deletable, end.deletable, halfLife(numbersOf(l.shape, l.n), longest), l.state[0].rate.Mean, end.rate.Mean, end.ghosts)
	}
	return t
}

// lifeChecks hold the words of Sec. III and our prediction against the simulation.
func lifeChecks(lives []*life) []lab.Check {
	fewer, dirtier, fuller := true, true, true
	var checks []lab.Check
	for _, l := range lives {
		first, last := l.state[0], l.state[len(l.state)-1]
		fewer = fewer && last.deletable.Mean < first.deletable.Mean
		dirtier = dirtier && last.clean.Mean < first.clean.Mean
		fuller = fuller && last.rate.Mean > first.rate.Mean
		checks = append(checks, predictedLife(l))
	}
	const how = "lower, or higher, at the end than at the beginning, in every setting"
	claim := func(name, text string, ok bool) lab.Check {
		return lab.Holds(name, text+" (Sec. III)", yesNo(ok), ok, how)
	}
	return append([]lab.Check{
		claim("clean regions", "orphaned bits may fill the filter until collisions have happened in every region", dirtier),
		claim("deletable keys", "hampering future deletions", fewer),
		claim("rate", "increasing the residual fpr", fuller),
	}, checks...)
}

// predictedLife compares with the prediction after one turnover.
func predictedLife(l *life) lab.Check {
	f := newFluid(numbersOf(l.shape, l.n))
	f.advance(1)
	p := f.deletable()
	return lab.Predicted(fmt.Sprintf("deletable after one turnover, m = %d, r = %d", l.shape.Bits, l.shape.Regions),
		"Markov chain of a clean region", p, atLeastRandom(l.state[int(math.Round(1/l.every))].deletable, p, l.n))
}
