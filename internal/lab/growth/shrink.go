package growth

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var shrink = lab.Experiment{
	ID:       "evergreen/shrink",
	Title:    "Growing, and shrinking again",
	Question: "When most keys are deleted again, does the memory come back, does the rate stay, and is anything left of the deleted keys?",
	Says:     "Package comment: \"it deletes exactly, grows and shrinks a block at a time\"; Delete undoes splits while the rate is below 0.8 of the asked one; \"a block has the bits of its keys and no others\".",
	Quick:    sizeParams(1_000, 600_000, 185, 4_000), Full: sizeParams(1_000, 50_000_000, 313, 500_000),
	Run: shrinking(evergreens),
	Plots: []lab.View{
		shrinkView("rate-100", "The rate there and back, asked for 1 %", "rate", "1.00 %", lab.Dots, lab.Axis{Label: "false positives", Percent: true}),
		shrinkView("rate-1000", "The rate there and back, asked for 0.1 %", "rate", "0.100 %", lab.Dots, lab.Axis{Label: "false positives", Percent: true}),
		shrinkView("memory-100", "All memory there and back, asked for 1 %", "bits per key", "1.00 %", lab.Line, lab.Axis{Label: "bits per key", Max: 160}),
	},
	Claims: []lab.Claim{
		{Name: "rate", Printed: keeps, Where: comment, Of: lab.Of("rate"), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "lowest rate while shrinking", Printed: "Delete undoes splits while the rate is below 0.8 of the asked one", Where: comment, Of: lab.Of("rate while shrinking"), Is: lab.AtLeast(lab.Of("merges below"))},
		{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
		{Name: "blocks while shrinking", Printed: "between what the asked rate needs and what 0.8 of it needs", Where: comment, Of: lab.Of("blocks out of bounds"), Is: lab.Zero()},
		{Name: "rate of deleted keys", Printed: "deletes exactly: a deleted key is as absent as any other", Where: comment, Of: lab.Of("deleted keys found"), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "no answers but those of a filter without the deleted keys", Printed: "a block has the bits of its keys and no others", Where: comment, Of: lab.Of("unequal answers"), Is: lab.Zero()},
		{
			Name: "slow memory from 20,000 keys on", Printed: "shrinks with the set: 1.1 times that of growing at most", Where: comment,
			Of: lab.Of("slow from 20,000 keys", "way", "shrinking").Over(lab.Of("slow from 20,000 keys", "way", "growing")), Is: lab.AtMost(lab.Number(1.1)),
		},
	},
}

var perennialShrink = lab.Experiment{
	ID:       "perennial/shrink",
	Title:    "Growing, and shrinking to a hundredth",
	Question: "When most keys are deleted again, does the memory come back, and does the rate stay?",
	Says:     "Design 9: at most 17.5 bits per key on the way down to a hundredth, at the asked rate.",
	Quick:    sizeParams(10_000, 1_000_000, 134, 4_000), Full: sizeParams(500_000, 50_000_000, 134, 1_000_000),
	Run: shrinking(perennials[:1]),
	Plots: []lab.View{
		shrinkView("bits", "Memory there and back, asked for 1 %", "bits per key", "1.00 %", lab.Line, lab.Axis{Label: "bits per key", Max: 30}),
		shrinkView("rate", "The rate there and back, asked for 1 %", "rate", "1.00 %", lab.Dots, lab.Axis{Label: "false positives", Percent: true}),
	},
	Claims: []lab.Claim{
		{Name: "rate there and back", Printed: keeps, Where: comment, Of: lab.Of("rate"), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "rate by Info", Printed: keeps, Where: comment, Of: lab.Of("rate by Info"), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "no false negatives", Printed: found, Where: comment, Of: lab.Of("false negatives"), Is: lab.Zero()},
		{Name: "bits per key while shrinking", Printed: "17.5 at most, to a hundredth", Where: "design 9", Of: lab.Of("most", "way", "shrinking"), Is: lab.AtMost(lab.Number(17.55))},
	},
}

func shrinkView(name, title, metric, filter string, style lab.Style, y lab.Axis) lab.View {
	return lab.View{Name: name, Title: title, X: "n", By: "way", At: []any{"filter", filter}, XAxis: keysAxis, Y: y, Curves: []lab.Curve{{Measured: metric, Style: style}}}
}

// trip is a look on the way there or back. What is not judged there is NaN.
type trip struct {
	walk.Look
	floor, back, slow float64 // rates at which merging stops and of the way back; slow bits of large filters
	outside           float64 // 1 if there are too few or too many blocks
	deleted, unequal  float64 // shares of answers, at one size
}

func shrinking(list []variant) func(context.Context, *lab.Env) (*lab.Result, error) {
	return func(ctx context.Context, e *lab.Env) (*lab.Result, error) {
		sizes, queries := walk.Sizes(e.Int("least keys"), e.Int("most keys"), e.Int("sizes")), e.Int("queries")
		answers := lab.Each(queries)
		g, err := lab.Sweep(ctx, e, lab.Spec[trip]{
			Name: "ways", Title: "There and back", Dims: []lab.Dim{variantDim(list), lab.Among("way", "growing", "shrinking")}, Trace: lab.Along("n", sizes...), Trials: 1,
			Follow: func(at lab.At, r *rand.Rand) ([]trip, error) {
				v := list[at.Int("filter")]
				f, err := v.make(v.rate)
				if err != nil {
					return nil, err
				}
				return thereOrBack(ctx, &walk.Walker{F: f, Keys: walk.NewKeys(r)}, sizes, queries, at.Name("way") == "shrinking")
			},
			Metrics: append(walk.MetricsOf(queries, func(t trip) walk.Look { return t.Look }),
				lab.Metric[trip]{Name: "most", Of: func(t trip) float64 { return t.Most }},
				lab.Metric[trip]{Name: "rate while shrinking", Unit: lab.InPercent, Of: func(t trip) float64 { return t.back }, Asked: answers},
				lab.Metric[trip]{Name: "merges below", Unit: lab.InPercent, Of: func(t trip) float64 { return t.floor }},
				lab.Metric[trip]{Name: "blocks out of bounds", Of: func(t trip) float64 { return t.outside }},
				lab.Metric[trip]{Name: "slow from 20,000 keys", Of: func(t trip) float64 { return t.slow }},
				lab.Metric[trip]{Name: "deleted keys found", Unit: lab.InPercent, Of: func(t trip) float64 { return t.deleted }, Asked: answers},
				lab.Metric[trip]{Name: "unequal answers", Unit: lab.InPercent, Of: func(t trip) float64 { return t.unequal }}),
			Formulas: []lab.Formula{askedOf(list)},
		})
		return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
			"Keys are added one by one and then deleted in the order of their arrival. The comparison with a filter that never had the deleted keys is made at the smallest size.",
			"\"merges below\" is 0.8 (1 - 1/(2 sqrt blocks)) of the asked rate, since growth aims that much lower (design 4), less a hundredth, which stripes may keep to themselves, and 1/(3 sqrt blocks), by which bits scatter.",
		}}, err
	}
}

