package dlbf10

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var fig2 = lab.Experiment{
	ID:       "dlbf10/fig2",
	Paper:    "[DlBF10]",
	Title:    "Deletability by the formula, over the filter's density",
	Question: "Which share of the keys can be deleted, by Eq. (1) and in truth, for each density m/n and bitmap size m/r?",
	Says: "Fig. 2 plots p_d of Eq. (1) over m/n for different m/r, k not stated: it rises with r and falls as keys are added. " +
		"Sec. III-A: with 5 % of the bits for the bitmap (m/r = 20) around 90 % of the elements can be removed when m/n is around 16.",
	Quick: fig2Params(20),
	Full:  fig2Params(2_000),
	Run:   runFig2,
}

func fig2Params(trials int) lab.Params {
	return lab.Params{
		lab.Int("keys", 1_000), lab.Int("hashes", 5), lab.Ints("bits per region, m/r", 2, 5, 10, 20, 40),
		lab.Ints("densities, m/n", 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32), lab.Int("trials", trials),
	}
}

// sized returns a filter with density bits per key, of which one in ratio codes
// the regions.
func sized(n, k, density, ratio int) deletable.Shape {
	bits := uint64(n * density)
	return deletable.Shape{Bits: bits, Hashes: k, Regions: bits / uint64(ratio)}
}

func runFig2(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, k, ratios, densities := e.Int("keys"), e.Int("hashes"), e.Ints("bits per region, m/r"), e.Ints("densities, m/n")
	printed := fig2Plot("eq1", fmt.Sprintf("Eq. (1), corrected, k = %d", k))
	truth := fig2Plot("truth", fmt.Sprintf("What can be deleted, k = %d; lines: formula with the missing condition, points: measured", k))
	table := lab.Table{
		Name: "deletability", Title: fmt.Sprintf("Share of %d keys that can be deleted, k = %d", n, k),
		Columns: []string{"m/r", "m/n", "Eq. (1) as printed", "Eq. (1) corrected", "conditioned", "measured"},
	}
	grid := make([][]float64, len(ratios)) // Eq. (1) by ratio and density
	for i, ratio := range ratios {
		eq1 := lab.Series{Name: fmt.Sprintf("m/r = %d", ratio), Color: i + 1}
		formula := lab.Series{Color: i + 1} // known by the colour of its measurement
		measured := lab.Series{Name: eq1.Name, Color: i + 1, Style: lab.Dots}
		for j, density := range densities {
			e.Progress(i*len(densities)+j, len(ratios)*len(densities))
			s := sized(n, k, density, ratio)
			v := numbersOf(s, n)
			found, err := measureDeletable(ctx, e, s, n)
			if err != nil {
				return nil, err
			}
			grid[i] = append(grid[i], v.eq1())
			x := float64(density)
			eq1.Points = append(eq1.Points, lab.Point{X: x, Y: v.eq1()})
			formula.Points = append(formula.Points, lab.Point{X: x, Y: v.conditioned()})
			measured.Points = append(measured.Points, found.At(x))
			table.Add(ratio, density, 1-v.eq1(), v.eq1(), v.conditioned(), found)
		}
		printed.Series = append(printed.Series, eq1)
		truth.Series = append(truth.Series, formula, measured)
	}
	rises, falls := directions(grid)
	example, err := around90(ctx, e)
	if err != nil {
		return nil, err
	}
	return &lab.Result{
		Plots: []lab.Plot{printed, truth}, Tables: []lab.Table{table, readings90()},
		Checks: append([]lab.Check{rises, falls, eq1Direction(grid)}, example...),
		Notes:  []string{"Eq. (1) is printed without the leading 1 -; what is plotted can only be the complement, which this takes."},
	}, nil
}

func fig2Plot(name, title string) lab.Plot {
	return lab.Plot{
		Name: name, Title: title,
		X: lab.Axis{Label: "bits per key, m/n"}, Y: lab.Axis{Label: "keys that can be deleted", Percent: true, Max: 1.02},
	}
}

// measureDeletable fills filters with random keys and deletes them.
func measureDeletable(ctx context.Context, e *lab.Env, s deletable.Shape, n int) (lab.Estimate, error) {
	trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (outcome, error) {
		keys := lab.RandomKeys(r, n)
		f, err := filled(s, keys)
		if err != nil {
			return outcome{}, err
		}
		return deleteAll(f, keys), nil
	})
	return lab.Figure(trials, deletableShare), err
}

