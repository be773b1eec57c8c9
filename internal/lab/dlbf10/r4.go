package dlbf10

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var r4 = lab.Experiment{
	ID:       "dlbf10/r4",
	Paper:    paper,
	Title:    "Requirements R1 to R4, at equal memory",
	Question: "In m bits, which filter deletes how many keys, loses how many others, and what does that cost in false positives?",
	Says: "Sec. I: R1 probabilistic deletability, R2 no false negatives, R3 fixed memory, R4 a rate comparable to a standard filter of the same size. " +
		"Sec. II: counters of 3 or 4 bits cut the bit space c-fold; a d-left filter needs about half the bits of a 4-bit counting one and around 2m for the rate of a standard filter; " +
		"variable-length signatures lose keys; no variation satisfies all four. Sec. III-B: \"the false positive degradation is driven by the ratio m/r\".",
	Quick: r4Params(2_000, 40, 5_000),
	Full:  r4Params(10_000, 200, 100_000),
	Run:   runR4,
	Claims: []lab.Claim{
		{Kind: lab.Own, Name: "rates before deleting", Printed: "the formulas of the kinds", Of: lab.Of("rate before"), Is: lab.Matches(lab.Of("rate, formula"))},
		{Name: "R1: deletable filters", Printed: "probabilistic deletability", Where: "Sec. I", Of: lab.Of("deleted", "filter", "deletable, m/r = 20"), Is: lab.Above(lab.Number(0)), Show: []lab.Pick{lab.Of("deleted", "filter", "deletable, m/r = 4")}},
		{Name: "no false negatives: R2", Printed: "deletions without false negatives", Where: "Sec. I", Of: lab.Of("false negatives"), Is: lab.Zero()},
		{Name: "R2: variable-length signatures", Printed: "prone to false negatives", Where: "Sec. II", Of: lab.Of("keys lost by signatures", "filter", "signatures, one bit reset"), Is: lab.Above(lab.Number(0))},
		rateToStandard("R4: the price of the bitmap", "comparable to a standard filter for 5 % of the bits, taken as less than twice its rate", "Sec. III-B", "deletable, m/r = 20", lab.Below(lab.Number(2)), "deletable, m/r = 10", "deletable, m/r = 4", "deletable, m/r = 2"),
		rateToStandard("R4: counting", "no other variation satisfies all four: not comparable, taken as at least twice the rate", "Sec. II", "counting, 4 bits", lab.AtLeast(lab.Number(2))),
		rateToStandard("R4: d-left", "no other variation satisfies all four: not comparable, taken as at least twice the rate", "Sec. II", "d-left", lab.AtLeast(lab.Number(2))),
		{Name: "d-left to a 4-bit counting filter, at 1 %", Printed: "0.5 of the bits: \"about half\"", Where: "Sec. II", Of: lab.Of("d-left to counting"), Is: lab.Around()},
		{Name: "d-left to a standard filter, at 1 %", Printed: "2 m: \"around 2m for construction\"", Where: "Sec. II", Of: lab.Of("d-left to standard"), Is: lab.Around()},
		{Name: "counters of 3 bits, by the formulas", Of: lab.Of("rate with 3-bit counters"), Is: lab.Shows(), Show: []lab.Pick{lab.Of("overflow of 3 bits"), lab.Of("overflow of 4 bits")}},
	},
}

// rateToStandard is about the ratio of rates by the formulas.
func rateToStandard(name, printed, where, contender string, is lab.Test, others ...string) lab.Claim {
	ratio := func(contender string) lab.Pick {
		return lab.Of("rate, formula", "filter", contender).Over(lab.Of("rate, formula", "filter", "standard"))
	}
	c := lab.Claim{Name: name, Printed: printed, Where: where, Of: ratio(contender), Is: is}
	for _, o := range others {
		c.Show = append(c.Show, ratio(o))
	}
	return c
}

func r4Params(keys, trials, queries int) lab.Params {
	return lab.Params{
		lab.Int("keys", keys), lab.Int("bits per key", 16), lab.Int("hashes", 5),
		lab.Ints("bits per region, m/r", 20, 10, 4, 2), lab.Int("trials", trials), lab.Int("queries", queries),
	}
}

