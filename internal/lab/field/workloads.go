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

var zipf = lab.Experiment{
	ID:       "field/zipf",
	Title:    "Negative queries that repeat",
	Question: "When absent keys are asked about by a Zipf distribution, which rate does a stream of queries see?",
	Says:     "docs/choosing.md: the expected rate, a mean over filters, is at most the one that was asked for. No paper of the five asks about keys that repeat.",
	Quick:    zipfParams(500, 1_000, 2_000), Full: zipfParams(20_000, 2_000, 20_000),
	Run: runZipf,
	Plots: []lab.View{{
		Name: "spread", Title: "How far one filter's stream is off its rate, asked for 1 %", X: "exponent", By: "kind", XAxis: lab.Axis{Label: "exponent of the distribution; 0: every key once"},
		Y: lab.Axis{Label: "mean distance ÷ rate", Log: true}, Curves: []lab.Curve{{Measured: "distance"}},
	}},
	Claims: []lab.Claim{
		{Name: "rate over all filters", Printed: "the mean over filters does not depend on how keys repeat", Where: "docs/findings.md", Of: lab.Of("rate of the stream"), Is: lab.Matches(lab.Of("rate once each", "exponent", 0))},
		{Name: "distance of one filter", Printed: "rises with repetition", Where: "docs/findings.md", Of: lab.Of("distance"), Is: lab.Rises("exponent")},
		{Kind: lab.Question, Name: "distance at exponent 2", Of: lab.Of("distance", "exponent", 2), Is: lab.Shows()},
		{Kind: lab.Question, Name: "false positives that ask again", Of: lab.Of("repeats among false positives", "kind", "blocked"), Is: lab.Shows()},
	},
}

func zipfParams(keys, trials, queries int) lab.Params {
	return lab.Params{lab.Int("keys", keys), lab.Int("universe", 1_000_000), lab.Floats("exponents", 0, 1.05, 1.2, 1.5, 2), lab.Int("queries", queries), lab.Int("trials", trials)}
}

// A stream is what queries about absent keys got. Without repetition it is once.
type stream struct{ rate, once, distance, repeats float64 }

func runZipf(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, universe, queries := e.Int("keys"), uint64(e.Int("universe")), e.Int("queries")
	g, err := lab.Sweep(ctx, e, lab.Spec[stream]{
		Name: "streams", Title: "Streams of queries about absent keys", Dims: []lab.Dim{lab.Among("kind", "bloom", "blocked"), lab.Along("exponent", e.Floats("exponents")...)}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (stream, error) {
			f, err := newKind(at.Name("kind"), n)
			if err != nil {
				return stream{}, err
			}
			w := &walk.Walker{F: f, Keys: walk.NewKeys(r)}
			if err := w.To(n); err != nil {
				return stream{}, err
			}
			next := uint64(0)
			draw := func() uint64 { next++; return next - 1 }
			if s := at.Float("exponent"); s > 0 {
				draw = rand.NewZipf(r, s, 1, universe-1).Uint64
			}
			return ask(f, w.Keys, draw, queries, at.Float("exponent") == 0), ctx.Err()
		},
		Metrics: []lab.Metric[stream]{
			{Name: "rate of the stream", Unit: lab.InPercent, Of: func(s stream) float64 { return s.rate }},
			{Name: "rate once each", Unit: lab.InPercent, Of: func(s stream) float64 { return s.once }},
			{Name: "distance", Of: func(s stream) float64 { return s.distance }},
			{Name: "repeats among false positives", Unit: lab.InPercent, Of: func(s stream) float64 { return s.repeats }},
		},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
		"Each trial is a new filter with new keys, asked for 1 %. The distance is that of the stream's rate from 1 %, divided by 1 %: with exponent 0 every absent key is asked about once.",
	}}, err
}

// ask asks about absent keys by their numbers.
func ask(f filter.Filter, k walk.Keys, draw func() uint64, queries int, once bool) stream {
	seen, yes, again := map[uint64]bool{}, 0, 0
	for range queries {
		i := draw()
		if !f.MayContain(k.Stranger(int(i))) {
			continue
		}
		yes++
		if seen[i] {
			again++
		}
		seen[i] = true
	}
	s := stream{rate: float64(yes) / float64(queries), once: math.NaN(), repeats: float64(again) / float64(max(yes, 1))}
	s.distance = math.Abs(s.rate/0.01 - 1)
	if once {
		s.once = s.rate
	}
	return s
}

