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
	"github.com/everbloom-go/everbloom/internal/lab/walk"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var deletion = lab.Experiment{
	ID:       "sum/deletion",
	Title:    "Three ways to delete",
	Question: "What do a collision array, counters and a second filter of deleted keys cost, and which errors do they make?",
	Says: "Key Solution Ideas: counters of 4 bits \"suffice for most practical scenarios, with an extremely low probability of overflow\", take up more space than a collision array, but are \"100% accurate in deleting members\"; " +
		"a bit on which two deleted keys collided stays set in the collision array and is reset by counters. A second filter of deleted keys \"takes up the same amount of space as the collision array\", " +
		"brings \"a greater possibility of false negatives\" and \"causes even more error in the result\". Conclusion: false negatives are introduced, or the size increases \"by at least roughly double\".",
	Params: lab.Params{lab.Int("keys", 1_000).Full(10_000), lab.Float("bits per key", 24), lab.Floats("turnovers", 0, 0.5, 1, 2, 3, 4), lab.Int("trials", 60).Full(100), lab.Int("queries", 5_000).Full(20_000)},
	Run:    runDeletion,
	Plots: []lab.View{
		{Name: "denied", Title: "Keys of the set that are denied, P = 0.001", X: "turnovers", By: "way", At: []any{"sizing", "P = 0.001"}, XAxis: turnoverAxis, Y: lab.Axis{Label: "false negatives", Percent: true}, Curves: []lab.Curve{{Measured: "denied"}}},
		{Name: "kept", Title: "Deleted keys that still get a yes, P = 0.001", X: "turnovers", By: "way", At: []any{"sizing", "P = 0.001"}, XAxis: turnoverAxis, Y: lab.Axis{Label: "share of the deleted keys", Percent: true}, Curves: []lab.Curve{{Measured: "left over"}}},
	},
	Claims: []lab.Claim{
		{Name: "no false negatives of the collision array", Printed: "prevented by the collision flag", Where: "Implementation", Of: lab.Of("denied", "way", array), Is: lab.Zero()},
		{Name: "no false negatives of counters", Printed: "prevented by counters", Where: "Implementation", Of: lab.Of("denied", "way", counters), Is: lab.Zero()},
		{Name: "no bit of counters is left behind", Printed: "100% accurate in deleting members: as if they had never been there", Where: "Key Solution Ideas", Of: lab.Of("bits left behind", "way", counters), Is: lab.Zero()},
		{Name: "bits of the collision array that are left behind", Printed: "would not clear a bit on which deleted members collided", Where: "Key Solution Ideas", Of: lab.Of("bits left behind", "way", array), Is: lab.In(lab.Span{Dim: "turnovers", From: 0.5}, lab.Above(lab.Number(0)))},
		{Kind: lab.Own, Name: "false negatives of the second filter", Printed: "P of its m and k with the deleted keys", Of: lab.Of("denied", "way", second), Is: lab.Matches(lab.Of("rate of the second filter"))},
		{Name: "false negatives of the second filter against the array", Printed: "a greater possibility of false negatives", Where: "Key Solution Ideas", Of: lab.Of("denied", "way", second), Is: lab.In(lab.Span{Dim: "turnovers", From: 2}, lab.Above(lab.Of("denied", "way", array)))},
		{
			Name: "wrong answers about all keys that were ever in the set", Printed: "even more error in the result than the collision array", Where: "Key Solution Ideas",
			Of: lab.Of("wrong answers", "way", second), Is: lab.In(lab.Span{Dim: "turnovers", From: 0.5}, lab.Above(lab.Of("wrong answers", "way", array))), Show: []lab.Pick{lab.Of("absent keys", "way", second, "sizing", "P = 0.001"), lab.Of("absent keys", "way", array, "sizing", "P = 0.001")},
			Why: "the second filter denies all deleted keys for good, while the array keeps those that are pinned, which are more and more. But its errors are false negatives, with every turnover it denies more, and of absent keys it claims more than the array for the first turnovers",
		},
		{Name: "after all turnovers: live keys that the second filter denies", Of: lab.Of("denied", "turnovers", 4, "way", second, "sizing", "P = 0.001"), Is: lab.Shows(), Show: []lab.Pick{lab.Of("left over", "turnovers", 4, "way", array, "sizing", "P = 0.001")}},
		{Name: "space, by construction, times that of a standard filter", Printed: "at least roughly double; counters more than the array, the second filter the same", Where: "Conclusion, Key Solution Ideas", Of: lab.Of("bits", "sizing", "P = 0.001", "turnovers", 0), Is: lab.Shows()},
		{Name: "variations that delete", Printed: "at least eight existing variations", Where: "Programming Challenge", Is: lab.NotMeasured("the count is that of a survey; eight kinds here delete, see all/abilities")},
		{Name: "overflow of any 4-bit counter", Printed: "extremely low probability, taken as less than one filter in a million", Where: "Key Solution Ideas", Of: lab.Of("overflow of counters"), Is: lab.Below(lab.Number(1e-6))},
		{Name: "equal memory: deleted keys left over, after half a turnover", Printed: preferred, Where: "Key Solution Ideas", Of: lab.Of("left over", "sizing", equalMemory, "way", array, "turnovers", 0.5), Is: lab.Below(lab.Of("left over", "way", counters)), Show: []lab.Pick{lab.Of("left over", "sizing", equalMemory, "way", array, "turnovers", 4)}},
		{Name: "equal memory: absent keys, after half a turnover", Printed: preferred, Where: "Key Solution Ideas", Of: lab.Of("absent keys", "sizing", equalMemory, "way", array, "turnovers", 0.5), Is: lab.Below(lab.Of("absent keys", "way", counters))},
	},
}

