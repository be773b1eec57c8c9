package dlcbf06

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// asked counts yeses about keys that are not in the set, but for odds of 2^-48.
type asked struct{ yes, more int } // and among ten times as many queries

func (a *asked) ask(f filter.Filter, queries int, r *rand.Rand) {
	a.yes = lab.CountYes(f, lab.RandomKeys(r, queries))
	a.more = lab.CountYes(f, lab.RandomKeys(r, 10*queries))
}

// printedRates is what Sec. 5.1 prints about the rates of one of its two filters.
type printedRates struct {
	average     string
	least, most float64
	formula     float64
}

// outside reports whether a trial of the paper's queries with so many yeses has a
// rate outside the printed range.
func (p printedRates) outside(yes int) bool {
	rate := float64(yes) / paperQueries
	return rate < p.least || rate > p.most
}

// odds is the probability of that.
func (p printedRates) odds() (odds float64) {
	for yes, prob := range theory.Poisson(paperQueries * p.formula) {
		odds += prob * lab.OneIf(p.outside(yes))
	}
	return odds
}

// grids are the means of rates, and their distribution.
func (p printedRates) grids(trials []asked, queries int) []*lab.Grid {
	least, most := math.Inf(1), 0.0
	for _, t := range trials {
		rate := float64(t.more) / float64(10*queries)
		least, most = min(least, rate), max(most, rate)
	}
	means := lab.Gather(trials, lab.Spec[asked]{
		Name: "range", Title: fmt.Sprintf("Rates of %d trials", len(trials)),
		Metrics: []lab.Metric[asked]{
			{Name: "rate", Of: func(a asked) float64 { return float64(a.yes) / float64(queries) }, Asked: lab.Each(queries)},
			{Name: "rate, ten times the queries", Of: func(a asked) float64 { return float64(a.more) / float64(10*queries) }, Asked: lab.Each(10 * queries)},
			{Name: "outside the range", Unit: lab.InPercent, Of: func(a asked) float64 { return lab.OneIf(p.outside(a.yes)) }, Asked: lab.Each(1)},
		},
		Formulas: []lab.Formula{
			lab.Fixed("rate by formula", lab.Plain, p.formula), lab.Fixed("outside the range, Poisson", lab.InPercent, p.odds()),
			lab.Fixed("least with ten times the queries", lab.Plain, least), lab.Fixed("most", lab.Plain, most),
		},
	})
	var rates []float64
	for yes := range 35 {
		rates = append(rates, float64(yes)/paperQueries)
	}
	spread := lab.Gather(trials, lab.Spec[asked]{
		Dims: []lab.Dim{lab.Along("rate of false positives", rates...)},
		Metrics: []lab.Metric[asked]{{Name: "trials with the rate", Unit: lab.InPercent, Asked: lab.Each(1), At: func(a asked, at lab.At) float64 {
			return lab.OneIf(a.yes == int(math.Round(at.Float("rate of false positives")*float64(queries))))
		}}},
		Formulas: []lab.Formula{{Name: "Poisson", Unit: lab.InPercent, Of: func(at lab.At) float64 {
			return poisson(at.Float("rate of false positives")*float64(queries), p.formula*float64(queries))
		}}},
	})
	return []*lab.Grid{means, spread}
}

// poisson is the distribution with the factorial of any number, for smooth curves.
func poisson(x, mean float64) float64 {
	factorial, _ := math.Lgamma(x + 1)
	return math.Exp(x*math.Log(mean) - mean - factorial)
}

func (p printedRates) view() lab.View {
	return lab.View{
		Name: "rates", Title: "Rates that trials of 10,000 queries find", X: "rate of false positives", XAxis: lab.Axis{Label: "rate of false positives", Percent: true}, Y: lab.Axis{Label: "share of trials", Percent: true},
		Curves: []lab.Curve{{Name: "measured", Measured: "trials with the rate", Formula: "Poisson"}},
		Marks:  []lab.Mark{{X: p.least, Text: "all trials between these"}, {X: p.most}},
	}
}

func (p printedRates) claims() []lab.Claim {
	return []lab.Claim{
		{Name: "rate of false positives, average", Printed: p.average + " (slightly less)", Where: "Sec. 5.1", Of: lab.Of("rate"), Is: lab.Agrees(paperTrials)},
		{
			Kind: lab.Erratum, Name: "trials outside the printed range of rates", Printed: fmt.Sprintf("0 of 10,000: from %v to %v", p.least, p.most), Where: "Sec. 5.1",
			Of: lab.Of("outside the range, Poisson"), Is: lab.AtMost(lab.Number(1.0 / paperTrials)), Show: []lab.Pick{lab.Of("outside the range"), lab.Of("least with ten times the queries"), lab.Of("most")},
			Why: "10,000 queries, which the text states, find about 15 false positives, of which the square root is 4: trials spread far wider than printed. With 100,000 queries the range fits",
		},
		{Kind: lab.Own, Name: "the share outside is what so few queries must give", Printed: "Poisson distribution", Of: lab.Of("outside the range"), Is: lab.Matches(lab.Of("outside the range, Poisson"))},
		{Kind: lab.Own, Name: "rate with ten times the queries", Printed: "the formula of the filter", Of: lab.Of("rate, ten times the queries"), Is: lab.Matches(lab.Of("rate by formula"))},
	}
}
