package field

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

var window = lab.Experiment{
	ID:       "field/window",
	Title:    "Sliding windows, and sets that are mostly deleted",
	Question: "What becomes of rate, pinned keys, memory and time when a set is replaced again and again?",
	Says:     "docs/choosing.md: which kinds delete every key, which pin some, which keep the rate. [DlBF10] leaves the dynamics to future work, [EBF21] measures insertions and deletions apart.",
	Params:   lab.Params{lab.Int("keys", 5_000).Full(200_000), lab.Int("turns", 6).Full(10), lab.Int("queries", 20_000).Full(500_000), lab.Int("rounds", 3).Full(7)},
	Run:      runWindow,
	Plots:    []lab.View{windowView("rate", "The rate of a window that slides, asked for 1 %", sliding), windowView("emptied", "The rate when nine tenths were deleted, asked for 1 %", emptying)},
	Claims:   windowClaims(),
}

const (
	sliding  = "sliding"
	emptying = "nine tenths deleted"
)

func windowView(name, title, workload string) lab.View {
	return lab.View{
		Name: name, Title: title, X: "turn", By: "kind", Only: []any{"counting", "dleft", "deletable", "perennial", "evergreen"}, At: []any{"workload", workload},
		XAxis: lab.Axis{Label: "times that all keys were replaced"}, Y: lab.Axis{Label: "false positives", Percent: true}, Curves: []lab.Curve{{Measured: "rate"}},
	}
}

// deleting are the kinds that delete.
func deleting() (list []kinds.Kind) {
	for _, k := range kinds.All() {
		if k.Abilities().Delete {
			list = append(list, k)
		}
	}
	return list
}

