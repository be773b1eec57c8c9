package dlcbf06

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// example is the geometry of Sec. 5.1: 4 subarrays of 2048 buckets of 8 cells,
// remainders of 14 bits and counters of 2.
var example = dleft.Shape{Subtables: 4, Buckets: 2048, Cells: 8, Remainder: 14, Counter: 2}

const (
	exampleKeys    = 49_152  // an average load of six
	exampleBuckets = 8_192   // of all subarrays
	fingerprints   = 1 << 25 // |B||R|
	levels         = 9       // loads of Table 1
	paperSteps     = 1 << 20
	paperTrials    = 10_000
	paperQueries   = 10_000
)

// set is what a churn needs.
type set interface {
	Add(filter.Key) (bool, error)
	Delete(filter.Key) error
}

// churn is a trial of Sec. 5.1: so many keys, then steps in which one of them is
// deleted, each as likely, and a new one added. It ends with the first error and
// returns the keys. Before every so many steps, and at the end, it stops for a look.
func churn(f set, n, steps, every int, r *rand.Rand, look func()) ([]filter.Key, error) {
	keys := make([]filter.Key, n)
	for i := range keys {
		keys[i] = filter.Key(r.Uint64())
		if _, err := f.Add(keys[i]); err != nil {
			return keys, err
		}
	}
	for step := range steps {
		if step%every == 0 {
			look()
		}
		i := r.IntN(n)
		if err := f.Delete(keys[i]); err != nil {
			return keys, fmt.Errorf("step %d: a key that is in the set: %w", step, err)
		}
		keys[i] = filter.Key(r.Uint64())
		if _, err := f.Add(keys[i]); err != nil {
			return keys, err
		}
	}
	look()
	return keys, nil
}

// ask counts false positives among the queries, and among ten times as many.
func (p printedRates) ask(l lab.Figures, f filter.Filter, queries int, r *rand.Rand) {
	yes := lab.CountYes(f, lab.RandomKeys(r, queries))
	l["rate"], l["outside the range"] = float64(yes)/float64(queries), lab.OneIf(p.outside(yes))
	l["rate, ten times the queries"] = lab.YesShare(f, lab.RandomKeys(r, 10*queries))
}

// live is a trial of a d-left filter with n keys and permutations of its own. It ends with
// the first key that finds no room. In the end all keys are deleted, which must leave nothing.
func live(n, steps, every, queries int, r *rand.Rand) (lab.Figures, error) {
	s, l := example, lab.Figures{"fourth subarray full": 0}
	s.Salt = r.Uint64()
	f, err := dleft.Build(s)
	if err != nil {
		return l, err
	}
	keys, err := churn(f, n, steps, every, r, func() { l["fourth subarray full"] = max(l["fourth subarray full"], fullLast(f)) })
	full := errors.Is(err, filter.ErrFull)
	l["moves"], l["no room for a key"], l["overflow"] = float64(f.Moved()), lab.OneIf(full), lab.OneIf(full || f.Moved() > 0)
	if err != nil && !full {
		return l, err
	}
	for i := range levels {
		l[atLeast(i)] = 0
	}
	for _, load := range f.Loads() {
		for i := range load {
			l[atLeast(i)] += 1.0 / exampleBuckets
		}
	}
	l["four equal"] = lab.OneIf(!f.Info().Exact)
	dleftRates.ask(l, f, queries, r)
	if full || !f.Info().Exact { // the cell of four is stuck
		return l, nil
	}
	for _, k := range keys {
		if err := f.Delete(k); err != nil {
			return l, err
		}
	}
	if fill := f.Info().Fill; fill > 0 {
		return l, fmt.Errorf("dlcbf06: %v of the cells are used when all keys are deleted", fill)
	}
	return l, nil
}

// fullLast is 1 if a bucket of the last subarray is full.
func fullLast(f *dleft.Filter) float64 {
	s := f.Shape()
	for subtable, load := range f.Loads() {
		if subtable == s.Subtables-1 && load == s.Cells {
			return 1
		}
	}
	return 0
}

// distinct returns the expected number of different fingerprints of n keys: those
// that are equal share a cell.
func distinct(n float64) float64 {
	return -fingerprints * math.Expm1(n*math.Log1p(-1.0/fingerprints))
}

// printedRates is what Sec. 5.1 prints about the rates of one of its two filters.
type printedRates struct {
	average     string
	least, most float64
	formula     float64
}

// outside reports whether a trial of the paper's queries with so many false positives has a
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

func (p printedRates) grid(trials []lab.Figures, queries int) *lab.Grid {
	least, most := math.Inf(1), 0.0
	for _, t := range trials {
		rate := t["rate, ten times the queries"]
		least, most = min(least, rate), max(most, rate)
	}
	return lab.Gather(trials, lab.Sweep{
		Name: "range", Title: fmt.Sprintf("Rates of %d trials", len(trials)),
		Metrics: []lab.Metric{
			{Name: "rate", Asked: lab.Each(queries)}, {Name: "rate, ten times the queries", Asked: lab.Each(10 * queries)}, {Name: "outside the range", Unit: lab.InPercent, Asked: lab.Each(1)},
		},
		Formulas: []lab.Formula{
			lab.Fixed("rate by formula", lab.Plain, p.formula), lab.Fixed("outside the range, Poisson", lab.InPercent, p.odds()),
			lab.Fixed("least with ten times the queries", lab.Plain, least), lab.Fixed("most", lab.Plain, most),
		},
	})
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