// directions checks what the text says about the curves of Eq. (1), which are
// given by ratio m/r, rising, and density m/n, rising.
func directions(grid [][]float64) (rises, falls lab.Check) {
	better, lower := true, true
	for i, row := range grid {
		for j, p := range row {
			better = better && (i == 0 || p < grid[i-1][j])
			lower = lower && (j == 0 || p > row[j-1])
		}
	}
	const how = "at every point of the table"
	return lab.Holds("more regions, by Eq. (1)", "increasing r results in a larger portion of deletable elements (Sec. III-A)", yesNo(better), better, how),
		lab.Holds("more keys", "as more elements are inserted the deletion capabilities are reduced (Sec. III-A)", yesNo(lower), lower, how)
}

func yesNo(yes bool) string {
	if yes {
		return "so it is"
	}
	return "not everywhere"
}

// eq1Direction holds the printed form of Eq. (1) against the paper's own words.
func eq1Direction(grid [][]float64) lab.Check {
	sparse := grid[0][len(grid[0])-1]
	return lab.Holds("Eq. (1) as printed", "p_d = (1 - (1 - p_c)^(m'/r))^k is the probability of being deletable",
		fmt.Sprintf("%s where nearly all elements can be deleted", lab.Digits(1-sparse, 2)), 1-sparse > 0.5,
		"above one half at the largest m/n and r, as Fig. 2 and the text have it").
		Because("the printed form is the probability that none of the k regions is clean; 1 minus it is meant, and plotted in Fig. 2")
}

// readings90 computes the two places that say 90 % with what the paper leaves
// open: k in Sec. III-A, and whether a region has m/r or m'/r cells.
func readings90() lab.Table {
	t := lab.Table{
		Name: "readings", Title: "Which reading of Eq. (1) gives 90 %?",
		Columns: []string{"k", "Sec. III-A, m/r = 20, m/n = 16", "with m/r cells to a region", "Sec. IV, m = 240, r = 24, n = 22", "with m/r cells to a region"},
		Notes:   []string{"Sec. IV states k = 5, Sec. III-A states none. With m/r in place of m'/r, the looser reading, Sec. IV comes out at 91 %."},
	}
	for k := 3.0; k <= 8; k++ {
		t.Add(k, lab.Percent(theory.DeletableEq1(15_200, k, 1_000, 19)), lab.Percent(theory.DeletableEq1(15_200, k, 1_000, 20)),
			lab.Percent(theory.DeletableEq1(216, k, 22, 9)), lab.Percent(theory.DeletableEq1(216, k, 22, 10)))
	}
	return t
}

// around90 checks the example of Sec. III-A, by the formula and by simulation.
func around90(ctx context.Context, e *lab.Env) ([]lab.Check, error) {
	const printed = "around 90 % at m/r = 20 and m/n = 16 (Sec. III-A)"
	n, k := e.Int("keys"), e.Int("hashes")
	s := sized(n, k, 16, 20)
	v := numbersOf(s, n)
	found, err := measureDeletable(ctx, e, s, n)
	if err != nil {
		return nil, err
	}
	return []lab.Check{
		around(fmt.Sprintf("Eq. (1) for the example, k = %d", k), printed, 0.9, lab.Estimate{Mean: v.eq1(), N: 1}),
		around(fmt.Sprintf("measured for the example, k = %d", k), printed, 0.9, found),
		lab.Predicted("the conditioned formula for the example", "1 - (1 - p)^k", v.conditioned(), found),
	}, nil
}

// around checks a round number that is printed with the word "around": it must be
// right to the nearest ten percent. A value that was computed has no deviation.
func around(name, printed string, value float64, ours lab.Estimate) lab.Check {
	reach, how, text := 0.05+lab.Sigmas*ours.StandardError(), "", lab.Percent(ours.Mean)
	if ours.Deviation > 0 {
		how, text = fmt.Sprintf(", and %d standard errors of ours", lab.Sigmas), ours.String()
	}
	return lab.Holds(name, printed, text, math.Abs(ours.Mean-value) <= reach,
		fmt.Sprintf("%s to %s: \"around\", and a round number, is taken as right to the nearest ten%s", lab.Percent(value-reach), lab.Percent(value+reach), how))
}
