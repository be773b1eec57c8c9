package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/everbloom-go/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/internal/timing"
)

// A bar is a limit everbloom has set itself. With a rival the value is the ratio of times, else
// it is a plain figure of the contender.
type bar struct {
	name      string
	contender string
	ops       []op // or some of the figures below
	rival     string
	rivalOp   op        // if it is another
	sizes     []uint64  // numbers of keys it holds for; nil for every one measured
	fprs      []float64 // rates it holds for; nil for every one measured
	limit     float64   // the most the value may be
	wanted    float64   // better still, 0 if nothing is said

	op op // the one of ops that is looked at
}

// Figures of a contender that are not times.
const (
	bitsPerKey op = "bits/key"
	anyAllocs  op = "allocations"
)

// noAllocs is a limit for allocations per key that leaves room for a stray one of the runtime.
const noAllocs = 0.001

const (
	blocked       = "everbloom blocked"
	classic       = "everbloom classic"
	countingKind  = "everbloom counting"
	deletableKind = "everbloom deletable"
	dleftKind     = "everbloom dleft"
	scalableKind  = "everbloom scalable"
	partitionKind = "everbloom partition"
	dynamicKind   = "everbloom dynamic 1024"
	evergreenKind = "everbloom evergreen"
	perennialKind = "everbloom perennial"
	setKind       = "everbloom Set"

	perennialLoose = "everbloom perennial, fill 0.86"
	panmariKind    = "panmari cuckoo 16b"
)

// What bars are about, and where they hold.
var (
	asks    = []op{hit, miss}
	everyOp = []op{insert, hit, miss, remove}

	hitBatches  = []op{hit.inBatches(64), hit.inBatches(1024)}
	missBatches = []op{miss.inBatches(64), miss.inBatches(1024)}

	usual   = []uint64{1e6, 50e6}
	large   = []uint64{50e6}
	beyond  = []uint64{20e6, 50e6} // the caches
	three   = []uint64{1e6, 20e6, 50e6}
	percent = []float64{0.01}
)

