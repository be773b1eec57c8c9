package sum

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var hashset = lab.Experiment{
	ID:       "sum/hashset",
	Paper:    paper,
	Title:    "Against a hash set",
	Question: "How much memory and time does a Bloom filter save against a hash set of the keys?",
	Says: "Introduction: a Bloom filter \"is similar to a HashSet, but performs better on large datasets for membership queries\"; it uses \"less memory than HashSets and other set data structures, " +
		"with a constant space complexity\"; adding and asking take constant time. Implementation: counters come at the cost of increased computational complexity.",
	Quick: lab.Params{lab.Ints("keys", 10_000, 200_000), lab.Float("rate", 0.001), lab.Int("rounds", 5)},
	Full:  lab.Params{lab.Ints("keys", 10_000, 100_000, 1_000_000, 5_000_000), lab.Float("rate", 0.001), lab.Int("rounds", 9)},
	Run:   runHashset,
	Claims: []lab.Claim{
		{Name: "memory of the filter", Printed: "less memory than HashSets", Where: "Introduction", Of: lab.Of("bits per key, filter"), Is: lab.Below(lab.Of("bits per key, set")), Show: []lab.Pick{lab.Of("bits per key, set").Over(lab.Of("bits per key, filter"))}},
		{
			Name: "time of a no, a million keys and more", Printed: "performs better on large datasets for membership queries", Where: "Introduction",
			Of: lab.Of("no", lab.Contenders, "filter"), Is: lab.In(lab.Span{Dim: "keys", From: 1e6}, lab.Below(lab.Of("no", lab.Contenders, "set"))), Show: []lab.Pick{lab.Of("yes").Over(lab.Of("no"))}, FullOnly: true,
		},
		{Name: "constant time: a no at all sizes", Of: lab.Of("no"), Is: lab.Shows()},
		{Name: "time to add, counters to bits", Printed: "increased computational complexity", Where: "Implementation", Of: lab.Of("add", lab.Contenders, "counters").Over(lab.Of("add", lab.Contenders, "bits")), Is: lab.Above(lab.Number(1))},
	},
}

// rivals are a set and a filter of the same keys, with keys to ask for.
type rivals struct {
	set          map[string]struct{}
	filter       *bloom.Filter
	setBits      float64 // per key
	hits, misses []string
}

// name is the key of a number; the even ones are in the set.
func name(i int) string { return strconv.Itoa(1_000_000_000 + i) }

func meet(e *lab.Env, n int) (v rivals, err error) {
	if v.filter, err = bloom.New(bloom.Config{Items: uint64(n), FPR: e.Float("rate")}); err != nil {
		return v, err
	}
	before := heap()
	v.set = make(map[string]struct{}) // the number of keys is unknown
	for i := range n {
		v.set[name(2*i)] = struct{}{}
	}
	v.setBits = 8 * float64(heap()-before) / float64(n)
	for i := range n {
		if _, err := v.filter.Add(filter.Hash{}.String(name(2 * i))); err != nil {
			return v, err
		}
	}
	r := e.Rand(uint64(n))
	for range min(n, 100_000) {
		v.hits, v.misses = append(v.hits, name(2*r.IntN(n))), append(v.misses, name(2*r.IntN(n)+1))
	}
	return v, nil
}

// heap returns the bytes in use after a collection.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func runHashset(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	all := map[int]rivals{}
	for _, n := range e.Ints("keys") {
		v, err := meet(e, n)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		all[n] = v
	}
	keys := lab.Along("keys", e.Ints("keys")...)
	memory := lab.Computed("memory", "Go's map of strings, and a Bloom filter", []lab.Dim{keys},
		lab.Formula{Name: "bits per key, set", Of: func(at lab.At) float64 { return all[at.Int("keys")].setBits }},
		lab.Formula{Name: "bits per key, filter", Of: func(at lab.At) float64 {
			return float64(all[at.Int("keys")].filter.Info().FastBits) / at.Float("keys")
		}})
	asks, err := lab.Race{
		Name: "asks", Title: "One question after the other, hashing included; keys are decimal numbers as text", Dims: []lab.Dim{keys}, Contenders: []string{"set", "filter"}, Rounds: e.Int("rounds"),
		Start: func(at lab.At, contender string, _ *rand.Rand) ([]lab.Lap, error) {
			v := all[at.Int("keys")]
			has := func(k string) bool { _, ok := v.set[k]; return ok }
			if contender == "filter" {
				has = func(k string) bool { return v.filter.MayContain(filter.Hash{}.String(k)) }
			}
			return []lab.Lap{asking("yes", v.hits, has), asking("no", v.misses, has)}, nil
		},
	}.Run(ctx, e)
	if err != nil {
		return nil, err
	}
	n := slices.Min(e.Ints("keys"))
	adds, err := lab.Race{
		Name: "adds", Title: "Filling a filter of bits, and one of counters with as many positions and hashes", Contenders: []string{"bits", "counters"}, Rounds: e.Int("rounds"),
		Start: func(_ lab.At, contender string, r *rand.Rand) ([]lab.Lap, error) {
			s := bloom.Shape{Bits: uint64(14 * n), Hashes: 10}
			var f filter.Filter
			var err error
			if f, err = bloom.Build(s); contender == "counters" {
				f, err = deleter(counters, s)
			}
			has := func(k filter.Key) bool { added, _ := f.Add(k); return added }
			return []lab.Lap{asking("add", lab.RandomKeys(r, n), has)}, err
		},
	}.Run(ctx, e)
	return &lab.Result{Grids: []*lab.Grid{memory, asks, adds}}, err
}

// asking is a lap that does something with each key.
func asking[K any](lap string, keys []K, do func(K) bool) lab.Lap {
	return lab.Lap{Name: lap, Ops: len(keys), Run: func() error {
		yes := 0
		for _, k := range keys {
			if do(k) {
				yes++
			}
		}
		runtime.KeepAlive(yes) // or the compiler leaves out what is timed
		return nil
	}}
}
