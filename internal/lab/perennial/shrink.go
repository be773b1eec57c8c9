package perennial

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var shrink = lab.Experiment{
	ID:       "perennial/shrink",
	Title:    "Growing, and shrinking to a hundredth",
	Question: "When most keys are deleted again, does the memory come back, and does the rate stay?",
	Says:     "Design 9: at most 17.5 bits per key on the way down to a hundredth, at the asked rate.",
	Quick:    sizeParams(1_000_000, 20, 20_000), Full: sizeParams(50_000_000, 60, 1_000_000),
	Run: runShrink,
}

func runShrink(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	const asked = 0.01
	least, most, sizes := e.Int("least keys"), e.Int("most keys"), e.Int("sizes")
	f, err := perennial.New(perennial.Config{FPR: asked})
	if err != nil {
		return nil, err
	}
	w := &walk{f: f, keys: newKeys(e.Rand(0)), queries: e.Int("queries")}
	up, upBits, err := w.through(ctx, least, most, sizes)
	if err != nil {
		return nil, err
	}
	down, downBits, err := w.through(ctx, most, most/100, sizes)
	if err != nil {
		return nil, err
	}
	return &lab.Result{
		Checks: []lab.Check{
			kept("while growing", asked, up), kept("while shrinking", asked, down),
			noneLost("while growing", up), noneLost("while shrinking", down),
			sized("while shrinking to a hundredth", 1, 17.5, 0, downBits),
		},
		Tables: []lab.Table{tableOf("up", "Growing", up), tableOf("down", "Shrinking", down)},
		Plots: []lab.Plot{
			{
				Name: "bits", Title: "Memory there and back, asked for 1 %", X: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "bits per key", Max: 30},
				Series: []lab.Series{{Name: "growing", Points: bitsOf(upBits), Color: 1}, {Name: "shrinking", Points: bitsOf(downBits), Color: 2}},
			}, {
				Name: "rate", Title: "The rate there and back", X: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "false positives ÷ asked rate"},
				Series: []lab.Series{
					{Name: "growing", Style: lab.Dots, Points: ratesOf(up, asked), Color: 1}, {Name: "shrinking", Style: lab.Dots, Points: ratesOf(down, asked), Color: 2},
				},
			},
		},
		Notes: []string{"Keys are deleted in the order in which they were added."},
	}, nil
}

var churn = lab.Experiment{
	ID:       "perennial/churn",
	Title:    "Random adds and deletes, with repeated keys",
	Question: "Is there ever a false negative, a delete that fails, or a rate above the asked one, when the set swings between few keys and many?",
	Says:     "Package comment: no false negatives, whatever is added and deleted again; a key that is added several times is deleted as often.",
	Quick:    lab.Params{lab.Int("operations", 1_000_000), lab.Int("most keys", 100_000), lab.Int("swing", 1_000), lab.Int("trials", 2)},
	Full:     lab.Params{lab.Int("operations", 25_000_000), lab.Int("most keys", 5_000_000), lab.Int("swing", 10_000), lab.Int("trials", 4)},
	Run:      runChurn,
}

// A swing is what happened in a trial.
type swing struct {
	operations, lost, refused, asked int
	looks                            []look
	present                          []filter.Key
}

func runChurn(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	const asked = 0.01
	trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (swing, error) {
		f, err := perennial.New(perennial.Config{FPR: asked})
		if err != nil {
			return swing{}, err
		}
		return swingOf(ctx, f, r, e.Int("operations"), e.Int("most keys"), e.Int("swing"))
	})
	if err != nil {
		return nil, err
	}
	var all swing
	for _, s := range trials {
		all.operations += s.operations
		all.lost, all.refused, all.asked = all.lost+s.lost, all.refused+s.refused, all.asked+s.asked
		all.looks = append(all.looks, s.looks...)
	}
	return &lab.Result{
		Checks: []lab.Check{
			lab.Holds("false negatives", "none", fmt.Sprintf("%d of %d present keys in %d operations", all.lost, all.asked, all.operations), all.lost == 0 && all.asked > 0, "not one"),
			lab.Holds("deletes of present keys that were refused", "none", fmt.Sprint(all.refused), all.refused == 0, "not one"),
			kept("at the turns", asked, all.looks),
		},
		Tables: []lab.Table{tableOf("turns", "The filter when the set is largest and smallest", all.looks)},
	}, nil
}

// swingOf adds and deletes at random, mostly adding until the set is large and mostly
// deleting until it is a swing smaller.
func swingOf(ctx context.Context, f *perennial.Filter, r *rand.Rand, operations, most, fold int) (s swing, err error) {
	growing := true
	s.operations = operations
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
	info := f.Info()
	l := look{keys: len(s.present), asked: 10_000, says: info.FPR, bits: float64(info.FastBits) / float64(len(s.present))}
	for _, k := range s.present {
		s.ask(f, k)
	}
	for range l.asked {
		if f.MayContain(filter.Key(r.Uint64())) {
			l.found++
		}
	}
	l.lost = s.lost
	s.looks = append(s.looks, l)
}