// bars holds for keys of 8 bytes and one thread. Bits per key are those the process pays,
// and are not asked of tiny sets, where the allocator's size classes decide.
var bars = []bar{
	{name: "as fast as the assembly", contender: blocked, ops: asks, rival: "parquet-go SBBF", limit: 1.1},
	{name: "one cache line", contender: blocked, ops: asks, rival: "bits-and-blooms", sizes: large, limit: 0.25},
	{name: "small", contender: blocked, ops: []op{bitsPerKey}, sizes: usual, fprs: percent, limit: 10.3},
	{name: "small", contender: blocked, ops: []op{bitsPerKey}, sizes: usual, fprs: []float64{0.001}, limit: 16.0},
	{name: "batches pay", contender: blocked, ops: hitBatches, rival: blocked, rivalOp: hit, sizes: large, limit: 0.85, wanted: 0.6},
	{name: "batches pay", contender: blocked, ops: missBatches, rival: blocked, rivalOp: miss, sizes: large, limit: 0.85, wanted: 0.6},
	{name: "a better classic", contender: classic, ops: []op{insert, hit}, rival: "bits-and-blooms", limit: 0.7},
	{name: "a better classic", contender: classic, ops: []op{miss}, rival: "bits-and-blooms", limit: 0.5},

	// What a Set costs beside its filter, safe for goroutines as it is.
	{name: "a set is as fast", contender: setKind, ops: asks, rival: blocked, sizes: usual, fprs: percent, limit: 1.15},
	{name: "a set is as fast", contender: setKind, ops: []op{insert}, rival: blocked, sizes: []uint64{1e6}, limit: 2.5},
	{name: "a set is as fast", contender: setKind, ops: []op{insert}, rival: blocked, sizes: large, limit: 1.5},

	// The same kinds of filter of the library that has them all, and the cuckoo filters,
	// whose rivals d-left filters are.
	{name: "a better counting", contender: countingKind, ops: everyOp, rival: "Boom counting", sizes: usual, fprs: percent, limit: 0.5},
	{name: "a better deletable", contender: deletableKind, ops: everyOp, rival: "Boom deletable", sizes: usual, fprs: percent, limit: 0.6},
	{name: "near cuckoo", contender: dleftKind, ops: asks, rival: panmariKind, sizes: usual, fprs: percent, limit: 1.3},
	{name: "near cuckoo", contender: dleftKind, ops: asks, rival: "linvon cuckoo 10/13b", sizes: usual, fprs: percent, limit: 1.3},

	// The paper's: a partition filter is far ahead of a list of units, and near a plain
	// filter of the same rate.
	{name: "a better scalable", contender: scalableKind, ops: asks, rival: "Boom scalable", sizes: []uint64{1e6}, fprs: percent, limit: 0.5},
	{name: "a tree, not a list", contender: partitionKind, ops: asks, rival: dynamicKind, sizes: []uint64{10e6}, fprs: []float64{0.0001}, limit: 0.01},
	{name: "near a plain filter", contender: partitionKind, ops: asks, rival: classic, sizes: []uint64{10e6}, fprs: []float64{0.0001}, limit: 2.5},

	// Growth and shrinking included: lookups are near those of a filter that can neither
	// delete nor grow, and changes near those of the cuckoo filters, which do not grow.
	{name: "near a plain filter", contender: evergreenKind, ops: asks, rival: blocked, sizes: large, fprs: percent, limit: 1.2},
	{name: "batches pay", contender: evergreenKind, ops: hitBatches, rival: evergreenKind, rivalOp: hit, sizes: large, fprs: percent, limit: 0.85},
	{name: "batches pay", contender: evergreenKind, ops: missBatches, rival: evergreenKind, rivalOp: miss, sizes: large, fprs: percent, limit: 0.85},
	{name: "near cuckoo", contender: evergreenKind, ops: []op{insert}, rival: panmariKind, sizes: large, fprs: percent, limit: 2},
	{name: "near cuckoo", contender: evergreenKind, ops: []op{remove}, rival: panmariKind, sizes: large, fprs: percent, limit: 4},
	{name: "near cuckoo", contender: evergreenKind, ops: []op{insert}, rival: "linvon cuckoo 10/13b", sizes: large, fprs: percent, limit: 2},
	{name: "near cuckoo", contender: evergreenKind, ops: []op{remove}, rival: "linvon cuckoo 10/13b", sizes: large, fprs: percent, limit: 4},

	// Growth from nothing and shrinking included, beside a cuckoo filter that was made for all
	// keys, and takes more memory.
	{name: "faster than cuckoo", contender: perennialKind, ops: asks, rival: panmariKind, sizes: beyond, fprs: percent, limit: 1, wanted: 0.8},
	{name: "batches pay", contender: perennialKind, ops: hitBatches, rival: perennialKind, rivalOp: hit, sizes: large, fprs: percent, limit: 0.5},
	{name: "batches pay", contender: perennialKind, ops: missBatches, rival: perennialKind, rivalOp: miss, sizes: large, fprs: percent, limit: 0.5},
	{name: "near cuckoo", contender: perennialKind, ops: []op{insert}, rival: panmariKind, sizes: three, fprs: percent, limit: 2.5},
	{name: "near cuckoo", contender: perennialKind, ops: []op{remove}, rival: panmariKind, sizes: three, fprs: percent, limit: 3},
	{name: "small", contender: perennialKind, ops: []op{bitsPerKey}, sizes: three, fprs: percent, limit: 16.9},
	{name: "small", contender: perennialKind, ops: []op{bitsPerKey}, sizes: three, fprs: []float64{0.001}, limit: 20.6},

	{name: "no garbage", contender: blocked, ops: []op{anyAllocs}, limit: noAllocs},
	{name: "no garbage", contender: classic, ops: []op{anyAllocs}, limit: noAllocs},
	{name: "no garbage", contender: setKind, ops: []op{anyAllocs}, limit: noAllocs},
	{name: "no garbage", contender: countingKind, ops: []op{anyAllocs}, limit: noAllocs},
	{name: "no garbage", contender: deletableKind, ops: []op{anyAllocs}, limit: noAllocs},
	{name: "no garbage", contender: dleftKind, ops: []op{anyAllocs}, limit: noAllocs},
}

