package growth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

var capacities, capacityClaims = lab.Constants("capacity", "Keys that a compact filter can hold",
	lab.Constant{Name: "keys that 24 bits can hold at 1 %", Printed: "4.3e6", Where: comment, Value: capacity(0.01, 24)},
	lab.Constant{Name: "keys that 32 bits can hold at 1 %", Printed: "1.1e9", Where: comment, Value: capacity(0.01, 32)})

var compact = lab.Experiment{
	ID:       "evergreen/compact",
	Title:    "Compact filters and their limit",
	Question: "What do shorter fingerprints save, and what becomes less than exact?",
	Says: "Package comment: \"when they are a tenth of the rate the filter is full and Add answers ErrFull. Shape.Capacity and Info tell in advance when that is: 1.1e9 keys for 32 bits at 1 %, 4.3e6 for 24\"; " +
		"\"a key that was never added is refused but for the n of 2^(width+8) that look like one that was\"; \"as many Deletes are owed\".",
	Quick: lab.Params{lab.Float("rate", 0.001), lab.Int("width", 24), lab.Int("queries", 1_000_000)},
	Full:  lab.Params{lab.Float("rate", 0.01), lab.Int("width", 24), lab.Int("queries", 20_000_000)},
	Run:   runCompact,
	Claims: append(capacityClaims,
		lab.Claim{Name: "keys until Add answers ErrFull", Printed: "as many as Info tells in advance", Where: comment, Of: lab.Of("keys when full"), Is: lab.Matches(lab.Of("keys by Info"))},
		lab.Claim{Name: "keys of the full filter, saved and read", Printed: "what is saved can be read again", Where: "README", Of: lab.Of("keys read again"), Is: lab.Matches(lab.Of("keys when full"))},
		lab.Claim{Name: "rate of the full filter", Printed: keeps, Where: comment, Of: lab.Of("rate when full"), Is: lab.AtMost(lab.Of("asked"))},
		lab.Claim{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
		lab.Claim{Name: "strangers that Contains mistakes for members", Printed: "n/2^(width+8)", Where: comment, Of: lab.Of("mistaken by Contains"), Is: lab.Matches(lab.Of("n/2^(width+8)"))},
		lab.Claim{
			Name: "strangers that Delete takes out", Printed: "n/2^(width+8)", Where: comment, Of: lab.Of("taken out by Delete"), Is: lab.Matches(lab.Of("n/2^(width+8)")),
			Show: []lab.Pick{lab.Of("members lost by that")},
		},
		lab.Claim{Name: "deletes owed by a key that is added three times", Printed: "3 (as many Deletes are owed)", Where: comment, Of: lab.Of("deletes owed"), Is: lab.Rounds()}),
}

// A brim is what a full compact filter was like. Counts but for shares.
type brim struct {
	told, held, again, owed            float64
	yes, denied, mistaken, taken, lost float64
}

func runCompact(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	queries := e.Int("queries")
	answers := lab.Each(queries)
	metric := func(name string, unit lab.Unit, of func(b brim) float64, asked func(lab.At) int) lab.Metric[brim] {
		return lab.Metric[brim]{Name: name, Unit: unit, Of: of, Asked: asked}
	}
	shape, err := evergreen.Config{FPR: e.Float("rate"), Width: e.Int("width")}.Shape()
	if err != nil {
		return nil, err
	}
	full, err := lab.Sweep(ctx, e, lab.Spec[brim]{
		Name: "full", Title: fmt.Sprintf("A filter with fingerprints of %d bits that is full", e.Int("width")), Trials: 1,
		Trial: func(_ lab.At, r *rand.Rand) (brim, error) { return fill(ctx, shape, walk.NewKeys(r), queries) },
		Metrics: []lab.Metric[brim]{
			metric("keys by Info", lab.Plain, func(b brim) float64 { return b.told }, nil),
			metric("keys when full", lab.Plain, func(b brim) float64 { return b.held }, nil),
			metric("keys read again", lab.Plain, func(b brim) float64 { return b.again }, nil),
			metric("deletes owed", lab.Plain, func(b brim) float64 { return b.owed }, nil),
			metric("rate when full", lab.InPercent, func(b brim) float64 { return b.yes }, answers),
			metric("false negatives", lab.InPercent, func(b brim) float64 { return b.denied }, nil),
			metric("mistaken by Contains", lab.InPercent, func(b brim) float64 { return b.mistaken }, answers),
			metric("taken out by Delete", lab.InPercent, func(b brim) float64 { return b.taken }, func(lab.At) int { return min(queries, int(shape.Capacity())) }),
			metric("members lost by that", lab.Plain, func(b brim) float64 { return b.lost }, nil),
		},
		Formulas: []lab.Formula{
			{Name: "asked", Unit: lab.InPercent, Of: func(lab.At) float64 { return shape.FPR }},
			{Name: "n/2^(width+8)", Unit: lab.InPercent, Of: func(lab.At) float64 { return float64(shape.Capacity()) * math.Exp2(-float64(shape.Width+8)) }},
		},
	})
	return &lab.Result{Grids: []*lab.Grid{capacities, full}}, err
}

// capacity is how many keys a shape can hold, NaN if there is no limit.
func capacity(rate float64, width int) float64 {
	s, err := evergreen.Config{FPR: rate, Width: width}.Shape()
	if err != nil || s.Exact() {
		return math.NaN()
	}
	return float64(s.Capacity())
}

// fill adds keys until one is refused, and asks the full filter.
func fill(ctx context.Context, s evergreen.Shape, k walk.Keys, queries int) (b brim, err error) {
	f, err := evergreen.Build(s)
	if err != nil {
		return b, err
	}
	w := &walk.Walker{F: f, Keys: k}
	b.told = float64(f.Info().Capacity)
	for err == nil {
		err = errors.Join(w.To(w.Len()+10_000), ctx.Err())
	}
	if !errors.Is(err, filter.ErrFull) {
		return b, fmt.Errorf("the filter is not full with %d keys: %w", w.Len(), err)
	}
	look := w.Look(queries)
	b.held, b.yes, b.denied = float64(w.Len()), look.Yes, float64(w.Denied(w.Len()))
	for i := range queries {
		if f.Contains(k.Stranger(-1 - i)) {
			b.mistaken += 1 / float64(queries)
		}
	}
	if b.again, err = saved(f); err != nil {
		return b, err
	}
	if b.owed, err = owed(s, k.Member(0)); err != nil {
		return b, err
	}
	return b, b.takeOut(w, min(queries, w.Len()))
}

// saved is how many keys a filter has that was saved and read.
func saved(f *evergreen.Filter) (float64, error) {
	var file bytes.Buffer
	if _, err := f.Snapshot().WriteTo(&file); err != nil {
		return 0, err
	}
	again, err := evergreen.Read(&file)
	if err != nil {
		return 0, err
	}
	return float64(again.Len()), nil
}

// owed adds a key three times and counts how often it can be deleted.
func owed(s evergreen.Shape, k filter.Key) (deletes float64, err error) {
	f, err := evergreen.Build(s)
	if err != nil {
		return 0, err
	}
	for range 3 {
		if _, err := f.Add(k); err != nil {
			return 0, err
		}
	}
	for f.Delete(k) == nil {
		deletes++
	}
	return deletes, nil
}

// takeOut asks to delete keys that were never added. Each wrong delete takes a
// fingerprint away that the next could have met: far fewer than the spread.
func (b *brim) takeOut(w *walk.Walker, tries int) error {
	for i := range tries {
		if err := filter.Delete(w.F, w.Keys.Stranger(-1-i)); err == nil {
			b.taken += 1 / float64(tries)
		} else if !errors.Is(err, filter.ErrNotFound) {
			return err
		}
	}
	b.lost = float64(w.Denied(w.Len()))
	return nil
}
