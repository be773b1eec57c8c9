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
}

func dynamicParams(keys, trials, turnovers int) lab.Params {
	return lab.Params{
		lab.Int("keys", keys), lab.Int("hashes", 5), lab.Ints("densities, m/n", 11, 16, 32, 64), lab.Ints("bits per region, m/r", 20, 10, 4, 2),
		lab.Int("turnovers", turnovers), lab.Int("reports per turnover", 4), lab.Int("trials", trials),
	}
}

// The settings that are varied one at a time.
const (
	fixedDensity = 16
	fixedRatio   = 10
)

// life is one setting with what became of it.
type life struct {
	name  string
	shape deletable.Shape
	n     int
	every float64  // turnovers between two reports
	state []report // means, one per report; the first is before any replacement
}

// report is the state of filters at one time.
type report struct{ deletable, clean, rate, ghosts lab.Estimate }

// moment is that of one filter.
type moment struct {
	deletable, clean, rate float64
	ghosts                 float64 // keys that should be gone and are still answered with yes, per live key
	denied                 int
}

func runDynamics(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, k, every := e.Int("keys"), e.Int("hashes"), 1/float64(e.Int("reports per turnover"))
	var byDensity, byRatio []*life
	for _, d := range e.Ints("densities, m/n") {
		byDensity = append(byDensity, &life{name: fmt.Sprintf("m/n = %d", d), shape: sized(n, k, d, fixedRatio), n: n, every: every})
	}
	for _, r := range e.Ints("bits per region, m/r") {
		byRatio = append(byRatio, &life{name: fmt.Sprintf("m/r = %d", r), shape: sized(n, k, fixedDensity, r), n: n, every: every})
	}
	all := append(append([]*life{}, byDensity...), byRatio...)
	denied, asked := 0, 0
	for i, l := range all {
		e.Progress(i, len(all))
		d, a, err := l.run(ctx, e)
		if err != nil {
			return nil, err
		}
		denied, asked = denied+d, asked+a
	}
	limits := lifeTable(byDensity, byRatio, e)
	return &lab.Result{
		Plots: []lab.Plot{
			lifePlot("density", fmt.Sprintf("Keys that can be deleted, m/r = %d; lines: prediction", fixedRatio), byDensity),
			lifePlot("regions", fmt.Sprintf("Keys that can be deleted, m/n = %d; lines: prediction", fixedDensity), byRatio),
			wearPlot(byDensity),
		},
		Tables: []lab.Table{limits}, Checks: append(lifeChecks(all), noneDenied(denied, asked)),
		Notes: []string{
			"Each step deletes a random key and adds a new one, so that the number of keys stays the same; one turnover is as many steps as there are keys. A key that cannot be deleted is gone for its owner, but is still answered with yes.",
			"The prediction is a Markov chain for the set cells of a clean region, exact for large filters.",
		},
	}, nil
}

// run simulates and takes the means. It returns how many of the live keys were
// denied, and how many were asked about.
func (l *life) run(ctx context.Context, e *lab.Env) (denied, asked int, err error) {
	reports := e.Int("turnovers")*e.Int("reports per turnover") + 1
	trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) ([]moment, error) { return l.live(r, reports) })
	if err != nil {
		return 0, 0, err
	}
	for i := range reports {
		at := func(figure func(moment) float64) lab.Estimate {
			return lab.Figure(trials, func(t []moment) float64 { return figure(t[i]) })
		}
		l.state = append(l.state, report{
			deletable: at(func(m moment) float64 { return m.deletable }), clean: at(func(m moment) float64 { return m.clean }),
			rate: at(func(m moment) float64 { return m.rate }), ghosts: at(func(m moment) float64 { return m.ghosts }),
		})
		denied += sumOf(trials, func(t []moment) int { return t[i].denied })
	}
	return denied, reports * len(trials) * l.n, nil
}

// live is the life of one filter.
func (l *life) live(r *rand.Rand, reports int) ([]moment, error) {
	keys := lab.RandomKeys(r, l.n)
	f, err := filled(l.shape, keys)
	if err != nil {
		return nil, err
	}
	var out []moment
	var gone []filter.Key // deleted in vain
	steps := int(math.Round(l.every * float64(l.n)))
	for {
		m, err := look(f, keys, gone)
		if err != nil {
			return nil, err
		}
		if out = append(out, m); len(out) == reports {
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
	for _, k := range keys {
		m.denied += oneIf(!f.MayContain(k))
	}
	m.ghosts = lab.YesShare(f, gone) * float64(len(gone)) / float64(len(keys))
	twin, err := deletable.FromRaw(f.Shape(), f.AppendRaw(nil))
	if err != nil {
		return m, err
	}
	o := deleteAll(twin, keys)
	m.deletable, m.clean = o.deletable, o.clean
	m.denied += o.denied
	return m, nil
}