var window = lab.Experiment{
	ID:       "field/window",
	Title:    "Sliding windows, and sets that are mostly deleted",
	Question: "What becomes of rate, pinned keys, memory and time when a set is replaced again and again?",
	Says:     "docs/choosing.md: which kinds delete every key, which pin some, which keep the rate. [DlBF10] leaves the dynamics to future work, [EBF21] measures insertions and deletions apart.",
	Quick:    windowParams(5_000, 6, 20_000, 3), Full: windowParams(200_000, 10, 500_000, 7),
	Run: runWindow,
	Plots: []lab.View{
		{
			Name: "rate", Title: "The rate of a window that slides, asked for 1 %", X: "turn", By: "kind", Only: []any{"counting", "dleft", "deletable", "perennial", "evergreen"}, At: []any{"workload", sliding},
			XAxis: lab.Axis{Label: "times that all keys were replaced"}, Y: lab.Axis{Label: "false positives", Percent: true}, Curves: []lab.Curve{{Measured: "rate"}},
		},
		{
			Name: "emptied", Title: "The rate when nine tenths were deleted, asked for 1 %", X: "turn", By: "kind", Only: []any{"counting", "dleft", "deletable", "perennial", "evergreen"}, At: []any{"workload", emptying},
			XAxis: lab.Axis{Label: "times that the set was filled and emptied"}, Y: lab.Axis{Label: "false positives", Percent: true}, Curves: []lab.Curve{{Measured: "rate"}},
		},
	},
	Claims: windowClaims(),
}

const (
	sliding  = "sliding"
	emptying = "nine tenths deleted"
)

func windowParams(keys, turns, queries, rounds int) lab.Params {
	return lab.Params{lab.Int("keys", keys), lab.Int("turns", turns), lab.Int("queries", queries), lab.Int("rounds", rounds)}
}

// deleting are the names of the kinds that delete.
func deleting() (names []string) {
	for _, k := range kinds.All() {
		if k.Abilities().Delete {
			names = append(names, k.Name)
		}
	}
	return names
}

