package dlcbf06

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// sample is what a trial's queries found.
type sample struct{ yes, queries int }

func (s sample) rate() float64 { return float64(s.yes) / float64(s.queries) }

// printedRates is what Sec. 5.1 prints about the rate of one of its two filters.
type printedRates struct {
	average     string
	least, most float64
	expected    float64 // by formula
}

// checks compares the average and the range of the rates.
func (p printedRates) checks(samples []sample) []lab.Check {
	odds := outside(paperQueries, p.expected, p.least, p.most)
	strayed := count(samples, func(s sample) bool { return s.rate() < p.least || s.rate() > p.most })
	return []lab.Check{
		lab.Sampled("rate of false positives, average", p.average+" (slightly less)", lab.Mean(column(samples, sample.rate)), paperTrials),
		lab.Holds("trials outside the printed range of rates", fmt.Sprintf("0 of 10,000: from %v to %v", p.least, p.most),
			fmt.Sprintf("%d of %d; expected %s %%", strayed, len(samples), lab.Digits(100*odds, 2)), odds < 1.0/paperTrials,
			"fewer than one of 10,000 is expected, for 10,000 queries a trial as the text says").
			Because("10,000 queries find about 15 false positives, of which the square root is 4: so few trials spread far wider than printed. " +
				"With 100,000 queries the range fits, see the table"),
	}
}

// rateTable has the range of rates for several numbers of queries.
func rateTable(p printedRates, sets ...[]sample) lab.Table {
	table := lab.Table{
		Name: "range", Title: "Rates of false positives, trial by trial",
		Columns: []string{"queries a trial", "average", "least", "most", "10,000 trials would range from", "to"},
	}
	table.Add("printed: 10,000", p.average, p.least, p.most, "", "")
	for _, samples := range sets {
		rates := column(samples, sample.rate)
		least, most := extremes(rates)
		low, high := quantiles(samples[0].queries, p.expected, 1.0/paperTrials)
		table.Add(samples[0].queries, lab.Mean(rates), least, most, low, high)
	}
	return table
}

// quantiles returns the rates that a trial of so many queries finds or exceeds
// with all but the given odds on either side.
func quantiles(queries int, p, odds float64) (low, high float64) {
	below := 0.0
	low = -1
	for i, prob := range theory.Poisson(float64(queries) * p) {
		below += prob
		if low < 0 && below > odds {
			low = float64(i)
		}
		if below < 1-odds {
			high = float64(i + 1)
		}
	}
	return low / float64(queries), high / float64(queries)
}

// ratePlot draws how often a trial found so many false positives.
func ratePlot(p printedRates, samples []sample) lab.Plot {
	found := map[int]int{}
	for _, s := range samples {
		found[s.yes]++
	}
	n := float64(samples[0].queries)
	measured := lab.Series{Name: "measured", Style: lab.Dots, Color: 1}
	expected := lab.Series{Name: "expected", Style: lab.Line, Color: 1}
	for i, prob := range theory.Poisson(n * p.expected) {
		if math.Abs(float64(i)-n*p.expected) > 4*math.Sqrt(n*p.expected) {
			continue
		}
		x := float64(i) / n
		expected.Points = append(expected.Points, lab.Point{X: x, Y: prob})
		measured.Points = append(measured.Points, lab.Share(x, found[i], len(samples)))
	}
	top := 0.0
	for _, pt := range expected.Points {
		top = max(top, pt.Y)
	}
	return lab.Plot{
		Name: "rates", Title: fmt.Sprintf("Rates that %d trials of %.0f queries found", len(samples), n),
		X: lab.Axis{Label: "rate of false positives", Percent: true}, Y: lab.Axis{Label: "share of trials", Percent: true},
		Series: []lab.Series{
			expected, measured,
			{Name: "printed range", Style: lab.Line, Color: 2, Points: []lab.Point{{X: p.least, Y: 1.3 * top}, {X: p.most, Y: 1.3 * top}}},
		},
	}
}
