package ebf21

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var fig8a = lab.Experiment{
	ID:       "ebf21/fig8a",
	Paper:    paper,
	Title:    "Fig. 8a: slow memory against that of a counting filter",
	Question: "How much slow memory do the buckets take after each expansion, and how much counters that are made for the largest size at once?",
	Says: "Sec. 5.4, CAIDA trace, 2^12 bits at first, a CBF of 2^22 counters: \"EBF uses less memory mostly, but CBF make a better use of memory " +
		"when its size is nearly the maximum size\". The width of a counter is not said.",
	Quick: lab.Params{lab.Int("initial size, log2", 8), lab.Int("final size, log2", 18)},
	Full:  lab.Params{lab.Int("initial size, log2", 12), lab.Int("final size, log2", 22)},
	Run:   runFig8a,
	Plots: []lab.View{{
		Name: "memory", Title: "Slow memory by expansions", X: "expansions", Y: lab.Axis{Label: "KiB", Log: true},
		Curves: []lab.Curve{{Measured: "all slots"}, {Measured: "fingerprints alone"}, {Measured: "file"}, {Formula: "CBF, 16 bits", Style: lab.Dashed}, {Formula: "CBF, 4 bits", Style: lab.Dashed}},
		Notes:  []string{"Fingerprints and files as they are at the end of each stage, when they are most."},
	}},
	Claims: []lab.Claim{
		{Name: "EBF takes less slow memory than CBF", Printed: "EBF uses less memory mostly", Where: "Sec. 5.4", Of: lab.Of("all slots"), Is: lab.MostlyBelow(lab.Of("CBF, 16 bits"))},
		{Name: "CBF takes less at its maximum", Printed: "CBF make a better use of memory when its size is nearly the maximum size", Where: "Sec. 5.4", Of: lab.Of("all slots", "expansions", 10), Is: lab.Above(lab.Of("CBF, 16 bits"))},
		{Kind: lab.Own, Name: "with counters of 4 bits the CBF takes less, mostly", Printed: "the width that [dlCBF06] and filter/counting have", Of: lab.Of("CBF, 4 bits"), Is: lab.MostlyBelow(lab.Of("all slots"))},
		{Kind: lab.Question, Name: "empty slots", Printed: "whether they are counted is not said", Of: lab.Of("fingerprints alone", "expansions", 10).Over(lab.Of("all slots")), Is: lab.Shows(), Show: []lab.Pick{lab.Of("file", "expansions", 10).Over(lab.Of("all slots"))}},
	},
}

func runFig8a(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	first, last := e.Int("initial size, log2"), e.Int("final size, log2")
	stages := lab.Dim{Name: "expansions"}
	for i := range last - first + 1 {
		stages.Values = append(stages.Values, float64(i))
	}
	kib := func(name string, of func(grown) float64) lab.Metric[grown] {
		return lab.Metric[grown]{Name: name, Unit: "KiB", Of: func(s grown) float64 { return of(s) / 8 / 1024 }}
	}
	counters := func(bits float64) lab.Formula {
		return lab.Formula{Name: fmt.Sprintf("CBF, %v bits", bits), Unit: "KiB", Of: func(lab.At) float64 { return math.Ldexp(bits, last-13) }}
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[grown]{
		Name: "stages", Title: "Slow memory", Trace: stages, Trials: 1,
		Follow: func(_ lab.At, r *rand.Rand) ([]grown, error) {
			return watchExpansions(ctx, r, first, len(stages.Values), 0)
		},
		Metrics: []lab.Metric[grown]{
			{Name: "keys", Of: func(s grown) float64 { return s.keys }},
			kib("all slots", func(s grown) float64 { return s.slots }), kib("fingerprints alone", func(s grown) float64 { return s.prints }), kib("file", func(s grown) float64 { return s.stored }),
		},
		Formulas: []lab.Formula{counters(16), counters(4)},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
		"k = 5, D = 8, b = 3, Ω = 0.2, w = 32; flows once each, since repeated packets change nothing. A slot keeps the fingerprint of the initial size, since compression needs it whole again. " +
			"The CBF is judged with the counters of the authors' program, which have 16 bits; 4 bits are drawn beside.",
	}}, err
}