// windowClaims tells kinds that keep their rate from those that pin keys.
func windowClaims() []lab.Claim {
	claims := []lab.Claim{
		{Name: "no false negatives", Printed: "a key that is in the set is always found", Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
		{Name: "deletes not found", Printed: "a key that is in the set can be deleted, or is pinned", Where: "docs/choosing.md", Of: lab.Of("not found"), Is: lab.Zero()},
		{Kind: lab.Question, Name: "time of replacing a key, to that of perennial", Of: lab.Of("step").Over(lab.Of("step", lab.Contenders, "perennial")), Is: lab.Shows()},
	}
	for _, name := range deleting() {
		k, err := kinds.ByName(name)
		if err != nil {
			continue
		}
		c := lab.Claim{Name: name + ": rate", Printed: "is kept", Where: "docs/choosing.md", Of: lab.Of("rate", "kind", name), Is: lab.AtMost(lab.Number(0.01))}
		pins := lab.Claim{Name: name + ": pinned keys", Printed: "none", Where: "docs/choosing.md", Of: lab.Of("pinned", "kind", name), Is: lab.Zero()}
		if k.Pins && k.Grows { // into several units, which these sets do not need
			pins.Kind, pins.Printed, pins.Where, pins.Is = lab.Question, "", "", lab.Shows()
		} else if k.Pins {
			c.Printed, c.Of, c.Is = "rises with every turn", lab.Of("rate", "kind", name, "workload", sliding), lab.Rises("turn")
			pins.Printed, pins.Of, pins.Is = "some keys cannot be deleted", lab.Of("pinned at the end", "kind", name), lab.Above(lab.Number(0))
		}
		claims = append(claims, c, pins)
	}
	return claims
}

// A turn is what a filter was like when its keys had been replaced so often. Pinned are
// keys that a delete could not take out, as a share of the set.
type turn struct{ rate, lost, pinned, end, notFound, refused, bits float64 }

func runWindow(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	names, turns, queries := deleting(), make([]int, e.Int("turns")+1), e.Int("queries")
	for i := range turns {
		turns[i] = i
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[turn]{
		Name: "turns", Title: "Turn by turn", Dims: []lab.Dim{lab.Among("kind", names...), lab.Among("workload", sliding, emptying)}, Trace: lab.Along("turn", turns...), Trials: 1,
		Follow: func(at lab.At, r *rand.Rand) (out []turn, err error) {
			c, err := newChurn(at.Name("kind"), e.Int("keys"), r)
			for i := 0; err == nil && i < len(turns); i++ {
				if i > 0 {
					err = c.turn(at.Name("workload") == sliding)
				}
				t := c.look(queries)
				t.end = math.NaN()
				if i == len(turns)-1 {
					t.end = t.pinned
				}
				out, err = append(out, t), errors.Join(err, ctx.Err())
			}
			return out, err
		},
		Metrics: []lab.Metric[turn]{
			{Name: "rate", Unit: lab.InPercent, Of: func(t turn) float64 { return t.rate }, Asked: func(lab.At) int { return queries }},
			{Name: "false negatives", Of: func(t turn) float64 { return t.lost }},
			{Name: "pinned", Unit: lab.InPercent, Of: func(t turn) float64 { return t.pinned }},
			{Name: "pinned at the end", Unit: lab.InPercent, Of: func(t turn) float64 { return t.end }},
			{Name: "not found", Of: func(t turn) float64 { return t.notFound }},
			{Name: "refused adds", Of: func(t turn) float64 { return t.refused }},
			{Name: "bits per key", Of: func(t turn) float64 { return t.bits }},
		},
	})
	if err != nil {
		return nil, err
	}
	times, err := lab.Race{
		Name: "times", Title: "Replacing the oldest key, processor time", Contenders: names, Rounds: e.Int("rounds"),
		Start: func(_ lab.At, name string, r *rand.Rand) ([]lab.Lap, error) {
			c, err := newChurn(name, e.Int("keys"), r)
			return []lab.Lap{{Name: "step", Ops: e.Int("keys"), Run: func() error { return c.turn(true) }}}, err
		},
	}.Run(ctx, e)
	return &lab.Result{Grids: []*lab.Grid{g, times}, Notes: []string{
		"Sliding: the oldest key is deleted and a new one added, as often as there are keys in a turn. Nine tenths deleted: the set is filled up again and then nine tenths of it, the oldest, are deleted.",
		"Only keys that are in the set are deleted. A delete that is pinned leaves the key's bits; the key counts as out of the set.",
	}}, err
}

// churn is a filter whose oldest keys make room for new ones.
type churn struct {
	f                         filter.Filter
	k                         walk.Keys
	n, first, next            int
	asked                     int
	out                       map[int]bool // keys that were refused
	pinned, notFound, refused int
}

func newChurn(name string, n int, r *rand.Rand) (*churn, error) {
	f, err := newKind(name, n)
	if err != nil {
		return nil, err
	}
	c := &churn{f: f, k: walk.NewKeys(r), n: n, out: map[int]bool{}}
	return c, c.add(n)
}

// turn replaces all keys, one by one or nine tenths at once.
func (c *churn) turn(slides bool) error {
	if !slides {
		return errors.Join(c.add(c.n-(c.next-c.first)), c.delete(c.n*9/10))
	}
	for range c.n {
		if err := errors.Join(c.delete(1), c.add(1)); err != nil {
			return err
		}
	}
	return nil
}

func (c *churn) add(count int) error {
	for range count {
		_, err := c.f.Add(c.k.Member(c.next))
		if errors.Is(err, filter.ErrFull) {
			c.out[c.next] = true
			c.refused++
		} else if err != nil {
			return fmt.Errorf("key %d: %w", c.next, err)
		}
		c.next++
	}
	return nil
}

func (c *churn) delete(count int) error {
	for range count {
		i := c.first
		c.first++
		if c.out[i] {
			delete(c.out, i)
			continue
		}
		err := filter.Delete(c.f, c.k.Member(i))
		switch {
		case errors.Is(err, filter.ErrPinned):
			c.pinned++
		case errors.Is(err, filter.ErrNotFound):
			c.notFound++
		case err != nil:
			return fmt.Errorf("deleting key %d: %w", i, err)
		}
	}
	return nil
}

func (c *churn) look(queries int) turn {
	yes, lost := 0, 0
	for range queries {
		if c.f.MayContain(c.k.Stranger(c.asked)) {
			yes++
		}
		c.asked++
	}
	for i := c.first; i < c.next; i++ {
		if !c.out[i] && !c.f.MayContain(c.k.Member(i)) {
			lost++
		}
	}
	info, n := c.f.Info(), float64(c.n)
	return turn{
		rate: float64(yes) / float64(queries), lost: float64(lost), pinned: float64(c.pinned) / n, notFound: float64(c.notFound), refused: float64(c.refused),
		bits: float64(info.FastBits+info.SlowBits) / float64(c.next-c.first),
	}
}
