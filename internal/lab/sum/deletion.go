package sum

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/deletable"
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
		{Name: "no bit of counters is left behind", Printed: "100% accurate in deleting members: as if they had never been there", Where: "Key Solution Ideas", Of: lab.Of("bits left behind", "way", counters), Is: lab.Zero()},
		{Name: "bits of the collision array that are left behind", Printed: "would not clear a bit on which deleted members collided", Where: "Key Solution Ideas", Of: lab.Of("bits left behind", "way", array), Is: lab.Above(lab.Number(0))},
		{Kind: lab.Own, Name: "false negatives of the second filter", Printed: "P of its m and k with the deleted keys", Of: lab.Of("denied", "way", second), Is: lab.Matches(lab.Of("rate of the second filter"))},
		{
			Name: "false negatives of the second filter against the array", Printed: "a greater possibility of false negatives", Where: "Key Solution Ideas", Of: lab.Of("denied", "way", second, "sizing", "P = 0.01"),
			Is: lab.Above(lab.Of("denied", "way", array)), FullOnly: true,
		},
		{
			Name: "wrong answers about all keys that were ever in the set, half deleted", Printed: "even more error in the result than the collision array", Where: "Key Solution Ideas",
			Of: lab.Of("wrong answers", "way", second), Is: lab.Above(lab.Of("wrong answers", "way", array)),
			Why: "the second filter denies all deleted keys, while the array keeps those that are pinned, and few live keys are denied by a filter that is half full. But its errors are false negatives, and with every turnover it denies more: see the plots",
		},
		{Name: "after all turnovers: live keys that the second filter denies", Of: lab.Of("denied, in time", "turnovers", 4, "way", second), Is: lab.Shows(), Show: []lab.Pick{lab.Of("left over, in time", "turnovers", 4, "way", array)}},
		{Name: "no false negatives of the array in time", Printed: "prevented by the collision flag", Where: "Implementation", Of: lab.Of("denied, in time", "way", array), Is: lab.Zero()},
		{Name: "no false negatives of counters in time", Printed: "prevented by counters", Where: "Implementation", Of: lab.Of("denied, in time", "way", counters), Is: lab.Zero()},
		{Name: "space of the collision array", Printed: "2 times a standard filter (\"roughly double\")", Where: "Conclusion", Of: lab.Of("bits", "way", array, "sizing", "P = 0.001"), Is: lab.Around()},
		{Name: "space of the second filter to the array", Printed: "1 (\"the same amount of space\")", Where: "Key Solution Ideas", Of: lab.Of("bits", "way", second, "sizing", "P = 0.001").Over(lab.Of("bits", "way", array)), Is: lab.Around()},
		{Name: "space of counters", Printed: "more space than the collision array", Where: "Key Solution Ideas", Of: lab.Of("bits", "way", counters), Is: lab.Above(lab.Of("bits", "way", array))},
		{Name: "overflow of any 4-bit counter", Printed: "extremely low probability, taken as less than one filter in a million", Where: "Key Solution Ideas", Of: lab.Of("overflow of counters"), Is: lab.Below(lab.Number(1e-6))},
		{Name: "equal memory: deleted keys left over", Printed: preferred, Where: "Key Solution Ideas", Of: lab.Of("left over", "sizing", equalMemory, "way", array), Is: lab.Below(lab.Of("left over", "way", counters))},
		{Name: "equal memory: absent keys", Printed: preferred, Where: "Key Solution Ideas", Of: lab.Of("absent keys", "sizing", equalMemory, "way", array), Is: lab.Below(lab.Of("absent keys", "way", counters))},
	},
}

const preferred = "speed and size are preferred over 100% correctness, so the collision array"

var turnoverAxis = lab.Axis{Label: "turnovers: times that all keys were replaced"}

func deletionParams(keys, trials, queries int) lab.Params {
	return lab.Params{
		lab.Int("keys", keys), lab.Float("bits per key", 24), lab.Int("turnovers", 4), lab.Int("reports per turnover", 2), lab.Int("trials", trials), lab.Int("queries", queries),
	}
}

// The ways to delete, and the sizing that gives all of them as many bits.
const (
	array       = "collision array"
	counters    = "counters"
	second      = "second filter"
	equalMemory = "equal memory"
)

