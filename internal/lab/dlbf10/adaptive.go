package dlbf10

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var adaptive = lab.Experiment{
	ID:       "dlbf10/adaptive",
	Paper:    "[DlBF10]",
	Title:    "Regions that follow the collisions",
	Question: "What is gained if the number of regions, or which cells belong to them, is chosen for each filter after its collisions are known?",
	Says:     "Sec. V leaves open \"a dynamic adaptation of the amount and the bit range of the deletable regions in function on how collisions happen\".",
	Quick:    adaptiveParams(100, 4),
	Full:     adaptiveParams(paperTrials, 8),
	Run:      runAdaptive,
}

func adaptiveParams(trials, layoutBits int) lab.Params {
	return lab.Params{
		lab.Int("bits", 240), lab.Int("hashes", 5), lab.Ints("keys", 10, 16, 22, 28, 34), lab.Ints("regions", 6, 12, 18, 24, 36, 48, 60, 120),
		lab.Float("wished deletability", 0.9), lab.Ints("bits for the regions", 24, 60), lab.Int("most bits for the layout", layoutBits), lab.Int("trials", trials),
	}
}

func runAdaptive(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	result := &lab.Result{Notes: []string{
		"Amount: the sender builds the filter with each number of regions of a menu and sends the one with the fewest that lets the wished share of its keys be deleted. Which one it was takes bits of its own; they are taken out of the filter.",
		"Range: the cells of a region need not be neighbours. Sender and receiver know a list of layouts, and the sender takes the one in which most keys can be deleted; its number is paid for with marks.",
	}}
	if err := amounts(ctx, e, result); err != nil {
		return nil, err
	}
	return result, ranges(ctx, e, result)
}

// version is a filter with one number of regions.
type version struct{ regions, deletable, rate float64 }

// menu is what one trial has to choose from: fixed numbers of regions with all
// bits, and the chosen one of those with some bits less.
type menu struct {
	fixed  []version
	chosen version
}

// amounts varies the number of regions.
func amounts(ctx context.Context, e *lab.Env, result *lab.Result) error {
	wish, regions := e.Float("wished deletability"), e.Ints("regions")
	plot := lab.Plot{
		Name: "amount", Title: fmt.Sprintf("Keys that can be deleted from %d bits, by number of regions", e.Int("bits")),
		X: lab.Axis{Label: "regions r"}, Y: lab.Axis{Label: "keys that can be deleted", Percent: true, Max: 1.02},
	}
	table := lab.Table{
		Name: "amounts", Title: fmt.Sprintf("Wished: %s of the keys deletable", lab.Percent(wish)),
		Columns: []string{"n", "fixed r", "deletable", "filters that reach it", "rate", "adaptive r, mean", "deletable, adaptive", "filters that reach it, adaptive", "rate, adaptive"},
		Notes:   []string{"The fixed r is the smallest of the menu with which the wish is met on average, or the best if there is none."},
	}
	for i, n := range e.Ints("keys") {
		e.Progress(i, len(e.Ints("keys"))+len(e.Ints("bits for the regions")))
		trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (menu, error) {
			return buildMenu(e, lab.RandomKeys(r, n), regions, wish)
		})
		if err != nil {
			return err
		}
		series := lab.Series{Name: fmt.Sprintf("n = %d", n), Style: lab.LinePoints}
		for j := range regions {
			series.Points = append(series.Points, lab.Figure(trials, func(m menu) float64 { return m.fixed[j].deletable }).At(float64(regions[j])))
		}
		plot.Series = append(plot.Series, series)
		row, check := compareAmounts(n, trials, wish)
		table.Add(row...)
		result.Checks = append(result.Checks, check)
	}
	result.Plots, result.Tables = append(result.Plots, plot), append(result.Tables, table)
	return nil
}

// buildMenu builds one filter for each number of regions, twice.
func buildMenu(e *lab.Env, keys []filter.Key, regions []int, wish float64) (m menu, err error) {
	number := bits.Len(uint(len(regions) - 1)) // bits that tell which
	best := -1.0
	for _, r := range regions {
		s := deletable.Shape{Bits: uint64(e.Int("bits")), Hashes: e.Int("hashes"), Regions: uint64(r)}
		v, err := buildVersion(s, keys)
		if err != nil {
			return m, err
		}
		m.fixed = append(m.fixed, v)
		s.Bits -= uint64(number)
		s.Regions = min(s.Regions, s.Bits/2)
		if v, err = buildVersion(s, keys); err != nil {
			return m, err
		}
		if best < wish && v.deletable > best {
			m.chosen, best = v, v.deletable
		}
	}
	return m, nil
}

