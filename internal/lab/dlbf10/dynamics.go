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

func (s setting) String() string { return fmt.Sprintf("m/n = %d, m/r = %d", s.density, s.ratio) }

var settings = []setting{{11, 10}, {16, 10}, {32, 10}, {64, 10}, {16, 20}, {16, 4}, {16, 2}}

var dynamics = lab.Experiment{
	ID:       "dlbf10/dynamics",
	Paper:    paper,
	Title:    "Insertions and deletions without end",
	Question: "How long does a deletable filter stay deletable while keys come and go?",
	Says: "Sec. III: with frequent deletions and insertions \"orphaned bits may fill the filter until collisions have happened in every region, hampering future deletions and increasing the residual fpr\". " +
		"Sec. V leaves open \"the practical limits if we keep doing insertions and deletions\".",
	Quick: dynamicParams(200, 20, 4),
	Full:  dynamicParams(2_000, 100, 16),
	Run:   runDynamics,
	Plots: []lab.View{lifePlot("density", "by density", settings[:4]...), lifePlot("regions", "by the size of regions", settings[1], settings[4], settings[5], settings[6])},
	Claims: []lab.Claim{
		{Name: "clean regions", Printed: "orphaned bits may fill the filter until collisions have happened in every region", Where: "Sec. III", Of: lab.Of("clean regions"), Is: lab.Falls("turnovers")},
		{Name: "deletable keys", Printed: "hampering future deletions", Where: "Sec. III", Of: lab.Of("deletable"), Is: lab.Falls("turnovers")},
		{Name: "rate", Printed: "increasing the residual fpr", Where: "Sec. III", Of: lab.Of("rate"), Is: lab.Rises("turnovers")},
		{Kind: lab.Question, Name: "turnovers until half of the keys are pinned", Printed: "the practical limits if we keep doing insertions and deletions", Where: "Sec. V", Of: lab.Of("half-life", "turnovers", 0), Is: lab.Shows()},
		noneLost,
	},
}

func lifePlot(name, title string, of ...setting) lab.View {
	v := lab.View{Name: name, Title: "Keys that can be deleted, " + title, X: "turnovers", By: "setting", XAxis: lab.Axis{Label: "turnovers: times that all keys were replaced"}, Y: deletableAxis, Curves: []lab.Curve{{Measured: "deletable"}}}
	for _, s := range of {
		v.Only = append(v.Only, s.String())
	}
	return v
}

func dynamicParams(keys, trials, turnovers int) lab.Params {
	return lab.Params{
		lab.Int("keys", keys), lab.Int("hashes", 5), lab.Int("turnovers", turnovers), lab.Int("reports per turnover", 4), lab.Int("trials", trials),
	}
}

// moment is the state of a filter at one time.
type moment struct {
	outcome
	rate float64
	half float64 // at the start: turnovers until half of the keys are pinned; NaN if they never are
}

func runDynamics(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, per := e.Int("keys"), e.Int("reports per turnover")
	turnovers := lab.Dim{Name: "turnovers"}
	for i := range e.Int("turnovers")*per + 1 {
		turnovers.Values = append(turnovers.Values, float64(i)/float64(per))
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[moment]{
		Name: "life", Title: "Filters whose keys are replaced", Dims: []lab.Dim{lab.AmongAll("setting", settings, setting.String)}, Trace: turnovers, Trials: e.Int("trials"),
		Follow: func(at lab.At, r *rand.Rand) ([]moment, error) {
			s := settings[at.Int("setting")]
			life, err := live(sized(n, e.Int("hashes"), s.density, s.ratio), n, n/per, len(turnovers.Values), r)
			return halfLife(life, per), err
		},
		Metrics: []lab.Metric[moment]{
			{Name: "deletable", Unit: lab.InPercent, Of: func(m moment) float64 { return m.deletable }, Asked: lab.Each(n)},
			{Name: "clean regions", Unit: lab.InPercent, Of: func(m moment) float64 { return m.clean }},
			{Name: "rate", Unit: lab.InPercent, Of: func(m moment) float64 { return m.rate }},
			{Name: "false negatives", Of: func(m moment) float64 { return m.lost }},
			{Name: "half-life", Unit: "turnovers", Of: func(m moment) float64 { return m.half }},
		},
		Notes: []string{"Each step deletes a random key and adds a new one; one turnover is as many steps as there are keys. A key that cannot be deleted is gone for its owner, but is still answered with yes."},
	})
	return &lab.Result{Grids: []*lab.Grid{g}}, err
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
	for {
		m, err := look(f, keys)
		if err != nil {
			return nil, err
		}
		if out = append(out, m); len(out) == looks {
			return out, nil
		}
		for range steps {
			i := r.IntN(len(keys))
			_ = f.Delete(keys[i]) // refused or not, the key is no longer in the set
			keys[i] = filter.Key(r.Uint64())
			if _, err := f.Add(keys[i]); err != nil {
				return nil, err
			}
		}
	}
}

// look examines a filter and leaves it as it is. Deleting one key never changes whether
// another can be deleted, so a copy from which all are deleted tells.
func look(f *deletable.Filter, keys []filter.Key) (m moment, err error) {
	m.rate = f.Info().FPR
	lost := float64(len(keys) - lab.CountYes(f, keys))
	twin, err := deletable.FromRaw(f.Shape(), f.AppendRaw(nil))
	if err != nil {
		return m, err
	}
	m.outcome = deleteAll(twin, keys)
	m.lost += lost
	return m, nil
}