func runR4(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list, err := contenders(e)
	if err != nil {
		return nil, err
	}
	n, queries := e.Int("keys"), e.Int("queries")
	g, err := lab.Sweep(ctx, e, lab.Spec[halved]{
		Name: "requirements", Title: fmt.Sprintf("%d bits per key, half of the keys deleted", e.Int("bits per key")),
		Dims: []lab.Dim{lab.AmongAll("filter", list, func(c contender) string { return c.name })}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (halved, error) {
			f, err := list[at.Int("filter")].build()
			if err != nil {
				return halved{}, err
			}
			return deleteHalf(f, lab.RandomKeys(r, n), lab.RandomKeys(r, queries))
		},
		Metrics: []lab.Metric[halved]{
			{Name: "rate before", Unit: lab.InPercent, Of: func(t halved) float64 { return t.before }, Asked: lab.Each(queries)},
			{Name: "rate after", Unit: lab.InPercent, Of: func(t halved) float64 { return t.after }, Asked: lab.Each(queries)},
			{Name: "deleted", Unit: lab.InPercent, Of: func(t halved) float64 { return t.deleted }, Asked: lab.Each(n / 2)},
			{Name: "false negatives", Unit: lab.InPercent, Of: func(t halved) float64 { return t.lost }},
			{Name: "keys lost by signatures", Unit: lab.InPercent, Of: func(t halved) float64 { return t.lostBySignatures }},
		},
		Formulas: []lab.Formula{
			{Name: "rate, formula", Unit: lab.InPercent, Of: func(at lab.At) float64 { return list[at.Int("filter")].rate }},
			{Name: "bits per key", Of: func(at lab.At) float64 { return list[at.Int("filter")].bits / float64(n) }},
		},
	})
	return &lab.Result{Grids: []*lab.Grid{g, sizesOfOthers(float64(n*e.Int("bits per key")), float64(n))}, Notes: []string{
		"Half of the keys are deleted; \"deleted\" are those that are absent afterwards. All filters have the same number of bits; the d-left filter rounds to whole buckets.",
		"The filter with variable-length signatures is known here by one sentence of the letter only: deleting resets one of a key's bits, whichever other key has it.",
	}}, err
}

// contender is one filter of the comparison. The first is the standard one.
type contender struct {
	name  string
	bits  float64
	rate  float64 // by its formula, with all keys
	build func() (filter.Filter, error)
}

// contenders returns the filters of the comparison, all of m bits.
func contenders(e *lab.Env) ([]contender, error) {
	n, k := e.Int("keys"), e.Int("hashes")
	m := n * e.Int("bits per key")
	keys, bits, hashes := float64(n), float64(m), float64(k)
	list := []contender{{"standard", bits, theory.BloomFPR(bits, hashes, keys), func() (filter.Filter, error) {
		return bloom.Build(bloom.Shape{Bits: uint64(m), Hashes: k})
	}}}
	for _, ratio := range e.Ints("bits per region, m/r") {
		s := sized(n, k, e.Int("bits per key"), ratio)
		list = append(list, contender{fmt.Sprintf("deletable, m/r = %d", ratio), bits, s.FPR(uint64(n)), func() (filter.Filter, error) { return deletable.Build(s) }})
	}
	c := counting.Shape{Counters: uint64(m) / 4, Hashes: max(1, int(math.Round(theory.BloomHashes(bits/4, keys)))), CounterBits: 4}
	// Load 6 in buckets of 8 cells, as in [dlCBF06]: a key has 4/3 of a cell.
	d, err := dleft.Config{Items: uint64(n), Subtables: 4, Cells: 8, Load: 6, Remainder: e.Int("bits per key")*3/4 - 2}.Shape()
	return append(list,
		contender{"counting, 4 bits", float64(c.Bits()), c.FPR(uint64(n)), func() (filter.Filter, error) { return counting.Build(c) }},
		contender{"d-left", float64(d.Bits()), d.FPR(uint64(n)), func() (filter.Filter, error) { return dleft.Build(d) }},
		contender{"signatures, one bit reset", bits, theory.BloomFPR(bits, hashes, keys), func() (filter.Filter, error) { return newSignatures(m, k), nil }},
	), err
}

// halved is what became of one filter, all as shares. Signatures promise nothing
// about the keys that stay, so what they lose counts apart.
type halved struct{ before, after, deleted, lost, lostBySignatures float64 }

// deleteHalf adds the keys and deletes the first half of them. Kinds that cannot
// delete keep all.
func deleteHalf(f filter.Filter, keys, absent []filter.Key) (t halved, err error) {
	if _, _, err := filter.AddBatch(f, keys); err != nil {
		return t, err
	}
	gone, kept := keys[:len(keys)/2], keys[len(keys)/2:]
	t.before = lab.YesShare(f, absent)
	for _, k := range gone {
		_ = filter.Delete(f, k) // what it did is asked below
	}
	t.after = lab.YesShare(f, absent)
	t.deleted = 1 - lab.YesShare(f, gone)
	t.lost, t.lostBySignatures = 1-lab.YesShare(f, kept), math.NaN()
	if _, ok := f.(*signatures); ok {
		t.lost, t.lostBySignatures = math.NaN(), t.lost
	}
	return t, nil
}

// sizesOfOthers computes what Sec. II says of other filters. It has no rate; 1 % is
// that of the example with m = 240 and n = 22. No package has counters of 3 bits.
func sizesOfOthers(bits, keys float64) *lab.Grid {
	const rate = 0.01
	standard, counters := theory.BloomBits(1, rate), bits/3
	return lab.Computed("others", "Sec. II by the formulas", nil,
		lab.Fixed("d-left to counting", lab.Plain, theory.DLeftBitsPerKey(rate)/(4*standard)),
		lab.Fixed("d-left to standard", lab.Plain, theory.DLeftBitsPerKey(rate)/standard),
		lab.Fixed("rate with 3-bit counters", lab.InPercent, theory.BloomFPR(counters, math.Round(theory.BloomHashes(counters, keys)), keys)),
		lab.Fixed("overflow of 3 bits", lab.Plain, theory.CountingOverflow(math.Ln2, 3)),
		lab.Fixed("overflow of 4 bits", lab.Plain, theory.CountingOverflow(math.Ln2, 4)))
}