var fig8b = lab.Experiment{
	ID:       "ebf21/fig8b",
	Paper:    paper,
	Title:    "Fig. 8b: the time of an expansion",
	Question: "How long does whoever needs an expansion wait: with the lazy update, with all fingerprints moved at once, and if a new filter is built instead?",
	Says: "Sec. 5.4: with the load rate \"the time cost of these operations increases slightly. However, the time cost of lazy update keeps the lowest and that of " +
		"rebuilding EBF keeps the highest\".",
	Quick: lab.Params{lab.Ints("sizes, log2", 13, 15), lab.Floats("loads", 0.25, 1), lab.Int("rounds", 7)},
	Full:  lab.Params{lab.Ints("sizes, log2", 15, 18, 20), lab.Floats("loads", 0.125, 0.25, 0.5, 0.75, 1), lab.Int("rounds", 9)},
	Run:   runFig8b,
	Plots: []lab.View{{
		Name: "time", Title: "Time of an expansion from 2^15 bits", X: "load", By: lab.Contenders, At: []any{"log2 size", tableSize},
		XAxis: lab.Axis{Label: "keys, as a share of those at the threshold", Percent: true}, Y: lab.Axis{Label: "ns per bucket", Log: true}, Curves: []lab.Curve{{Measured: "expansion"}},
	}},
	Claims: []lab.Claim{
		{Name: "lazy update to normal expansion", Printed: "the time cost of lazy update keeps the lowest", Where: "Sec. 5.4", Of: to("expansion", lazy, normal), Is: lab.Below(lab.Number(1))},
		{Name: "lazy update to building anew", Printed: "the time cost of lazy update keeps the lowest", Where: "Sec. 5.4", Of: to("expansion", lazy, anew), Is: lab.Below(lab.Number(1))},
		{Name: "building anew to normal expansion", Printed: "that of rebuilding EBF keeps the highest", Where: "Sec. 5.4", Of: to("expansion", anew, normal), Is: lab.Above(lab.Number(1)), Why: slowExpansion, FullOnly: true},
		{Kind: lab.Question, Name: "load 1 to a quarter of it", Printed: "increases slightly", Where: "Sec. 5.4", Of: lab.Of("expansion", "load", 1.0).Over(lab.Of("expansion", "load", 0.25)), Is: lab.Shows()},
	},
}

const slowExpansion = "our normal expansion goes through all buckets, empty ones too, so that it takes about as long as adding the keys again. The authors' program times its normal expansion 20 times on one array, which is expanded after " +
	"the first pass (44,911 fingerprints move in the first, 611 in the second, none in the third), so that its bar is 2.2 to 2.6 times too low; hashing is a third of its build, and without that a build takes still 1.3 to 1.6 times as long as a first pass"

// The ways to a larger filter.
const (
	lazy   = "lazy update"
	normal = "normal expansion"
	anew   = "building anew"
)

func runFig8b(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	g, err := lab.Race{
		Name: "times", Title: "Time of an expansion, by buckets before it", Dims: []lab.Dim{lab.Along("log2 size", e.Ints("sizes, log2")...), lab.Along("load", e.Floats("loads")...)},
		Contenders: []string{lazy, normal, anew}, Rounds: e.Int("rounds"), Wall: true,
		Start: func(at lab.At, way string, r *rand.Rand) ([]lab.Lap, error) {
			size := at.Int("log2 size")
			run, err := expansion(way, r, size, int(at.Float("load")*fullKeys(float64(size))))
			return []lab.Lap{{Name: "expansion", Ops: 1 << size, Run: run}}, err
		},
	}.Run(ctx, e)
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
		"Distinct Stream, k = 5, D = 8, b = 3. Load 1 is as many keys as the threshold Ω = 0.2 allows. Building anew adds all keys to a filter that has the doubled size from the start; it needs the keys, which the other ways do not. Times are by the clock: a normal expansion may use several goroutines.",
	}}, err
}

// expansible is a filter of 2^size bits.
func expansible(size int, eager bool, salt uint64) (*elastic.Filter, error) {
	return elastic.New(elastic.Config{
		Items: uint64(0.9 * fullKeys(float64(size))), FPR: tableRate, Hashes: tableHashes, Slots: tableSlots, Branches: tableBranches, HashBits: hashBits, Eager: eager, Salt: salt,
	})
}