// deleter returns a filter with the positions of shape s.
func deleter(way string, s bloom.Shape) (filter.Deleter, error) {
	switch way {
	case array:
		return deletable.Build(deletable.Shape{Bits: 2 * s.Bits, Hashes: s.Hashes, Regions: s.Bits})
	case counters:
		return counting.Build(counting.Shape{Counters: s.Bits, Hashes: s.Hashes, CounterBits: 4})
	}
	in, err := bloom.Build(s)
	if err != nil {
		return nil, err
	}
	out, err := bloom.Build(s)
	return &pair{in, out}, err
}

// pair is a filter of keys with one of deleted keys that overrides it. A key that was
// deleted before stays denied.
type pair struct{ in, out *bloom.Filter }

func (p *pair) Add(k filter.Key) (added bool, err error) { return p.in.Add(k) }

// MayContain can be false for keys in the set.
func (p *pair) MayContain(k filter.Key) bool { return p.in.MayContain(k) && !p.out.MayContain(k) }

func (p *pair) Delete(k filter.Key) error {
	_, err := p.out.Add(k)
	return err
}

func (p *pair) Info() filter.Info {
	return filter.Info{Kind: "pair", FastBits: p.in.Info().FastBits + p.out.Info().FastBits, Fill: p.in.Info().Fill}
}

// mistakes are the shares of wrong answers of one filter.
type mistakes struct {
	denied   float64 // keys in the set: false negatives
	leftover float64 // keys that were deleted
	absent   float64 // keys that never were in the set
	wrong    float64 // answers about keys that were ever in the set
	behind   float64 // set bits that a filter without the deleted keys does not have
	bits     float64 // in all, to those of a standard filter
}

// ask counts wrong answers.
func ask(f filter.Filter, live, gone, absent []filter.Key) mistakes {
	m := mistakes{denied: 1 - lab.YesShare(f, live), leftover: lab.YesShare(f, gone), absent: lab.YesShare(f, absent)}
	m.wrong = (m.denied*float64(len(live)) + m.leftover*float64(len(gone))) / float64(len(live)+len(gone))
	return m
}

// deleteHalf fills a filter, deletes half of the keys and asks about all.
func deleteHalf(way string, s bloom.Shape, n, queries int, r *rand.Rand) (m mistakes, err error) {
	f, err := deleter(way, s)
	if err != nil {
		return m, err
	}
	keys := lab.RandomKeys(r, n)
	if _, _, err := filter.AddBatch(f, keys); err != nil {
		return m, err
	}
	gone, live := keys[:n/2], keys[n/2:]
	if _, _, _, err := filter.DeleteBatch(f, gone); err != nil {
		return m, err
	}
	fresh, err := bloom.Build(s)
	if err != nil {
		return m, err
	}
	if _, _, err := fresh.AddBatch(live); err != nil {
		return m, err
	}
	m = ask(f, live, gone, lab.RandomKeys(r, queries))
	m.behind = math.Round((f.Info().Fill - fresh.Info().Fill) * float64(s.Bits))
	m.bits = float64(f.Info().FastBits) / float64(s.Bits)
	return m, nil
}

func mistakeMetrics(n, queries int, suffix string) []lab.Metric[mistakes] {
	return []lab.Metric[mistakes]{
		{Name: "denied" + suffix, Unit: lab.InPercent, Of: func(m mistakes) float64 { return m.denied }, Asked: lab.Each(n)},
		{Name: "left over" + suffix, Unit: lab.InPercent, Of: func(m mistakes) float64 { return m.leftover }},
		{Name: "absent keys" + suffix, Unit: lab.InPercent, Of: func(m mistakes) float64 { return m.absent }, Asked: lab.Each(queries)},
	}
}

func runDeletion(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	half, err := halved(ctx, e)
	if err != nil {
		return nil, err
	}
	churn, err := churned(ctx, e)
	return &lab.Result{Grids: []*lab.Grid{half, churn}, Notes: []string{
		"\"Left over\" are keys that were deleted and are still answered with yes; some of them would be in a filter without them, too.",
		"The second filter of deleted keys has the shape of the first. It can deny keys that are in the set, so everbloom has no such kind.",
	}}, err
}

