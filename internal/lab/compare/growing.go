package compare

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

var growing = lab.Experiment{
	ID:       "all/growing",
	Title:    "The kinds that grow",
	Question: "What becomes of the rate and of the memory when a set grows to many times the size that it began with?",
	Says: "docs/choosing.md: evergreen, perennial, scalable and partition keep the rate; scalable takes 12.6 bits per key for 1 % if its first size was right, 14 to 48 after it has grown; " +
		"dynamic and parallel have a rate that rises; elastic takes thousands of bits per key.",
	Quick: growingParams(1_000, 64_000, 121, 4_000), Full: growingParams(10_000, 1_280_000, 141, 100_000),
	Run: runGrowing,
	Plots: []lab.View{
		{
			Name: "rate", Title: "The rate while the set grows, asked for 1 %", X: "n", By: "kind", Only: []any{"scalable", "partition", "dynamic", "perennial", "evergreen"}, XAxis: lab.Axis{Label: "keys", Log: true},
			Y: lab.Axis{Label: "false positives", Log: true, Percent: true}, Curves: []lab.Curve{{Measured: "rate", Style: lab.Dots}},
			Notes: []string{"Sizes at which no query was answered wrongly have no point, since the axis has no 0: a small evergreen filter has room to spare."},
		},
		{
			Name: "bits", Title: "All memory while the set grows", X: "n", By: "kind", Only: []any{"scalable", "partition", "dynamic", "perennial", "evergreen"}, XAxis: lab.Axis{Label: "keys", Log: true},
			Y: lab.Axis{Label: "bits per key", Log: true}, Curves: []lab.Curve{{Measured: "bits per key", Style: lab.Line}},
		},
	},
	Claims: growingClaims(),
}

func growingParams(first, keys, sizes, queries int) lab.Params {
	return lab.Params{lab.Int("first size", first), lab.Int("keys", keys), lab.Int("sizes", sizes), lab.Float("rate", 0.01), lab.Int("queries", queries)}
}

// growers are the entrants that grow by themselves.
func growers() (list []entrant) {
	for _, x := range entrants() {
		if x.kind.Grows {
			list = append(list, x)
		}
	}
	return list
}

