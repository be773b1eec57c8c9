package dlcbf06

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var table1 = lab.Experiment{
	ID:       "dlcbf06/table1",
	Paper:    paper,
	Title:    "Table 1: bucket loads under never-ending change, and what else Sec. 5.1 counts",
	Question: "Do the loads of a d-left filter that is always full and always changing follow the fluid limit, and do overflow, counters and rate come out as printed?",
	Says: "Table 1 and Sec. 5.1: 49,152 elements, 2^20 times one is deleted and another inserted, 10,000 trials. Shares of buckets by load as in the fluid limit; " +
		"no overflow, and no full bucket in the fourth subarray; four elements with one hash value in 6 trials; rates of false positives from 0.00106 to 0.00195, 0.001463 on average.",
	Quick: lab.Params{lab.Int("trials", 7), lab.Int("steps", 1<<19), lab.Int("queries", paperQueries)},
	Full:  lab.Params{lab.Int("trials", paperTrials), lab.Int("steps", paperSteps), lab.Int("queries", paperQueries)},
	Run:   runTable1,
}

// levels is how many loads Table 1 has.
const levels = 9

// Table 1, as printed.
var (
	printedSimulation = [levels]string{"1.0000", "0.9999", "0.9990", "0.9920", "0.9502", "0.7655", "0.2868", "0.0022", "0.0000"}
	printedFluid      = [levels]string{"1.0000", "0.9999", "0.9990", "0.9920", "0.9505", "0.7669", "0.2894", "0.0023", "1.681e-27"}
)

// lookEvery is how many steps are between two looks at the fourth subarray.
const lookEvery = 1 << 16

// table1Trial is what one trial found.
type table1Trial struct {
	shares   [levels]float64 // of the buckets that hold at least 1, 2, ... keys
	overflow bool            // some key found all its buckets full
	last     bool            // a bucket of the last subarray was seen full
	four     bool            // at some time four keys had one fingerprint
	yes      int             // false positives
	more     int             // and among ten times as many queries
}

func runTable1(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	steps, queries := e.Int("steps"), e.Int("queries")
	trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (table1Trial, error) {
		return oneTable1(steps, queries, r)
	})
	if err != nil {
		return nil, err
	}
	result := &lab.Result{Notes: []string{
		"Every trial draws new permutations and new keys. That a key finds all its buckets full and that four share a fingerprint would be seen whenever it happens; " +
			fmt.Sprintf("full buckets of the fourth subarray are looked for every %d steps.", lookEvery),
		"Equal fingerprints share a cell: 49,152 keys take 49,116 cells on average, a load of 5.9956. The fluid limit at that load, not at 6, is what simulations " +
			"give, the paper's included: its two columns differ by just that.",
	}}
	loadResults(result, trials)
	eventResults(result, trials, steps)
	rateResults(result, trials, queries)
	return result, nil
}

func oneTable1(steps, queries int, r *rand.Rand) (t table1Trial, err error) {
	f, err := dleft.Build(salted(r))
	if err != nil {
		return t, err
	}
	err = churn(f, exampleKeys, steps, lookEvery, r, func() { t.last = t.last || lastIsFull(f) })
	if t.overflow = f.Moved() > 0 || errors.Is(err, filter.ErrFull); err != nil && !t.overflow {
		return t, err
	}
	for _, load := range f.Loads() {
		for i := range load {
			t.shares[i]++
		}
	}
	for i := range t.shares {
		t.shares[i] /= exampleBuckets
	}
	t.four = !f.Info().Exact
	t.yes = falsePositives(f, queries, r)
	t.more = falsePositives(f, 10*queries, r)
	return t, nil
}

// lastIsFull reports whether a bucket of the last subarray is full.
func lastIsFull(f *dleft.Filter) bool {
	s := f.Shape()
	for subtable, load := range f.Loads() {
		if subtable == s.Subtables-1 && load == s.Cells {
			return true
		}
	}
	return false
}

// distinct returns the expected number of different fingerprints of n keys.
func distinct(n float64) float64 {
	return -fingerprints * math.Expm1(n*math.Log1p(-1.0/fingerprints))
}

