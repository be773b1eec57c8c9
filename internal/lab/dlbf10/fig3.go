package dlbf10

import (
	"context"
	"fmt"
	"slices"

	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var fig3 = lab.Experiment{
	ID:       "dlbf10/fig3",
	Paper:    "[DlBF10]",
	Title:    "Deletability of a 240-bit filter, simulated",
	Question: "Which share of n words can be deleted from m = 240 bits with k = 5, for different numbers of regions?",
	Says: "Fig. 3: mean deletability over n for different r, 2,000 trials each, words of a dictionary. Sec. IV: it behaves as predicted, but lower, " +
		"\"noteworthy as r tends to m/2 and for high m/n ratios\"; with r = 24 and n = 22 on average 80 % can be removed; from r = 60 to 120 deletability does not improve.",
	Quick: fig3Params(300, 10, 14, 18, 22, 26, 30, 36),
	Full:  fig3Params(paperTrials, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40),
	Data:  []string{wordFile},
	Run:   runFig3,
}

// paperTrials is the number of trials per set of parameters in Sec. IV.
const paperTrials = 2_000

func fig3Params(trials int, keys ...int) lab.Params {
	return lab.Params{
		lab.Int("bits", 240), lab.Int("hashes", 5), lab.Ints("regions", 12, 24, 60, 120),
		lab.Ints("keys", keys...), lab.Int("trials", trials),
	}
}

// sweep is what fig3 has measured: for each number of regions and of keys the
// trials.
type sweep struct {
	shapes []deletable.Shape
	keys   []int
	found  [][]lab.Estimate // by shape and number of keys
	denied int
	asked  int
}

func runFig3(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	words, origin, err := openKeys(e)
	if err != nil {
		return nil, err
	}
	w := sweep{keys: e.Ints("keys")}
	for i, r := range e.Ints("regions") {
		s := deletable.Shape{Bits: uint64(e.Int("bits")), Hashes: e.Int("hashes"), Regions: uint64(r)}
		w.shapes = append(w.shapes, s)
		w.found = append(w.found, nil)
		for j, n := range w.keys {
			e.Progress(i*len(w.keys)+j, len(e.Ints("regions"))*len(w.keys))
			trials, err := simulate(ctx, e, s, n, words)
			if err != nil {
				return nil, err
			}
			w.found[i] = append(w.found[i], lab.Figure(trials, deletableShare))
			w.denied += sumOf(trials, func(o outcome) int { return o.denied })
			w.asked += n * len(trials)
		}
	}
	return &lab.Result{
		Plots: w.plots(), Tables: []lab.Table{w.table()}, Checks: w.checks(),
		Notes: []string{origin, "Sec. IV blames the hash functions for the distance to Eq. (1); dlbf10/text shows that it is the formula."},
	}, nil
}

// plots shows the measurements, first with Eq. (1) as the paper compares them,
// then with the conditioned formula.
func (w *sweep) plots() []lab.Plot {
	axes := func(name, title string) lab.Plot {
		return lab.Plot{Name: name, Title: title, X: lab.Axis{Label: "keys n"}, Y: lab.Axis{Label: "keys that can be deleted", Percent: true, Max: 1.02}}
	}
	predicted, explained := axes("eq1", "Measured (points) and Eq. (1) (dashed)"), axes("conditioned", "Measured (points) and the formula with the missing condition (lines)")
	for i, s := range w.shapes {
		name := fmt.Sprintf("r = %d", s.Regions)
		eq1 := lab.Series{Name: name + ", Eq. (1)", Style: lab.Dashed, Color: i + 1}
		right := lab.Series{Name: name + ", formula", Color: i + 1}
		measured := lab.Series{Name: name + ", measured", Style: lab.Dots, Color: i + 1}
		for j, n := range w.keys {
			v := numbersOf(s, n)
			eq1.Points = append(eq1.Points, lab.Point{X: v.n, Y: v.eq1()})
			right.Points = append(right.Points, lab.Point{X: v.n, Y: v.conditioned()})
			measured.Points = append(measured.Points, w.found[i][j].At(v.n))
		}
		predicted.Series = append(predicted.Series, eq1, measured)
		explained.Series = append(explained.Series, right, measured)
	}
	return []lab.Plot{predicted, explained}
}

func (w *sweep) table() lab.Table {
	t := lab.Table{
		Name: "deletability", Title: "Share of the keys that can be deleted",
		Columns: []string{"r", "n", "measured", "Eq. (1) corrected", "conditioned", "pinned keys, measured to Eq. (1)"},
	}
	for i, s := range w.shapes {
		for j, n := range w.keys {
			v := numbersOf(s, n)
			t.Add(s.Regions, n, w.found[i][j], v.eq1(), v.conditioned(), w.pinnedRatio(i, j))
		}
	}
	return t
}

// pinnedRatio is how many times more keys are pinned than Eq. (1) says.
func (w *sweep) pinnedRatio(i, j int) float64 {
	return (1 - w.found[i][j].Mean) / (1 - numbersOf(w.shapes[i], w.keys[j]).eq1())
}

// gap is how far the measured share is below Eq. (1).
func (w *sweep) gap(i, j int) float64 {
	return numbersOf(w.shapes[i], w.keys[j]).eq1() - w.found[i][j].Mean
}

// at returns the estimate for so many regions and keys.
func (w *sweep) at(regions uint64, keys int) lab.Estimate {
	i := slices.IndexFunc(w.shapes, func(s deletable.Shape) bool { return s.Regions == regions })
	return w.found[i][slices.Index(w.keys, keys)]
}

func (w *sweep) checks() []lab.Check {
	return []lab.Check{
		lab.Sampled("deletable with r = 24, n = 22", "80 % (Sec. IV)", w.at(24, 22), paperTrials),
		w.lower(), w.shape(), w.noteworthy(), w.noteworthyPinned(), w.doubling(),
		noneDenied(w.denied, w.asked),
	}
}

// lower checks that the simulation stays under the theory.
func (w *sweep) lower() lab.Check {
	above := 0
	for i := range w.shapes {
		for j := range w.keys {
			noise := atLeastRandom(w.found[i][j], numbersOf(w.shapes[i], w.keys[j]).eq1(), w.keys[j]).StandardError()
			above += oneIf(w.gap(i, j) < -lab.Sigmas*noise)
		}
	}
	return lab.Holds("measured against Eq. (1)", "relatively lower values than predicted by theory (Sec. IV)",
		fmt.Sprintf("above it at %d of %d points", above, len(w.shapes)*len(w.keys)), above == 0,
		fmt.Sprintf("nowhere above by more than %d standard errors", lab.Sigmas))
}

// shape checks that the simulation follows the theory's directions.
func (w *sweep) shape() lab.Check {
	rising := 0
	for i := range w.shapes {
		for j := 1; j < len(w.keys); j++ {
			a, b := w.found[i][j-1], w.found[i][j]
			rising += oneIf(b.Mean-a.Mean > lab.Spread(a, b))
		}
	}
	return lab.Holds("measured over n", "the observed deletability behaves as predicted by theory: it falls with n (Sec. IV)",
		fmt.Sprintf("it rises at %d points", rising), rising == 0, fmt.Sprintf("no rise by more than %d standard errors of the difference", lab.Sigmas))
}

// noteworthy takes the claim as one about the distance in percentage points.
func (w *sweep) noteworthy() lab.Check {
	j := slices.Index(w.keys, 22)
	last := len(w.shapes) - 1
	return lab.Holds("where the distance to Eq. (1) is largest, in points", "noteworthy as r tends to m/2 (Sec. IV)",
		fmt.Sprintf("n = 22: %s points with r = %d, %s with r = %d", lab.Digits(100*w.gap(1, j), 3), w.shapes[1].Regions, lab.Digits(100*w.gap(last, j), 3), w.shapes[last].Regions),
		w.gap(last, j) > w.gap(1, j), "the distance with the most regions is larger than with r = 24").
		Because("with many regions nearly all keys can be deleted by either, and the curves meet at 100 %; the claim holds for the keys that cannot be deleted, see the next check")
}

// noteworthyPinned takes it as one about the keys that cannot be deleted.
func (w *sweep) noteworthyPinned() lab.Check {
	last, few, many := len(w.shapes)-1, slices.Index(w.keys, 22), len(w.keys)-1
	a, b, c := w.pinnedRatio(1, few), w.pinnedRatio(last, few), w.pinnedRatio(last, many)
	return lab.Holds("keys that cannot be deleted, measured to Eq. (1)", "noteworthy as r tends to m/2 and for high m/n ratios (Sec. IV)",
		fmt.Sprintf("%.1f times as many with r = %d, n = 22; %.0f times with r = %d; %.1f times with r = %d, n = %d",
			a, w.shapes[1].Regions, b, w.shapes[last].Regions, c, w.shapes[last].Regions, w.keys[many]),
		b > a && b > c, "the ratio rises with r and with m/n")
}

// doubling compares r = 60 and r = 120 at all numbers of keys up to the one that
// the text speaks of. Beyond it the paper tells nothing.
func (w *sweep) doubling() lab.Check {
	var worst float64
	var at int
	better := 0
	for _, n := range w.keys[:slices.Index(w.keys, 22)+1] {
		a, b := w.at(60, n), w.at(120, n)
		better += oneIf(b.Mean-a.Mean > lab.Spread(a, b))
		if d := b.Mean - a.Mean; at == 0 || d > worst {
			worst, at = d, n
		}
	}
	return lab.Holds("from r = 60 to r = 120", "does not improve the actual element deletability (Sec. IV)",
		fmt.Sprintf("up to n = 22 it changes by at most %+.1f points, at n = %d", 100*worst, at), better == 0,
		fmt.Sprintf("up to n = 22 no rise by more than %d standard errors of the difference", lab.Sigmas))
}
