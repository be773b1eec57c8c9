package dlbf10

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// setting is a density and a size of regions. They are varied one at a time.
type setting struct{ density, ratio int }

const (
	fixedDensity = 16
	fixedRatio   = 10
)

func (s setting) String() string { return fmt.Sprintf("m/n = %d, m/r = %d", s.density, s.ratio) }

func settings(e *lab.Env) (list []setting) {
	for _, d := range e.Ints("densities, m/n") {
		list = append(list, setting{d, fixedRatio})
	}
	for _, r := range e.Ints("bits per region, m/r") {
		if r != fixedRatio {
			list = append(list, setting{fixedDensity, r})
		}
	}
	return list
}

var densities = []setting{{11, 10}, {16, 10}, {32, 10}, {64, 10}}

var dynamics = lab.Experiment{
	ID:       "dlbf10/dynamics",
	Paper:    "[DlBF10]",
	Title:    "Insertions and deletions without end",
	Question: "How long does a deletable filter stay deletable while keys come and go?",
	Says: "Sec. III: with frequent deletions and insertions \"orphaned bits may fill the filter until collisions have happened in every region, hampering future deletions and increasing the residual fpr\". " +
		"Sec. V leaves open \"the practical limits if we keep doing insertions and deletions\".",
	Quick: dynamicParams(200, 20, 4),
	Full:  dynamicParams(2_000, 100, 16),
	Run:   runDynamics,
	Plots: []lab.View{
		lifePlot("density", "Keys that can be deleted, by density", deletableAxis, lab.Curve{Measured: "deletable"}, densities...),
		lifePlot("regions", "Keys that can be deleted, by the size of regions", deletableAxis, lab.Curve{Measured: "deletable"}, setting{16, 20}, setting{16, 10}, setting{16, 4}, setting{16, 2}),
		lifePlot("rate", "False positives while keys are replaced", lab.Axis{Label: "false positives, fill^k", Log: true, Percent: true}, lab.Curve{Measured: "rate"}, densities...),
	},
	Claims: []lab.Claim{
		{Name: "clean regions", Printed: "orphaned bits may fill the filter until collisions have happened in every region", Where: "Sec. III", Of: lab.Of("clean regions"), Is: lab.Falls("turnovers")},
		{Name: "deletable keys", Printed: "hampering future deletions", Where: "Sec. III", Of: lab.Of("deletable"), Is: lab.Falls("turnovers")},
		{Name: "rate", Printed: "increasing the residual fpr", Where: "Sec. III", Of: lab.Of("rate"), Is: lab.Rises("turnovers")},
		{Kind: lab.Question, Name: "turnovers until half of the keys are pinned", Printed: "the practical limits if we keep doing insertions and deletions", Where: "Sec. V", Of: lab.Of("half-life", "turnovers", 0), Is: lab.Shows()},
		{Kind: lab.Question, Name: "undeleted keys after one turnover, per live key", Printed: "the practical limits if we keep doing insertions and deletions", Where: "Sec. V", Of: lab.Of("undeleted", "turnovers", 1), Is: lab.Shows()},
		noneLost,
	},
}

func lifePlot(name, title string, y lab.Axis, curve lab.Curve, of ...setting) lab.View {
	v := lab.View{Name: name, Title: title, X: "turnovers", By: "setting", XAxis: lab.Axis{Label: "turnovers: times that all keys were replaced"}, Y: y, Curves: []lab.Curve{curve}}
	for _, s := range of {
		v.Only = append(v.Only, s.String())
	}
	return v
}

func dynamicParams(keys, trials, turnovers int) lab.Params {
	return lab.Params{
		lab.Int("keys", keys), lab.Int("hashes", 5), lab.Ints("densities, m/n", 11, 16, 32, 64), lab.Ints("bits per region, m/r", 20, 10, 4, 2),
		lab.Int("turnovers", turnovers), lab.Int("reports per turnover", 4), lab.Int("trials", trials),
	}
}

