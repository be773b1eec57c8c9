package growth

import (
	"context"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var churn = lab.Experiment{
	ID:       "perennial/churn",
	Title:    "Random adds and deletes, with repeated keys",
	Question: "Is there ever a false negative, a delete that fails, or a rate above the asked one, when the set swings between few keys and many?",
	Says:     "Package comment: no false negatives, whatever is added and deleted again; a key that is added several times is deleted as often.",
	Quick:    lab.Params{lab.Int("operations", 1_000_000), lab.Int("most keys", 100_000), lab.Int("swing", 1_000), lab.Int("trials", 2)},
	Full:     lab.Params{lab.Int("operations", 25_000_000), lab.Int("most keys", 5_000_000), lab.Int("swing", 10_000), lab.Int("trials", 4)},
	Run:      runChurn,
	Claims: []lab.Claim{
		{Name: "no false negatives", Printed: found, Where: comment, Of: lab.Of("false negatives"), Is: lab.Zero(), Show: []lab.Pick{lab.Of("present keys asked")}},
		{Name: "no refused deletes of present keys", Printed: "a key that is added several times is deleted as often", Where: comment, Of: lab.Of("refused deletes"), Is: lab.Zero()},
		{Name: "rate at the turns", Printed: keeps, Where: comment, Of: lab.Of("rate at the turns"), Is: lab.AtMost(lab.Number(0.01))},
		{Name: "rate by Info at the turns", Printed: keeps, Where: comment, Of: lab.Of("highest rate by Info"), Is: lab.AtMost(lab.Number(0.01))},
	},
}

// A swing is what happened in a trial.
type swing struct {
	lost, refused, asked, turns int
	rate, says                  float64 // the mean of all turns, and the highest by Info
	present                     []filter.Key
}

// turnQueries is how many absent keys are asked for at a turn, of which there are two at least.
const turnQueries = 10_000

func runChurn(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	count := func(name string, of func(s swing) int) lab.Metric[swing] {
		return lab.Metric[swing]{Name: name, Of: func(s swing) float64 { return float64(of(s)) }}
	}
	trials := make([]int, e.Int("trials"))
	for i := range trials {
		trials[i] = i + 1
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[swing]{
		Name: "swings", Title: "All trials", Dims: []lab.Dim{lab.Along("trial", trials...)}, Trials: 1,
		Trial: func(_ lab.At, r *rand.Rand) (swing, error) {
			f, err := perennial.New(perennial.Config{FPR: 0.01})
			if err != nil {
				return swing{}, err
			}
			return swingOf(ctx, f, r, e.Int("operations"), e.Int("most keys"), e.Int("swing"))
		},
		Metrics: []lab.Metric[swing]{
			count("present keys asked", func(s swing) int { return s.asked }),
			count("false negatives", func(s swing) int { return s.lost }),
			count("refused deletes", func(s swing) int { return s.refused }),
			count("turns", func(s swing) int { return s.turns }),
			{Name: "rate at the turns", Unit: lab.InPercent, Of: func(s swing) float64 { return s.rate }, Asked: func(lab.At) int { return 2 * turnQueries }},
			{Name: "highest rate by Info", Unit: lab.InPercent, Of: func(s swing) float64 { return s.says }},
		},
	})
	return &lab.Result{Grids: []*lab.Grid{g}}, err
}

// swingOf adds and deletes at random, mostly adding until the set is large and mostly
// deleting until it is a swing smaller.
func swingOf(ctx context.Context, f *perennial.Filter, r *rand.Rand, operations, most, fold int) (s swing, err error) {
	growing := true
	for i := range operations {
		if i%4096 == 0 && ctx.Err() != nil {
			return s, ctx.Err()
		}
		if n := len(s.present); growing && n >= most || !growing && n <= most/fold {
			growing = !growing
			s.turn(f, r)
		}
		if r.IntN(4) > 0 == growing || len(s.present) == 0 {
			if err := s.add(f, r); err != nil {
				return s, err
			}
		} else {
			s.delete(f, r)
		}
		if n := len(s.present); n > 0 {
			s.ask(f, s.present[r.IntN(n)])
		}
	}
	s.turn(f, r)
	return s, nil
}

// add adds a key, one time in eight one that is there already.
func (s *swing) add(f *perennial.Filter, r *rand.Rand) error {
	k := filter.Key(r.Uint64())
	if n := len(s.present); n > 0 && r.IntN(8) == 0 {
		k = s.present[r.IntN(n)]
	}
	s.present = append(s.present, k)
	_, err := f.Add(k)
	return err
}

func (s *swing) delete(f *perennial.Filter, r *rand.Rand) {
	last := len(s.present) - 1
	i := r.IntN(last + 1)
	if f.Delete(s.present[i]) != nil {
		s.refused++
	}
	s.present[i] = s.present[last]
	s.present = s.present[:last]
}

func (s *swing) ask(f *perennial.Filter, k filter.Key) {
	s.asked++
	if !f.MayContain(k) {
		s.lost++
	}
}

// turn asks for all present keys and for absent ones.
func (s *swing) turn(f *perennial.Filter, r *rand.Rand) {
	s.turns++
	for _, k := range s.present {
		s.ask(f, k)
	}
	s.says = max(s.says, f.Info().FPR)
	s.rate += (lab.YesShare(f, lab.RandomKeys(r, turnQueries)) - s.rate) / float64(s.turns)
}