// expansion returns one way to twice the size, with n keys or a few less: they must not
// make the filter expand by themselves.
func expansion(way string, r *rand.Rand, size, n int) (func() error, error) {
	salt, keys := r.Uint64(), lab.RandomKeys(r, n)
	if way == anew {
		return func() error {
			f, err := expansible(size+1, false, salt)
			if err != nil {
				return err
			}
			return addAll(f, keys)
		}, nil
	}
	f, err := expansible(size, way == normal, salt)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if f.Info().Fill >= tableThreshold-1e-3-2*tableHashes/math.Exp2(float64(size)) {
			break
		}
		if _, err := f.Add(k); err != nil {
			return nil, err
		}
	}
	if f.Bits() != 1<<size {
		return nil, fmt.Errorf("ebf21: %d bits, want 2^%d", f.Bits(), size)
	}
	return f.Grow, nil
}

var slowfile = lab.Experiment{
	ID:       "ebf21/slowfile",
	Paper:    paper,
	Title:    "Sec. 4.3: slow memory on disk",
	Question: "What does an elastic filter cost whose buckets are in a file?",
	Says: "Sec. 4.3: \"the space of the slow memory (e.g., disk) is sufficient and the size of the Bloom filter in the fast memory can be up to 512MB\". Sec. 3.2.2: for a query " +
		"\"there is no need to access the slow memory so that we can achieve a high query speed\". No experiment with a disk is printed.",
	Quick: lab.Params{lab.Int("initial size, log2", 12), lab.Int("keys", 4_000), lab.Int("rounds", 7)},
	Full:  lab.Params{lab.Int("initial size, log2", tableSize), lab.Int("keys", 500_000), lab.Int("rounds", 9)},
	Run:   runSlowfile,
	Claims: []lab.Claim{
		{Name: "random query, file to memory", Printed: "there is no need to access the slow memory: at most 1.25 times the time", Where: "Sec. 3.2.2", Of: to(absent, onDisk, inMemory), Is: lab.AtMost(lab.Number(1.25))},
		{Name: "positive query, file to memory", Printed: "there is no need to access the slow memory: at most 1.25 times the time", Where: "Sec. 3.2.2", Of: to(present, onDisk, inMemory), Is: lab.AtMost(lab.Number(1.25))},
		{Kind: lab.Question, Name: "insertion, file to memory", Printed: "not said", Of: to(insertion, onDisk, inMemory), Is: lab.Shows(), Show: []lab.Pick{to(deletion, onDisk, inMemory)}},
	},
}

const (
	inMemory = "in memory"
	onDisk   = "in a file"
)

func runSlowfile(ctx context.Context, e *lab.Env) (result *lab.Result, err error) {
	folder, err := os.MkdirTemp("", "everbloom-lab")
	if err != nil {
		return nil, err
	}
	open := map[string]*elastic.Filter{} // those of the round
	defer func() {
		for _, f := range open {
			err = errors.Join(err, f.Close())
		}
		err = errors.Join(err, os.RemoveAll(folder))
	}()
	n, size := e.Int("keys"), float64(e.Int("initial size, log2"))
	filed := func(salt uint64) elastic.Config {
		return elastic.Config{Items: uint64(fullKeys(size)), FPR: tableRate, Hashes: tableHashes, SlowFile: filepath.Join(folder, fmt.Sprintf("%x", salt)), Salt: salt}
	}
	times, err := lab.Race{
		Name: "times", Title: "Time of one operation", Contenders: []string{inMemory, onDisk}, Rounds: e.Int("rounds"),
		Start: func(_ lab.At, name string, r *rand.Rand) ([]lab.Lap, error) {
			if before := open[name]; before != nil {
				if err := before.Close(); err != nil {
					return nil, err
				}
			}
			c := filed(r.Uint64())
			if name == inMemory {
				c.SlowFile = ""
			}
			f, err := elastic.New(c)
			if err != nil {
				return nil, err
			}
			open[name] = f
			return operate(f, r, n, n), nil
		},
	}.Run(ctx, e)
	return &lab.Result{Grids: []*lab.Grid{times}, Notes: []string{
		"The file is mapped and larger than its keys need; as long as the machine has memory to spare, it keeps the pages, and only the first touch of each costs.",
	}}, err
}