const preferred = "speed and size are preferred over 100% correctness, so the collision array"

var turnoverAxis = lab.Axis{Label: "turnovers: times that all keys were replaced"}

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

// look asks a filter about keys, and compares it with one of the live keys alone.
func look(f filter.Filter, s bloom.Shape, live, gone, absent []filter.Key) (lab.Figures, error) {
	fresh, err := bloom.Build(s)
	if err = lab.AddAll(fresh, err, live); err != nil {
		return nil, err
	}
	denied, leftover := 1-lab.YesShare(f, live), lab.YesShare(f, gone)
	return lab.Figures{
		"denied": denied, "left over": leftover, "absent keys": lab.YesShare(f, absent),
		"wrong answers":    (denied*float64(len(live)) + leftover*float64(len(gone))) / float64(len(live)+len(gone)),
		"bits left behind": math.Round((f.Info().Fill - fresh.Info().Fill) * float64(s.Bits)), // set, without a live key
		"bits":             float64(f.Info().FastBits) / float64(s.Bits),
	}, nil
}

// replace is the life of one filter, with a look after each of some numbers of turnovers.
func replace(way string, s bloom.Shape, n, queries int, turnovers []float64, r *rand.Rand) (out []lab.Figures, err error) {
	f, err := deleter(way, s)
	if err != nil {
		return nil, err
	}
	keys := lab.RandomKeys(r, n)
	err = walk.Replace(f, keys, turnovers, r, func(gone []filter.Key) error {
		m, err := look(f, s, keys, gone, lab.RandomKeys(r, queries))
		out = append(out, m)
		return err
	})
	return out, err
}

// shapeOf is that of a sizing: the same m and k for all ways, as the text has it, or the
// same number of bits.
func shapeOf(sizing, way string, n, bitsPerKey float64) bloom.Shape {
	positions := bitsPerKey * n / 2
	switch {
	case sizing == "P = 0.01":
		positions = math.Ceil(theory.BloomBits(n, 0.01))
	case sizing == "P = 0.001":
		positions = math.Ceil(theory.BloomBits(n, 0.001))
	case way == counters:
		positions /= 2
	}
	return bloom.Shape{Bits: uint64(positions), Hashes: int(math.Round(theory.BloomHashes(positions, n)))}
}

func runDeletion(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, queries, turnovers := e.Int("keys"), e.Int("queries"), e.Floats("turnovers")
	shape := func(at lab.At) bloom.Shape {
		return shapeOf(at.Name("sizing"), at.Name("way"), float64(n), e.Float("bits per key"))
	}
	share := func(name string, asked int) lab.Metric {
		return lab.Metric{Name: name, Unit: lab.InPercent, Asked: lab.Each(asked)}
	}
	return lab.Find(ctx, e, lab.Sweep{
		Name: "deletion", Title: "Keys replaced one by one", Dims: []lab.Dim{lab.Among("sizing", "P = 0.01", "P = 0.001", equalMemory), lab.Among("way", array, counters, second)}, Trials: e.Int("trials"),
		Trace: lab.Along("turnovers", turnovers...),
		Follow: func(at lab.At, r *rand.Rand) ([]lab.Figures, error) {
			return replace(at.Name("way"), shape(at), n, queries, turnovers, r)
		},
		Metrics: []lab.Metric{
			share("denied", n), share("left over", n/2), share("absent keys", queries), share("wrong answers", n), {Name: "bits left behind"}, {Name: "bits"},
		},
		Formulas: []lab.Formula{
			{Name: "rate of the second filter", Unit: lab.InPercent, Of: func(at lab.At) float64 {
				s := shape(at)
				return theory.BloomFPR(float64(s.Bits), float64(s.Hashes), at.Float("turnovers")*float64(n))
			}},
			{Name: "overflow of counters", Of: func(at lab.At) float64 {
				s := shape(at)
				return theory.CountingOverflowBound(float64(s.Bits), float64(s.Hashes*n)/float64(s.Bits), 4)
			}},
		},
		Notes: []string{
			"\"Left over\" are keys that were deleted and are still answered with yes; some of them would be in a filter without them, too.",
			"The second filter of deleted keys has the shape of the first. It can deny keys that are in the set, so everbloom has no such kind.",
		},
	})
}