// growingClaims tells those that keep the rate from those whose rate rises.
func growingClaims() []lab.Claim {
	claims := []lab.Claim{
		{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
		{Name: "scalable: bits per key after it has grown", Printed: "14 to 48", Where: page, Of: lab.Of("bits from twice the first size", "kind", "scalable"), Is: lab.Inside("14", "48")},
	}
	for _, x := range growers() {
		c := lab.Claim{Name: x.name + ": rate", Printed: "it is kept", Where: page, Of: lab.Of("rate", "kind", x.name), Is: lab.AtMost(lab.Of("asked"))}
		if x.kind.Drifts {
			c.Printed, c.Of, c.Is = "it rises", lab.Of("rate in the end", "kind", x.name), lab.Above(lab.Of("asked"))
		}
		claims = append(claims, c)
	}
	return claims
}

// A moment is a look at a filter on its way.
type moment struct {
	walk.Look
	end, grown float64 // the rate in the end; bits per key from twice the first size on
}

func runGrowing(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list, first, queries := growers(), e.Int("first size"), e.Int("queries")
	sizes := walk.Sizes(first, e.Int("keys"), e.Int("sizes"))
	g, err := lab.Sweep(ctx, e, lab.Spec[moment]{
		Name: "sizes", Title: "Rate and memory on the way", Dims: []lab.Dim{lab.Among("kind", names(list)...)}, Trace: lab.Along("n", sizes...), Trials: 1,
		Follow: func(at lab.At, r *rand.Rand) ([]moment, error) {
			f, err := list[at.Int("kind")].make(uint64(first), e.Float("rate"))
			if err != nil {
				return nil, err
			}
			looks, err := (&walk.Walker{F: f, Keys: walk.NewKeys(r)}).Through(ctx, sizes, queries)
			moments := make([]moment, len(looks))
			for i, l := range looks {
				moments[i] = moment{l, math.NaN(), math.NaN()}
				if l.Keys >= 2*first {
					moments[i].grown = l.All()
				}
				if i == len(looks)-1 {
					moments[i].end = l.Yes
				}
			}
			return moments, err
		},
		Metrics: append(walk.MetricsOf(queries, func(t moment) walk.Look { return t.Look }),
			lab.Metric[moment]{Name: "rate in the end", Unit: lab.InPercent, Of: func(t moment) float64 { return t.end }, Asked: func(lab.At) int { return queries }},
			lab.Metric[moment]{Name: "bits from twice the first size", Of: func(t moment) float64 { return t.grown }}),
		Formulas: []lab.Formula{{Name: "asked", Unit: lab.InPercent, Of: func(lab.At) float64 { return e.Float("rate") }}},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
		fmt.Sprintf("All are made for %d keys. Bits per key are those of the whole filter, fast and slow, by its own account.", first),
	}}, err
}

var files = lab.Experiment{
	ID:       "all/files",
	Title:    "Files and damage",
	Question: "Does a file give back the filter that was saved, and is every damaged bit, every missing and every additional byte noticed?",
	Says:     "README: \"saves filters in files that notice every damaged bit\".",
	Quick:    lab.Params{lab.Int("keys", 300), lab.Float("rate", 0.01), lab.Int("most damages", 4_000), lab.Int("queries", 20_000)},
	Full:     lab.Params{lab.Int("keys", 1_000), lab.Float("rate", 0.01), lab.Int("most damages", 1_000_000), lab.Int("queries", 1_000_000)},
	Run:      runFiles,
	Claims: []lab.Claim{
		{Name: "no answer of a filter that was read is another", Printed: "files notice every damaged bit", Where: "README", Of: lab.Of("unequal answers"), Is: lab.Zero()},
		{Name: "no flipped bit is unnoticed", Printed: "files notice every damaged bit", Where: "README", Of: lab.Of("flips unnoticed"), Is: lab.Zero(), Show: []lab.Pick{lab.Of("bits flipped, one at a time")}},
		{Name: "no file cut short is read", Printed: "files notice every damaged bit", Where: "README", Of: lab.Of("cuts unnoticed"), Is: lab.Zero()},
		{Name: "no byte too many is unnoticed", Printed: "files notice every damaged bit", Where: "README", Of: lab.Of("added bytes unnoticed"), Is: lab.Zero()},
	},
}

// A file is what became of one.
type file struct {
	bytes                int
	unequal              int // answers of the filter that was read back
	flips, flipsOK       int // bits that were changed, and files that were read all the same
	cuts, cutsOK         int // likewise, files that were cut short
	trailing, trailingOK int // likewise, with a byte more
}

func runFiles(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	all := entrants()
	count := func(name string, of func(f file) int) lab.Metric[file] {
		return lab.Metric[file]{Name: name, Of: func(f file) float64 { return float64(of(f)) }}
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[file]{
		Name: "files", Title: "Files that were changed and read", Dims: []lab.Dim{lab.Among("kind", names(all)...)}, Trials: 1,
		Trial: func(at lab.At, r *rand.Rand) (file, error) { return damage(ctx, e, all[at.Int("kind")], r) },
		Metrics: []lab.Metric[file]{
			count("bytes", func(f file) int { return f.bytes }),
			count("unequal answers", func(f file) int { return f.unequal }),
			count("bits flipped, one at a time", func(f file) int { return f.flips }),
			count("flips unnoticed", func(f file) int { return f.flipsOK }),
			count("cut short", func(f file) int { return f.cuts }),
			count("cuts unnoticed", func(f file) int { return f.cutsOK }),
			count("bytes added", func(f file) int { return f.trailing }),
			count("added bytes unnoticed", func(f file) int { return f.trailingOK }),
		},
		Notes: []string{"Where there are more bits than damages, they are chosen at random."},
	})
	return &lab.Result{Grids: []*lab.Grid{g}}, err
}

// damage saves a filter and spoils the file in all ways.
func damage(ctx context.Context, e *lab.Env, x entrant, r *rand.Rand) (file, error) {
	n, k := e.Int("keys"), walk.NewKeys(r)
	f, err := x.make(uint64(n), e.Float("rate"))
	if err != nil {
		return file{}, err
	}
	if _, err := fill(f, k, 0, n); err != nil {
		return file{}, err
	}
	snapshot, err := filter.Snapshot(f)
	if err != nil {
		return file{}, err
	}
	var saved bytes.Buffer
	if _, err := snapshot.WriteTo(&saved); err != nil {
		return file{}, err
	}
	out := file{bytes: saved.Len()}
	again, err := kinds.Read(bytes.NewReader(saved.Bytes()))
	if err != nil {
		return out, fmt.Errorf("%s: %w", x.name, err)
	}
	for i := range e.Int("queries") {
		if k := k.Stranger(i); f.MayContain(k) != again.MayContain(k) {
			out.unequal++
		}
	}
	out.unequal += denied(again, k, 0, n)
	out.spoil(ctx, saved.Bytes(), e.Int("most damages"), r)
	return out, ctx.Err()
}

// spoil changes a file, reads it, and changes it back.
func (f *file) spoil(ctx context.Context, data []byte, most int, r *rand.Rand) {
	reads := func(data []byte) int {
		if _, err := kinds.Read(bytes.NewReader(data)); err == nil {
			return 1
		}
		return 0
	}
	for i := range chosen(8*len(data), most, r) {
		data[i/8] ^= 1 << (i % 8)
		f.flipsOK += reads(data)
		f.flips++
		data[i/8] ^= 1 << (i % 8)
		if ctx.Err() != nil {
			return
		}
	}
	for i := range chosen(len(data), most/8, r) {
		f.cutsOK += reads(data[:i])
		f.cuts++
	}
	for b := range 256 {
		f.trailingOK += reads(append(data[:len(data):len(data)], byte(b)))
		f.trailing++
	}
}

// chosen gives all numbers below n, or most of them at random.
func chosen(n, most int, r *rand.Rand) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range min(n, most) {
			if n > most {
				i = r.IntN(n)
			}
			if !yield(i) {
				return
			}
		}
	}
}
