package sum

import (
	"context"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var deletion = lab.Experiment{
	ID:       "sum/deletion",
	Paper:    paper,
	Title:    "Three ways to delete",
	Question: "What do a collision array, counters and a second filter of deleted keys cost, and which errors do they make?",
	Says: "Key Solution Ideas: counters of 4 bits \"suffice for most practical scenarios, with an extremely low probability of overflow\", take up more space than a collision array, but are \"100% accurate in deleting members\"; " +
		"a bit on which two deleted keys collided stays set in the collision array and is reset by counters. A second filter of deleted keys \"takes up the same amount of space as the collision array\", " +
		"brings \"a greater possibility of false negatives\" and \"causes even more error in the result\". Conclusion: false negatives are introduced, or the size increases \"by at least roughly double\".",
	Quick: deletionParams(1_000, 60, 5_000),
	Full:  deletionParams(10_000, 200, 20_000),
	Run:   runDeletion,
	Plots: []lab.View{
		{Name: "denied", Title: "Keys of the set that are denied, P = 0.001", X: "turnovers", By: "way", XAxis: turnoverAxis, Y: lab.Axis{Label: "false negatives", Percent: true}, Curves: []lab.Curve{{Measured: "denied, in time"}}},
		{Name: "kept", Title: "Deleted keys that still get a yes, P = 0.001", X: "turnovers", By: "way", XAxis: turnoverAxis, Y: lab.Axis{Label: "share of the deleted keys", Percent: true}, Curves: []lab.Curve{{Measured: "left over, in time"}}},
	},
	Claims: []lab.Claim{
		{Name: "no false negatives of the collision array", Printed: "prevented by the collision flag", Where: "Implementation", Of: lab.Of("denied", "way", array), Is: lab.Zero()},
		{Name: "no false negatives of counters", Printed: "prevented by counters", Where: "Implementation", Of: lab.Of("denied", "way", counters), Is: lab.Zero()},
		{Name: "no bit of counters differs", Printed: "100% accurate in deleting members: as if they had never been there", Where: "Key Solution Ideas", Of: lab.Of("bits that differ", "way", counters), Is: lab.Zero()},
		{Name: "set bits of the collision array to a new filter", Printed: "would not clear a bit on which deleted members collided", Where: "Key Solution Ideas", Of: lab.Of("set bits", "way", array), Is: lab.Above(lab.Number(1))},
		{Kind: lab.Own, Name: "false negatives of the second filter", Printed: "P of its m and k with the deleted keys", Of: lab.Of("denied", "way", second), Is: lab.Matches(lab.Of("rate of the second filter"))},
		{
			Name: "false negatives of the second filter against the array", Printed: "a greater possibility of false negatives", Where: "Key Solution Ideas", Of: lab.Of("denied", "way", second, "P", 0.01, "deleted", 0.5),
			Is: lab.Above(lab.Of("denied", "way", array)), FullOnly: true,
		},
		{
			Name: "wrong answers about all keys that were ever in the set, half deleted", Printed: "even more error in the result than the collision array", Where: "Key Solution Ideas",
			Of: lab.Of("wrong answers", "way", second, "deleted", 0.5), Is: lab.Above(lab.Of("wrong answers", "way", array)),
			Why: "the second filter denies all deleted keys, while the array keeps those that are pinned, and few live keys are denied by a filter that is half full. But its errors are false negatives, and with every turnover it denies more: see the plots",
		},
		{Name: "after all turnovers: live keys that the second filter denies", Of: lab.Of("denied, in time", "turnovers", 4, "way", second), Is: lab.Shows(), Show: []lab.Pick{lab.Of("left over, in time", "turnovers", 4, "way", array)}},
		{Name: "no false negatives of the array in time", Printed: "prevented by the collision flag", Where: "Implementation", Of: lab.Of("denied, in time", "way", array), Is: lab.Zero()},
		{Name: "no false negatives of counters in time", Printed: "prevented by counters", Where: "Implementation", Of: lab.Of("denied, in time", "way", counters), Is: lab.Zero()},
		{Name: "space of the collision array", Printed: "2 times a standard filter (\"roughly double\")", Where: "Conclusion", Of: lab.Of("bits", "way", array, "P", 0.001, "deleted", 0.5), Is: lab.Around()},
		{Name: "space of the second filter to the array", Printed: "1 (\"the same amount of space\")", Where: "Key Solution Ideas", Of: lab.Of("bits", "way", second, "P", 0.001, "deleted", 0.5).Over(lab.Of("bits", "way", array)), Is: lab.Around()},
		{Name: "space of counters", Printed: "more space than the collision array", Where: "Key Solution Ideas", Of: lab.Of("bits", "way", counters), Is: lab.Above(lab.Of("bits", "way", array))},
		{Name: "overflow of any 4-bit counter", Printed: "extremely low probability, taken as less than one filter in a million", Where: "Key Solution Ideas", Of: lab.Of("overflow of counters"), Is: lab.Below(lab.Number(1e-6))},
		{Name: "equal memory: deleted keys left over", Printed: "speed and size are preferred over 100% correctness, so the collision array", Where: "Key Solution Ideas", Of: lab.Of("left over, equal memory", "way", array), Is: lab.Below(lab.Of("left over, equal memory", "way", counters))},
		{Name: "equal memory: strangers", Printed: "speed and size are preferred over 100% correctness, so the collision array", Where: "Key Solution Ideas", Of: lab.Of("strangers, equal memory", "way", array), Is: lab.Below(lab.Of("strangers, equal memory", "way", counters))},
	},
}

var turnoverAxis = lab.Axis{Label: "turnovers: times that all keys were replaced"}

func deletionParams(keys, trials, queries int) lab.Params {
	return lab.Params{
		lab.Int("keys", keys), lab.Floats("rates", 0.01, 0.001), lab.Floats("deleted shares", 0.1, 0.5, 0.9),
		lab.Float("bits per key", 24), lab.Int("turnovers", 4), lab.Int("reports per turnover", 2), lab.Int("trials", trials), lab.Int("queries", queries),
	}
}

// mistakes are the shares of wrong answers of one filter.
type mistakes struct {
	denied    float64 // keys in the set: false negatives
	leftover  float64 // keys that were deleted
	strangers float64
	wrong     float64 // answers about keys that were ever in the set
	setBits   float64 // to those of a filter that never had the deleted keys
	differ    int     // bits in which they differ
	bits      float64 // in all, to those of a standard filter
}

// ask counts wrong answers.
func ask(f filter.Filter, live, gone, strangers []filter.Key) mistakes {
	m := mistakes{denied: 1 - lab.YesShare(f, live), leftover: lab.YesShare(f, gone), strangers: lab.YesShare(f, strangers)}
	if len(live) == 0 {
		m.denied = 0
	}
	m.wrong = (m.denied*float64(len(live)) + m.leftover*float64(len(gone))) / float64(max(1, len(live)+len(gone)))
	return m
}

// deleteShare fills a filter, deletes the first part of the keys and asks about all.
func (m method) deleteShare(r *rand.Rand, n, queries int, share float64) (t mistakes, err error) {
	f, err := m.build()
	if err != nil {
		return t, err
	}
	keys, gone := lab.RandomKeys(r, n), int(share*float64(n))
	if _, _, err := filter.AddBatch(f, keys); err != nil {
		return t, err
	}
	if _, _, _, err := filter.DeleteBatch(f, keys[:gone]); err != nil {
		return t, err
	}
	t = ask(f, keys[gone:], keys[:gone], lab.RandomKeys(r, queries))
	t.setBits, t.differ, err = m.compareBits(f, keys[gone:])
	t.bits = float64(f.Info().FastBits) / float64(m.shape.Bits)
	return t, err
}

func runDeletion(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	var grids []*lab.Grid
	for i, run := range []func(context.Context, *lab.Env) (*lab.Grid, error){equalShape, equalMemory, churned} {
		e.Part(i, 3)
		g, err := run(ctx, e)
		if err != nil {
			return nil, err
		}
		grids = append(grids, g)
	}
	return &lab.Result{Grids: grids, Notes: []string{
		"\"Left over\" are keys that were deleted and are still answered with yes; some of them would be in a filter without them, too. Strangers are keys that never were in the set.",
		"The second filter of deleted keys has the shape of the first. It is made here of two standard filters: it can deny keys that are in the set, so everbloom has no such kind.",
	}}, nil
}

func mistakeMetrics(queries int, suffix string) []lab.Metric[mistakes] {
	return []lab.Metric[mistakes]{
		{Name: "left over" + suffix, Unit: lab.InPercent, Of: func(m mistakes) float64 { return m.leftover }},
		{Name: "strangers" + suffix, Unit: lab.InPercent, Of: func(m mistakes) float64 { return m.strangers }, Asked: lab.Each(queries)},
	}
}

// equalShape gives all methods the same m and k, as the text does.
func equalShape(ctx context.Context, e *lab.Env) (*lab.Grid, error) {
	n, queries := e.Int("keys"), e.Int("queries")
	shapes := map[float64]bloom.Shape{}
	for _, p := range e.Floats("rates") {
		var err error
		if shapes[p], err = (bloom.Config{Items: uint64(n), FPR: p}).Shape(); err != nil {
			return nil, err
		}
	}
	return lab.Sweep(ctx, e, lab.Spec[mistakes]{
		Name: "deletion", Title: "Equal m and k",
		Dims:   []lab.Dim{lab.Along("P", e.Floats("rates")...), lab.Along("deleted", e.Floats("deleted shares")...), lab.Among("way", array, counters, second)},
		Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (mistakes, error) {
			return methods(shapes[at.Float("P")])[at.Int("way")].deleteShare(r, n, queries, at.Float("deleted"))
		},
		Metrics: append([]lab.Metric[mistakes]{
			{Name: "bits", Of: func(m mistakes) float64 { return m.bits }},
			{Name: "denied", Unit: lab.InPercent, Of: func(m mistakes) float64 { return m.denied }, Asked: func(at lab.At) int { return int((1 - at.Float("deleted")) * float64(n)) }},
			{Name: "wrong answers", Unit: lab.InPercent, Of: func(m mistakes) float64 { return m.wrong }, Asked: lab.Each(n)},
			{Name: "set bits", Of: func(m mistakes) float64 { return m.setBits }},
			{Name: "bits that differ", Of: func(m mistakes) float64 { return float64(m.differ) }},
		}, mistakeMetrics(queries, "")...),
		Formulas: []lab.Formula{
			{Name: "rate of the second filter", Unit: lab.InPercent, Of: func(at lab.At) float64 {
				s := shapes[at.Float("P")]
				return theory.BloomFPR(float64(s.Bits), float64(s.Hashes), at.Float("deleted")*float64(n))
			}},
			{Name: "overflow of counters", Of: func(at lab.At) float64 {
				s := shapes[at.Float("P")]
				return theory.CountingOverflowBound(float64(s.Bits), float64(s.Hashes*n)/float64(s.Bits), 4)
			}},
		},
	})
}

// equalMemory gives all methods the same number of bits.
func equalMemory(ctx context.Context, e *lab.Env) (*lab.Grid, error) {
	n, queries := e.Int("keys"), e.Int("queries")
	list := methodsOf(e.Float("bits per key")*float64(n), float64(n))
	return lab.Sweep(ctx, e, lab.Spec[mistakes]{
		Name: "memory", Title: "As many bits for each, half of the keys deleted", Dims: []lab.Dim{lab.Among("way", array, counters, second)}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (mistakes, error) {
			return list[at.Int("way")].deleteShare(r, n, queries, 0.5)
		},
		Metrics: mistakeMetrics(queries, ", equal memory"),
	})
}

// churned replaces keys one by one and looks at the errors again and again.
func churned(ctx context.Context, e *lab.Env) (*lab.Grid, error) {
	s, err := bloom.Config{Items: uint64(e.Int("keys")), FPR: 0.001}.Shape()
	if err != nil {
		return nil, err
	}
	var turnovers []float64
	for i := range e.Int("turnovers")*e.Int("reports per turnover") + 1 {
		turnovers = append(turnovers, float64(i)/float64(e.Int("reports per turnover")))
	}
	return lab.Sweep(ctx, e, lab.Spec[mistakes]{
		Name: "turnovers", Title: "Keys replaced one by one, P = 0.001", Dims: []lab.Dim{lab.Among("way", array, counters, second)}, Trials: e.Int("trials"),
		Trace: lab.Along("turnovers", turnovers...),
		Follow: func(at lab.At, r *rand.Rand) ([]mistakes, error) {
			return methods(s)[at.Int("way")].live(r, e.Int("keys"), e.Int("queries"), len(turnovers), e.Int("reports per turnover"))
		},
		Metrics: append([]lab.Metric[mistakes]{{Name: "denied, in time", Unit: lab.InPercent, Of: func(m mistakes) float64 { return m.denied }}}, mistakeMetrics(e.Int("queries"), ", in time")...),
	})
}

// live is the life of one filter: each step deletes a random key and adds a new
// one.
func (m method) live(r *rand.Rand, n, queries, reports, perTurnover int) ([]mistakes, error) {
	f, err := m.build()
	if err != nil {
		return nil, err
	}
	keys := lab.RandomKeys(r, n)
	if _, _, err := filter.AddBatch(f, keys); err != nil {
		return nil, err
	}
	var gone []filter.Key
	out := []mistakes{ask(f, keys, gone, lab.RandomKeys(r, queries))}
	for len(out) < reports {
		for range n / perTurnover {
			i := r.IntN(n)
			_ = f.Delete(keys[i]) // refused or not, the key is no longer in the set
			gone = append(gone, keys[i])
			keys[i] = filter.Key(r.Uint64())
			if _, err := f.Add(keys[i]); err != nil {
				return nil, err
			}
		}
		out = append(out, ask(f, keys, gone, lab.RandomKeys(r, queries)))
	}
	return out, nil
}