// windowClaims tells kinds that keep their rate from those that pin keys. Those that grow
// pin keys of several units only, which these sets do not need.
func windowClaims() []lab.Claim {
	claims := []lab.Claim{
		{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
		{Name: "deletes not found", Printed: "a key that is in the set can be deleted, or is pinned", Where: page, Of: lab.Of("not found"), Is: lab.Zero()},
		{Kind: lab.Question, Name: "time of replacing a key, to that of perennial", Of: lab.Of("step").Over(lab.Of("step", lab.Contenders, "perennial")), Is: lab.Shows()},
	}
	for _, k := range deleting() {
		c := lab.Claim{Name: k.Name + ": rate", Printed: "is kept", Where: page, Of: lab.Of("rate", "kind", k.Name), Is: lab.AtMost(lab.Number(rate))}
		pins := lab.Claim{Name: k.Name + ": pinned keys", Printed: "none", Where: page, Of: lab.Of("pinned", "kind", k.Name), Is: lab.Zero()}
		if k.Pins && !k.Grows {
			c.Printed, c.Of, c.Is = "rises with every turn", lab.Of("rate", "kind", k.Name, "workload", sliding), lab.Rises("turn")
			pins.Printed, pins.Is = "some keys cannot be deleted", lab.In(lab.Span{Dim: "turn", From: 1}, lab.Above(lab.Number(0)))
		}
		claims = append(claims, c)
		if !k.Pins || !k.Grows {
			claims = append(claims, pins)
		}
	}
	return claims
}

func runWindow(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, queries, turns := e.Int("keys"), e.Int("queries"), e.Int("turns")
	return lab.Find(ctx, e, lab.Sweep{
		Name: "turns", Title: "Turn by turn", Dims: []lab.Dim{kindDim(deleting()), lab.Among("workload", sliding, emptying)}, Trace: lab.Count("turn", 0, turns), Trials: 1,
		Follow: func(at lab.At, r *rand.Rand) (out []lab.Figures, err error) {
			s, err := newWindow(at.Name("kind"), n, r)
			for i := 0; err == nil && i <= turns; i++ {
				if i > 0 {
					err = s.turn(n, at.Name("workload") == sliding)
				}
				out, err = append(out, s.look(queries)), errors.Join(err, ctx.Err())
			}
			return out, err
		},
		Metrics: []lab.Metric{
			{Name: "rate", Unit: lab.InPercent, Asked: lab.Each(queries)}, {Name: "false negatives"}, {Name: "pinned", Unit: lab.InPercent}, {Name: "not found"}, {Name: "bits per key"},
		},
	}, lab.Race{
		Name: "times", Title: "Replacing the oldest key, processor time", Contenders: kindDim(deleting()).Names, Rounds: e.Int("rounds"),
		Start: func(_ lab.At, name string, r *rand.Rand) ([]lab.Lap, error) {
			s, err := newWindow(name, n, r)
			return []lab.Lap{{Name: "step", Ops: n, Run: func() error { return s.turn(n, true) }}}, err
		},
	}, lab.Notes{
		"Sliding: the oldest key is deleted and a new one added, as often as there are keys in a turn. Nine tenths deleted: the set is filled up again and then nine tenths of it, the oldest, are deleted.",
		"Only keys that are in the set are deleted. A delete that is pinned leaves the key's bits; the key counts as out of the set. Keys that a full filter refuses are not in it.",
	})
}

// newWindow is a full filter for n keys.
func newWindow(name string, n int, r *rand.Rand) (*subject, error) {
	s, err := newSubject(name, n, rate, walk.NewKeys(r))
	if err != nil {
		return nil, err
	}
	return s, s.add(n)
}

// turn replaces all keys, one by one or nine tenths at once.
func (s *subject) turn(n int, slides bool) error {
	if !slides {
		return errors.Join(s.add(n-(s.next-s.first)), s.delete(n*9/10))
	}
	for range n {
		if err := errors.Join(s.delete(1), s.add(1)); err != nil {
			return err
		}
	}
	return nil
}

// look tells what a filter is like. Pinned are keys that a delete could not take out, as a
// share of those deleted.
func (s *subject) look(queries int) lab.Figures {
	info, n := s.Info(), float64(s.next-s.first)
	return lab.Figures{
		"rate": s.yes(queries), "false negatives": s.denied(), "pinned": float64(s.pinned) / math.Max(1, float64(s.first)), "not found": float64(s.notFound),
		"bits per key": float64(info.FastBits+info.SlowBits) / n,
	}
}

// rate is what filters are asked for where an experiment does not say.
const rate = 0.01

// kindDim varies the kind.
func kindDim(list []kinds.Kind) lab.Dim {
	return lab.AmongAll("kind", list, func(k kinds.Kind) string { return k.Name })
}

// subject is a filter with what it answered. Present are the keys from first to before
// next that it took.
type subject struct {
	filter.Filter
	keys                      walk.Keys
	first, next, asked        int
	out                       map[int]bool // keys that were refused
	refused, pinned, notFound int
}

// newSubject makes a filter of a kind for n keys.
func newSubject(name string, n int, fpr float64, keys walk.Keys) (*subject, error) {
	k, err := kinds.ByName(name)
	if err != nil {
		return nil, err
	}
	f, err := k.New(kinds.Config{Items: uint64(n), FPR: fpr})
	return &subject{Filter: f, keys: keys, out: map[int]bool{}}, err
}

// add adds so many keys. That there is no room is an answer.
func (s *subject) add(count int) error {
	for range count {
		_, err := s.Add(s.keys.Present(s.next))
		if errors.Is(err, filter.ErrFull) {
			s.out[s.next] = true
			s.refused++
		} else if err != nil {
			return fmt.Errorf("key %d: %w", s.next, err)
		}
		s.next++
	}
	return nil
}

// delete deletes the oldest keys. That they are pinned, or not found, is an answer.
func (s *subject) delete(count int) error {
	for range count {
		if i := s.first; s.out[i] {
			delete(s.out, i)
		} else if _, err := s.remove(s.keys.Present(i)); err != nil {
			return fmt.Errorf("deleting key %d: %w", i, err)
		}
		s.first++
	}
	return nil
}

func (s *subject) remove(k filter.Key) (done bool, err error) {
	err = filter.Delete(s.Filter, k)
	switch {
	case errors.Is(err, filter.ErrPinned):
		s.pinned++
		return false, nil
	case errors.Is(err, filter.ErrNotFound):
		s.notFound++
		return false, nil
	}
	return err == nil, err
}

// denied counts the present keys that get a no.
func (s *subject) denied() (n float64) {
	for i := s.first; i < s.next; i++ {
		if !s.out[i] && !s.MayContain(s.keys.Present(i)) {
			n++
		}
	}
	return n
}

// yes is the share of so many absent keys that get one. Each is asked about once.
func (s *subject) yes(queries int) (share float64) {
	for range queries {
		share += lab.OneIf(s.MayContain(s.keys.Absent(s.asked))) / float64(queries)
		s.asked++
	}
	return share
}