// halved deletes half of the keys: with the same m and k for all ways, as the text does, and
// with the same number of bits.
func halved(ctx context.Context, e *lab.Env) (*lab.Grid, error) {
	n, queries := e.Int("keys"), e.Int("queries")
	sized, err := shapesOf(n, 0.01, 0.001)
	if err != nil {
		return nil, err
	}
	shape := func(at lab.At) bloom.Shape {
		switch at.Name("sizing") {
		case "P = 0.01":
			return sized[0.01]
		case "P = 0.001":
			return sized[0.001]
		}
		positions := e.Float("bits per key") * float64(n) / 2
		if at.Name("way") == counters {
			positions /= 2
		}
		return bloom.Shape{Bits: uint64(positions), Hashes: int(math.Round(theory.BloomHashes(positions, float64(n))))}
	}
	return lab.Sweep(ctx, e, lab.Spec[mistakes]{
		Name: "deletion", Title: "Half of the keys deleted", Dims: []lab.Dim{lab.Among("sizing", "P = 0.01", "P = 0.001", equalMemory), lab.Among("way", array, counters, second)}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (mistakes, error) {
			return deleteHalf(at.Name("way"), shape(at), n, queries, r)
		},
		Metrics: append(mistakeMetrics(n/2, queries, ""),
			lab.Metric[mistakes]{Name: "wrong answers", Unit: lab.InPercent, Of: func(m mistakes) float64 { return m.wrong }, Asked: lab.Each(n)},
			lab.Metric[mistakes]{Name: "bits left behind", Of: func(m mistakes) float64 { return m.behind }},
			lab.Metric[mistakes]{Name: "bits", Of: func(m mistakes) float64 { return m.bits }}),
		Formulas: []lab.Formula{
			{Name: "rate of the second filter", Unit: lab.InPercent, Of: func(at lab.At) float64 { s := shape(at); return s.FPR(uint64(n / 2)) }},
			{Name: "overflow of counters", Of: func(at lab.At) float64 {
				s := shape(at)
				return theory.CountingOverflowBound(float64(s.Bits), float64(s.Hashes*n)/float64(s.Bits), 4)
			}},
		},
	})
}

// churned replaces keys one by one and looks at the errors again and again.
func churned(ctx context.Context, e *lab.Env) (*lab.Grid, error) {
	n, queries, per := e.Int("keys"), e.Int("queries"), e.Int("reports per turnover")
	sized, err := shapesOf(n, 0.001)
	if err != nil {
		return nil, err
	}
	turnovers := lab.Dim{Name: "turnovers"}
	for i := range e.Int("turnovers")*per + 1 {
		turnovers.Values = append(turnovers.Values, float64(i)/float64(per))
	}
	return lab.Sweep(ctx, e, lab.Spec[mistakes]{
		Name: "turnovers", Title: "Keys replaced one by one, P = 0.001", Dims: []lab.Dim{lab.Among("way", array, counters, second)}, Trials: e.Int("trials"),
		Trace: turnovers,
		Follow: func(at lab.At, r *rand.Rand) ([]mistakes, error) {
			f, err := deleter(at.Name("way"), sized[0.001])
			if err != nil {
				return nil, err
			}
			return live(f, n, queries, n/per, len(turnovers.Values), r)
		},
		Metrics: mistakeMetrics(n, queries, ", in time"),
	})
}

// live is the life of one filter: each step deletes a random key and adds a new one.
func live(f filter.Deleter, n, queries, steps, reports int, r *rand.Rand) (out []mistakes, err error) {
	keys := lab.RandomKeys(r, n)
	if _, _, err := filter.AddBatch(f, keys); err != nil {
		return nil, err
	}
	var gone []filter.Key
	for {
		if out = append(out, ask(f, keys, gone, lab.RandomKeys(r, queries))); len(out) == reports {
			return out, nil
		}
		for range steps {
			i := r.IntN(n)
			_ = f.Delete(keys[i]) // refused or not, the key is no longer in the set
			gone = append(gone, keys[i])
			keys[i] = filter.Key(r.Uint64())
			if _, err := f.Add(keys[i]); err != nil {
				return nil, err
			}
		}
	}
}