func thereOrBack(ctx context.Context, w *walk.Walker, sizes []int, queries int, back bool) ([]trip, error) {
	looks, err := walk.ThereOrBack(ctx, w, sizes, queries, back)
	if err != nil {
		return nil, err
	}
	f, own := w.F.(*evergreen.Filter)
	trips, nan := make([]trip, len(looks)), math.NaN()
	for i, l := range looks {
		t := trip{Look: l, floor: nan, back: nan, slow: only(lab.OneIf(l.Keys >= 20_000), l.Slow), outside: nan, deleted: nan, unequal: nan}
		if blocks := math.Round(l.Fast * float64(l.Keys) / 512); own && back && blocks > smallest {
			s := f.Shape()
			t.floor, t.back = floor(s.FPR, blocks), l.Yes
			t.outside = outOfBounds(s, float64(l.Keys), blocks)
		}
		trips[i] = t
	}
	if own && back {
		trips[0].deleted = askDeleted(w, queries)
		trips[0].unequal, err = again(w, queries)
	}
	return trips, err
}

// smallest is how many blocks a filter has at least that is no list. Then it has room
// to spare, and its rate says nothing.
const smallest = 257

// floor is the rate at which merging stops. Given the loads the bits scatter by
// 1/(3 sqrt blocks), of which one is allowed for.
func floor(rate, blocks float64) float64 {
	root := math.Sqrt(blocks)
	return rate * (0.8*(1-1/(2*root)) - 0.01) * (1 - 1/(3*root))
}

// outOfBounds is 1 if the blocks are not between what the formula gives for the rate and
// for 0.79 of it. The loads of blocks scatter by the sum of many independent ones.
func outOfBounds(s evergreen.Shape, n, blocks float64) float64 {
	aim, perWord, slack := s.FPR*(1-1/(2*math.Sqrt(blocks))), s.Hashes/theory.BlockWords, 1+4/math.Sqrt(blocks)
	if blocks < evergreen.Blocks(n, aim, perWord)/slack || blocks > evergreen.Blocks(n, 0.79*aim, perWord)*slack {
		return 1
	}
	return 0
}

// askDeleted asks about the keys that were deleted last.
func askDeleted(w *walk.Walker, queries int) float64 {
	yes, count := 0, min(queries, w.First)
	for i := range count {
		if w.F.MayContain(w.Keys.Member(w.First - 1 - i)) {
			yes++
		}
	}
	return float64(yes) / float64(count)
}

// again builds a filter of the same keys and of the same size that never had any
// others, and counts unequal answers.
func again(w *walk.Walker, queries int) (float64, error) {
	f := w.F.(*evergreen.Filter)
	g, err := evergreen.Build(f.Shape())
	if err != nil {
		return 0, err
	}
	fresh := &walk.Walker{F: g, Keys: w.Keys, First: w.First, Next: w.First}
	if err := fresh.To(w.Len()); err != nil {
		return 0, err
	}
	for g.Blocks() < f.Blocks() {
		if err := g.Grow(); err != nil {
			return 0, err
		}
	}
	unequal := 0
	for i := range queries {
		if k := w.Keys.Stranger(i); f.MayContain(k) != g.MayContain(k) {
			unequal++
		}
	}
	return float64(unequal) / float64(queries), nil
}