// loadResults is Table 1.
func loadResults(result *lab.Result, trials []table1Trial) {
	six := theory.DLeftSteadyLoads(4, 6, levels)
	load := distinct(exampleKeys) / exampleBuckets
	shared := theory.DLeftSteadyLoads(4, load, levels)
	table := lab.Table{
		Name: "shares", Title: "Share of buckets with at least so many keys",
		Columns: []string{"load ≥", "printed: simulation", "ours", "printed: fluid limit", "ours", fmt.Sprintf("fluid limit at load %.4f", load)},
	}
	measured := lab.Series{Name: "measured", Style: lab.Dots, Color: 1}
	steady := lab.Series{Name: "fluid limit, steady state", Style: lab.Line, Color: 1}
	insert := lab.Series{Name: "fluid limit, insertions only", Style: lab.Dashed, Color: 2}
	for i, share := range theory.DLeftInsertLoads(4, 6, levels) {
		x := float64(i + 1)
		mean := lab.Mean(column(trials, func(t table1Trial) float64 { return t.shares[i] }))
		table.Add(i+1, printedSimulation[i], mean, printedFluid[i], lab.Digits(six[i], 5), lab.Digits(shared[i], 5))
		measured.Points = append(measured.Points, mean.At(x))
		steady.Points = append(steady.Points, lab.Point{X: x, Y: six[i]})
		insert.Points = append(insert.Points, lab.Point{X: x, Y: share})
		result.Checks = append(result.Checks,
			lab.Exact(fmt.Sprintf("fluid limit, load ≥ %d", i+1), printedFluid[i], six[i]),
			lab.Sampled(fmt.Sprintf("simulation, load ≥ %d", i+1), printedSimulation[i], mean, paperTrials))
	}
	result.Tables = append(result.Tables, table)
	result.Plots = append(result.Plots, lab.Plot{
		Name: "loads", Title: "Buckets with at least so many keys, 49,152 keys in 8,192 buckets",
		X: lab.Axis{Label: "keys in a bucket"}, Y: lab.Axis{Label: "share of buckets", Percent: true},
		Series: []lab.Series{steady, measured, insert},
	})
	result.Checks = append(result.Checks,
		lab.Holds("Sec. 5.1: odds of a load of 9, for a bucket", "on the order of 10^-27", lab.Digits(six[levels-1], 4),
			math.Floor(math.Log10(six[levels-1])) == -27, "the same power of ten"),
		lab.Holds("Sec. 5.1: odds of a load of 9, for a set of elements", "on the order of 10^-27 per set of elements", lab.Digits(exampleBuckets*six[levels-1], 2),
			math.Floor(math.Log10(exampleBuckets*six[levels-1])) == -27, "the same power of ten").
			Because("1.681e-27 of Table 1 is the share of buckets; a set has 8,192 of them. It can still be ignored"))
}

// eventResults are the rare events of Sec. 5.1.
func eventResults(result *lab.Result, trials []table1Trial, steps int) {
	n := len(trials)
	overflows := count(trials, func(t table1Trial) bool { return t.overflow })
	result.Checks = append(result.Checks,
		lab.Holds("overflow", "never in 10,000 trials, no bucket obtained a load of 9", fmt.Sprintf("%d of %d trials", overflows, n),
			overflows == 0, fmt.Sprintf("none at all: the fluid limit gives %s for 10,000 trials",
				lab.Digits(paperTrials*example.ChurnOverflow(exampleKeys, paperSteps), 2))))
	last := count(trials, func(t table1Trial) bool { return t.last })
	result.Checks = append(result.Checks,
		lab.Holds("full buckets in the fourth subarray", "never in 10,000 trials", fmt.Sprintf("%d of %d trials", last, n), last == 0,
			fmt.Sprintf("none at any of the looks, one every %d steps", lookEvery)))
	four := count(trials, func(t table1Trial) bool { return t.four })
	check := events("trials with four elements of one hash value at some time", "six of 10,000 trials, five never", 6, four, n)
	if steps != paperSteps { // shorter trials have other odds
		check = expected("trials with four elements of one hash value at some time",
			fmt.Sprintf("C(n,4)/|B||R|³, and so for each set of %d steps", steps), fourEqual(steps), four, n)
	}
	odds := fourEqual(paperSteps)
	lo, hi := theory.BinomialInterval(paperTrials, odds, lab.Sigmas)
	result.Checks = append(result.Checks, check,
		lab.Holds("the same, computed", "six of 10,000 trials", fmt.Sprintf("%.1f expected, from C(m,4)/|B||R|³ and 4/m of that for every step", paperTrials*odds),
			lo <= 6 && hi >= 6, fmt.Sprintf("%.0f to %.0f: %d standard deviations of what 10,000 trials see", lo, hi, lab.Sigmas)))
}

// fourEqual is the probability that in a trial of so many steps four keys share a
// fingerprint at some time: at the start, or after a step, which has four chances
// in n to touch a given four.
func fourEqual(steps int) float64 {
	return theory.DLeftEqualFingerprints(exampleKeys, fingerprints, 4) * (1 + 4*float64(steps)/exampleKeys)
}

// dleftRates is what Sec. 5.1 prints about false positives.
var dleftRates = printedRates{average: "0.001463", least: 0.00106, most: 0.00195, expected: example.FPR(exampleKeys)}

// rateResults are the false positives of Sec. 5.1.
func rateResults(result *lab.Result, trials []table1Trial, queries int) {
	few, many := make([]sample, len(trials)), make([]sample, len(trials))
	for i, t := range trials {
		few[i], many[i] = sample{t.yes, queries}, sample{t.more, 10 * queries}
	}
	result.Checks = append(result.Checks, dleftRates.checks(few)...)
	result.Tables = append(result.Tables, rateTable(dleftRates, few, many))
	result.Plots = append(result.Plots, ratePlot(dleftRates, few))
	result.Checks = append(result.Checks,
		lab.Predicted("rate with ten times the queries", "1 - (1 - 1/|B||R|)^m, with the sentinel", dleftRates.expected, lab.Mean(column(many, sample.rate))))
}