// moment is the state of a filter at one time.
type moment struct {
	outcome
	rate   float64
	ghosts float64 // keys that should be gone and are still answered with yes, per live key
	half   float64 // at the start: turnovers until half of the keys are pinned; NaN if they never are
}

func runDynamics(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, k, per := e.Int("keys"), e.Int("hashes"), e.Int("reports per turnover")
	var names []string
	var shapes []deletable.Shape
	for _, s := range settings(e) {
		names, shapes = append(names, s.String()), append(shapes, sized(n, k, s.density, s.ratio))
	}
	bySetting, turnovers := lab.Among("setting", names...), lab.Dim{Name: "turnovers"}
	for i := range e.Int("turnovers")*per + 1 {
		turnovers.Values = append(turnovers.Values, float64(i)/float64(per))
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[moment]{
		Name: "life", Title: "Filters whose keys are replaced", Dims: []lab.Dim{bySetting}, Trace: turnovers, Trials: e.Int("trials"),
		Follow: func(at lab.At, r *rand.Rand) ([]moment, error) {
			life, err := live(shapes[at.Int("setting")], n, n/per, len(turnovers.Values), r)
			return halfLife(life, per), err
		},
		Metrics: []lab.Metric[moment]{
			{Name: "deletable", Unit: lab.InPercent, Of: func(m moment) float64 { return m.deletable }, Asked: func(lab.At) int { return n }},
			{Name: "clean regions", Unit: lab.InPercent, Of: func(m moment) float64 { return m.clean }},
			{Name: "rate", Unit: lab.InPercent, Of: func(m moment) float64 { return m.rate }},
			{Name: "undeleted", Of: func(m moment) float64 { return m.ghosts }},
			{Name: "false negatives", Of: func(m moment) float64 { return m.lost }},
			{Name: "half-life", Unit: "turnovers", Of: func(m moment) float64 { return m.half }},
		},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
		"Each step deletes a random key and adds a new one, so that the number of keys stays the same; one turnover is as many steps as there are keys. A key that cannot be deleted is gone for its owner, but is still answered with yes.",
		"A filter that shall last longer needs a lower load or smaller regions; rebuilding it starts over.",
	}}, err
}

// halfLife notes in the first moment when less than half of the keys could be deleted,
// between two looks.
func halfLife(life []moment, perTurnover int) []moment {
	for i := range life {
		life[i].half = math.NaN()
	}
	for i := 1; i < len(life); i++ {
		if before, now := life[i-1].deletable, life[i].deletable; now < 0.5 {
			life[0].half = max(0, float64(i)-(0.5-now)/max(before-now, 1e-9)) / float64(perTurnover)
			break
		}
	}
	return life
}

// live is the life of one filter: looks with so many steps between.
func live(s deletable.Shape, n, steps, looks int, r *rand.Rand) ([]moment, error) {
	keys := lab.RandomKeys(r, n)
	f, err := filled(s, keys)
	if err != nil {
		return nil, err
	}
	var out []moment
	var gone []filter.Key // deleted in vain
	for {
		m, err := look(f, keys, gone)
		if err != nil {
			return nil, err
		}
		if out = append(out, m); len(out) == looks {
			return out, nil
		}
		for range steps {
			i := r.IntN(len(keys))
			if f.Delete(keys[i]) != nil {
				gone = append(gone, keys[i])
			}
			keys[i] = filter.Key(r.Uint64())
			if _, err := f.Add(keys[i]); err != nil {
				return nil, err
			}
		}
	}
}

// look examines a filter and leaves it as it is. Deleting one key never changes
// whether another can be deleted, so a copy from which all are deleted tells.
func look(f *deletable.Filter, keys, gone []filter.Key) (m moment, err error) {
	m.rate = f.Info().FPR
	lost := float64(len(keys) - lab.CountYes(f, keys))
	m.ghosts = float64(lab.CountYes(f, gone)) / float64(len(keys))
	twin, err := deletable.FromRaw(f.Shape(), f.AppendRaw(nil))
	if err != nil {
		return m, err
	}
	m.outcome = deleteAll(twin, keys)
	m.lost += lost
	return m, nil
}