func buildVersion(s deletable.Shape, keys []filter.Key) (version, error) {
	f, err := filled(s, keys)
	if err != nil {
		return version{}, err
	}
	rate := f.Info().FPR
	return version{float64(s.Regions), deleteAll(f, keys).deletable, rate}, nil
}

// compareAmounts puts the best fixed number of regions beside the adaptive one.
func compareAmounts(n int, trials []menu, wish float64) (row []any, c lab.Check) {
	best := 0
	mean := func(j int) float64 {
		return lab.Figure(trials, func(m menu) float64 { return m.fixed[j].deletable }).Mean
	}
	for j := range trials[0].fixed {
		if mean(best) < wish && mean(j) > mean(best) {
			best = j
		}
	}
	fixed := func(m menu) version { return m.fixed[best] }
	chosen := func(m menu) version { return m.chosen }
	row = append([]any{n, trials[0].fixed[best].regions}, summary(trials, fixed, wish)...)
	row = append(append(row, lab.Figure(trials, func(m menu) float64 { return m.chosen.regions })), summary(trials, chosen, wish)...)
	a, b := reached(trials, fixed, wish), reached(trials, chosen, wish)
	return row, lab.Show(fmt.Sprintf("filters with n = %d in which %s can be deleted", n, lab.Percent(wish)),
		fmt.Sprintf("%s with r = %.0f, %s with adaptive r", share(a, len(trials)), trials[0].fixed[best].regions, share(b, len(trials))))
}

// summary is the mean deletability, how many filters reach the wish, and the rate.
func summary(trials []menu, of func(menu) version, wish float64) []any {
	return []any{
		lab.Figure(trials, func(m menu) float64 { return of(m).deletable }), share(reached(trials, of, wish), len(trials)),
		lab.Figure(trials, func(m menu) float64 { return of(m).rate }),
	}
}

func reached(trials []menu, of func(menu) version, wish float64) int {
	return sumOf(trials, func(m menu) int { return oneIf(of(m).deletable >= wish) })
}

// ranges varies which cells belong to a region, for the paper's 22 keys.
func ranges(ctx context.Context, e *lab.Env, result *lab.Result) error {
	const n = 22
	table := lab.Table{
		Name: "ranges", Title: fmt.Sprintf("Which cells a region has, n = %d", n),
		Columns: []string{"bits for the regions", "layout", "of these for the layout", "deletable", "set bits that can be cleared"},
	}
	for i, budget := range e.Ints("bits for the regions") {
		e.Progress(len(e.Ints("keys"))+i, len(e.Ints("keys"))+len(e.Ints("bits for the regions")))
		ways := rangings(e.Int("bits")-budget, budget, e.Int("most bits for the layout"))
		trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) ([]gain, error) {
			p, err := takePicture(e.Int("bits")-budget, e.Int("hashes"), 0, lab.RandomKeys(r, n))
			if err != nil {
				return nil, err
			}
			gains := make([]gain, len(ways))
			for j, w := range ways {
				gains[j] = w.gain(p)
			}
			return gains, nil
		})
		if err != nil {
			return err
		}
		var found []lab.Estimate
		for j, w := range ways {
			found = append(found, lab.Figure(trials, func(g []gain) float64 { return g[j].deletable }))
			table.Add(budget, w.name, w.cost, found[j], lab.Figure(trials, func(g []gain) float64 { return g[j].free }))
		}
		result.Checks = append(result.Checks, lab.Show(fmt.Sprintf("%d bits for the regions, n = %d", budget, n),
			fmt.Sprintf("deletable %s as in the paper, %s with the best of %.0f layouts, %s with clean runs",
				found[0], found[len(ways)-2], math.Exp2(float64(ways[len(ways)-2].cost)), found[len(ways)-1])))
	}
	result.Tables = append(result.Tables, table)
	return nil
}