// inBars tells whether a bar needs the contender.
func inBars(name string) bool {
	return slices.ContainsFunc(bars, func(b bar) bool { return b.contender == name || b.rival == name })
}

// applies tells whether the bar holds for a setting.
func (b bar) applies(c cell) bool {
	return c.KeySize == 8 && c.Threads == 1 &&
		(b.sizes == nil || slices.Contains(b.sizes, c.N)) &&
		(b.fprs == nil || slices.Contains(b.fprs, c.FPR))
}

// values returns what is to be compared with the limit, round by round; none if it was not
// measured.
func (b bar) values(r *report, c cell) []float64 {
	own := r.find(c, b.contender)
	switch {
	case own == nil:
		return nil
	case b.op == bitsPerKey:
		return []float64{own.Facts.Bits}
	case b.op == anyAllocs:
		return []float64{maxAllocs(own.Facts)}
	}
	rival := r.find(c, b.rival)
	if rival == nil {
		return nil
	}
	return timing.Ratios(own.Nanos[b.op], rival.Nanos[b.comparedOp()])
}

// bestText writes the ratio of the best rounds of both sides. What disturbs a round only ever adds
// to it, so on a busy machine this is nearer to the truth than the median.
func (b bar) bestText(r *report, c cell) string {
	own, rival := r.find(c, b.contender), r.find(c, b.rival)
	if own == nil || rival == nil {
		return none
	}
	return figure(timing.Quantile(own.Nanos[b.op], 0)/timing.Quantile(rival.Nanos[b.comparedOp()], 0), "%.3g")
}

// comparedOp returns the rival's operation.
func (b bar) comparedOp() op {
	if b.rivalOp != "" {
		return b.rivalOp
	}
	return b.op
}

// maxAllocs returns the allocations per key of the operation that has most.
func maxAllocs(f *facts) (most float64) {
	for _, x := range f.Allocs {
		most = max(most, x)
	}
	return most
}

// verdict says how a value stands.
func (b bar) verdict(value float64) string {
	switch {
	case math.IsNaN(value):
		return "not measured"
	case value > b.limit:
		return "NOT met"
	case b.wanted > 0 && value > b.wanted:
		return fmt.Sprintf("met (wanted %g)", b.wanted)
	}
	return "met"
}

// against says what the value of the bar is.
func (b bar) against() string {
	switch b.rival {
	case "":
		return string(b.op)
	case b.contender:
		return fmt.Sprintf("%s ÷ own %s", b.op, b.rivalOp)
	}
	return fmt.Sprintf("%s ÷ %s", b.op, b.rival)
}

// writeBars writes all bars for all settings they apply to and tells whether none is missed.
func (r *report) writeBars(w *printer) bool {
	w.printf("## Bars\n\n")
	met := true
	t := table{rows: [][]string{{"bar", "contender", "value of", "keys", "asked", "value", "best", "limit", "verdict"}}}
	for _, b := range bars {
		for _, b.op = range b.ops {
			for _, c := range r.cells() {
				if !b.applies(c) {
					continue
				}
				values := b.values(r, c)
				value := timing.Median(values)
				met = met && !(value > b.limit)
				t.row(b.name, b.contender, b.against(), quantity.Round(float64(c.N)), quantity.Rate(c.FPR),
					valueText(values), b.bestText(r, c), fmt.Sprintf("%g", b.limit), b.verdict(value))
			}
		}
	}
	t.writeTo(w)
	return met
}

// valueText writes the median, with the spread if there was more than one round.
func valueText(values []float64) string {
	switch len(values) {
	case 0:
		return none
	case 1:
		return fmt.Sprintf("%.3g", values[0])
	}
	return fmt.Sprintf("%.3g ±%.0f%%", timing.Median(values), timing.Spread(values)*100)
}
