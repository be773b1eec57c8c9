package perennial

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var size = lab.Experiment{
	ID:       "perennial/size",
	Title:    "Memory and rate while the set grows",
	Question: "Does the filter stay at 16 bits per key and at the asked rate at every size, beside the other kinds that grow?",
	Says: "Design 9: from 20,000 keys on at most 16.9 bits per key at 1 %, 16.4 on average, and 20.6 and 20.1 at 0.1 %; the rate is kept at every size. " +
		"Measured elsewhere: InfiniFilter and Aleph 16.5 bits per key when they are fullest and twice that after a doubling, their rate 0.16 to 0.93 % over ten doublings.",
	Quick: sizeParams(1_000_000, 20, 20_000), Full: sizeParams(50_000_000, 60, 1_000_000),
	Run: runSize,
}

func sizeParams(most, sizes, queries int) lab.Params {
	return lab.Params{lab.Int("least keys", 1_000), lab.Int("most keys", most), lab.Int("sizes", sizes), lab.Int("queries", queries)}
}

// A contender grows from nothing, or from the least number of keys.
type contender struct {
	name string
	rate float64
	make func(rate float64, first uint64) (filter.Filter, error)
	most int // keys, if memory for more is not to be had everywhere
}

var contenders = []contender{
	{"perennial, 1 %", 0.01, newPerennial, math.MaxInt},
	{"perennial, 0.1 %", 0.001, newPerennial, math.MaxInt},
	{"evergreen, 1 %", 0.01, func(rate float64, _ uint64) (filter.Filter, error) { return evergreen.New(evergreen.Config{FPR: rate}) }, math.MaxInt},
	{"elastic, 1 %", 0.01, func(rate float64, first uint64) (filter.Filter, error) {
		return elastic.New(elastic.Config{Items: first, FPR: rate})
	}, 2_000_000},
	{"scalable, 1 %", 0.01, func(rate float64, first uint64) (filter.Filter, error) {
		return scalable.New(scalable.Config{Items: first, FPR: rate})
	}, math.MaxInt},
}

func newPerennial(rate float64, _ uint64) (filter.Filter, error) {
	return perennial.New(perennial.Config{FPR: rate})
}

// noDelete lets filters that cannot delete go on a walk that only grows.
type noDelete struct{ filter.Filter }

func (noDelete) Delete(filter.Key) error { return filter.ErrNotFound }

type growth struct{ looks, glances []look }

func runSize(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	least, most := e.Int("least keys"), e.Int("most keys")
	all, err := lab.TryTrials(ctx, e, len(contenders), func(i int, r *rand.Rand) (g growth, err error) {
		f, err := contenders[i].make(contenders[i].rate, uint64(least))
		if err != nil {
			return g, err
		}
		w := &walk{f: noDelete{f}, keys: newKeys(r), queries: e.Int("queries")}
		g.looks, g.glances, err = w.through(ctx, least, min(most, contenders[i].most), e.Int("sizes"))
		return g, err
	})
	if err != nil {
		return nil, err
	}
	bits := lab.Plot{
		Name: "bits", Title: "All memory", X: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "bits per key", Max: 100},
		Series: []lab.Series{{Name: "InfiniFilter, Aleph (printed)", Style: lab.Dashed, Color: 7, Points: doublings(least, most)}},
	}
	rates := lab.Plot{
		Name: "rate", Title: "The measured rate, as a share of the asked one",
		X: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "false positives ÷ asked rate"},
		Series: []lab.Series{{Name: "InfiniFilter (printed)", Style: lab.Dashed, Color: 7, Points: drift(most)}},
	}
	result := &lab.Result{Notes: []string{
		"No filter is told how many keys will come; elastic and scalable begin with room for the least number. elastic ends at 2,000,000 keys, of which each takes more than 2,000 bits of slow memory.",
		"The lines of InfiniFilter and Aleph are drawn from the figures above, measured at another time on another machine: 16.46 bits per key at 79 % fill, and a doubling when it is reached.",
	}}
	for i, c := range contenders {
		bits.Series = append(bits.Series, lab.Series{Name: c.name, Points: bitsOf(all[i].glances), Color: i + 1})
		rates.Series = append(rates.Series, lab.Series{Name: c.name, Style: lab.Dots, Points: ratesOf(all[i].looks, c.rate), Color: i + 1})
		result.Tables = append(result.Tables, tableOf("sizes-"+tags[i], c.name, all[i].looks))
		if i > 1 {
			continue
		}
		result.Checks = append(result.Checks, kept("of "+c.name, c.rate, all[i].looks), noneLost("of "+c.name, all[i].looks))
	}
	result.Checks = append(result.Checks,
		sized("of "+contenders[0].name, 20_000, 16.9, 16.4, all[0].glances),
		sized("of "+contenders[1].name, 20_000, 20.6, 20.1, all[1].glances))
	result.Plots = []lab.Plot{bits, rates}
	return result, nil
}

var tags = []string{"perennial-100", "perennial-1000", "evergreen", "elastic", "scalable"}

// doublings is the memory of a table that doubles when 79 % of it are taken.
func doublings(least, most int) (points []lab.Point) {
	const full = 16.46
	for n := float64(least); n <= float64(most); n *= 1.02 {
		slots := math.Exp2(math.Ceil(math.Log2(n / 0.79)))
		points = append(points, lab.Point{X: n, Y: full * 0.79 * slots / n})
	}
	return points
}

// drift is the printed rate of InfiniFilter over ten doublings of 4,096 slots, as a share of
// the last.
func drift(most int) (points []lab.Point) {
	for i, rate := range []float64{0.16, 0.23, 0.305, 0.39, 0.46, 0.55, 0.61, 0.68, 0.77, 0.84, 0.93} {
		if n := 0.79 * 4096 * math.Exp2(float64(i)); n <= float64(most) {
			points = append(points, lab.Point{X: n, Y: rate / 0.93})
		}
	}
	return points
}
