package sum

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var hashset = lab.Experiment{
	ID:       "sum/hashset",
	Paper:    "[Sum]",
	Title:    "Against a hash set",
	Question: "How much memory and time does a Bloom filter save against a hash set of the keys?",
	Says: "Introduction: a Bloom filter \"is similar to a HashSet, but performs better on large datasets for membership queries\"; it uses \"less memory than HashSets and other set data structures, " +
		"with a constant space complexity\"; adding and asking take constant time.",
	Quick: lab.Params{lab.Ints("keys", 10_000, 200_000), lab.Float("rate", 0.001), lab.Int("rounds", 5)},
	Full:  lab.Params{lab.Ints("keys", 10_000, 100_000, 1_000_000, 5_000_000), lab.Float("rate", 0.001), lab.Int("rounds", 9)},
	Run:   runHashset,
}

// rivalry is what one number of keys gave: bits and nanoseconds per key.
type rivalry struct {
	n                     int
	setBits, filterBits   float64
	setHit, setMiss       float64
	filterHit, filterMiss float64
}

func runHashset(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	table := lab.Table{
		Name: "rivals", Title: fmt.Sprintf("Go's map of strings, and a Bloom filter with P = %v", e.Float("rate")),
		Columns: []string{"keys", "bits per key, set", "bits per key, filter", "ratio", "ns per yes, set", "filter", "ns per no, set", "filter"},
		Notes:   []string{"Times are medians of several rounds on this machine, hashing included; both are asked one key at a time. Keys are decimal numbers as text, and the set holds them."},
	}
	memory := lab.Series{Name: "set", Style: lab.LinePoints}
	slim := lab.Series{Name: "filter", Style: lab.LinePoints}
	var first, last rivalry
	for i, n := range e.Ints("keys") {
		e.Progress(i, len(e.Ints("keys")))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, err := rival(e, n)
		if err != nil {
			return nil, err
		}
		table.Add(n, v.setBits, v.filterBits, v.setBits/v.filterBits, v.setHit, v.filterHit, v.setMiss, v.filterMiss)
		memory.Points = append(memory.Points, lab.Point{X: float64(n), Y: v.setBits})
		slim.Points = append(slim.Points, lab.Point{X: float64(n), Y: v.filterBits})
		if last = v; i == 0 {
			first = v
		}
	}
	cost, err := counterCost(e)
	if err != nil {
		return nil, err
	}
	return &lab.Result{
		Tables: []lab.Table{table}, Checks: append(rivalChecks(last), constantTime(first, last), cost),
		Plots: []lab.Plot{{
			Name: "memory", Title: "Memory per key", X: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "bits per key", Log: true},
			Series: []lab.Series{memory, slim},
		}},
	}, nil
}

// rival fills both and times them.
func rival(e *lab.Env, n int) (v rivalry, err error) {
	f, err := bloom.New(bloom.Config{Items: uint64(n), FPR: e.Float("rate")})
	if err != nil {
		return v, err
	}
	r := e.Rand(uint64(n))
	v.n = n
	before := heap()
	set := make(map[string]struct{}) // the number of keys is unknown
	for i := range n {
		set[name(2*i)] = struct{}{}
	}
	v.setBits = 8 * float64(heap()-before) / float64(n)
	var h filter.Hash
	for i := range n {
		if _, err := f.Add(h.String(name(2 * i))); err != nil {
			return v, err
		}
	}
	v.filterBits = float64(f.Info().FastBits) / float64(n)
	hits, misses := names(r, n, 0), names(r, n, 1)
	list := timeSets(set, f, hits, misses, e.Int("rounds"))
	per := float64(len(hits))
	v.setHit, v.filterHit, v.setMiss, v.filterMiss = list[0].median()/per, list[1].median()/per, list[2].median()/per, list[3].median()/per
	return v, nil
}

// timeSets asks set and filter about present and absent keys, in turn.
func timeSets(set map[string]struct{}, f *bloom.Filter, hits, misses []string, rounds int) []contest {
	var h filter.Hash
	inSet := func(keys []string) func() uint64 {
		return func() (yes uint64) {
			for _, k := range keys {
				if _, ok := set[k]; ok {
					yes++
				}
			}
			return yes
		}
	}
	inFilter := func(keys []string) func() uint64 {
		return func() (yes uint64) {
			for _, k := range keys {
				if f.MayContain(h.String(k)) {
					yes++
				}
			}
			return yes
		}
	}
	list := []contest{{run: inSet(hits)}, {run: inFilter(hits)}, {run: inSet(misses)}, {run: inFilter(misses)}}
	timeRounds(list, rounds)
	return list
}

// name is the key of a number; even ones are in the set.
func name(i int) string { return strconv.Itoa(1_000_000_000 + i) }

// names draws keys to ask about, absent ones if odd is 1.
func names(r *rand.Rand, n, odd int) []string {
	list := make([]string, min(n, 100_000))
	for i := range list {
		list[i] = name(2*r.IntN(n) + odd)
	}
	return list
}

// heap returns the bytes in use after a collection.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// rivalChecks judges by the largest set.
func rivalChecks(v rivalry) []lab.Check {
	return []lab.Check{
		lab.Holds(fmt.Sprintf("memory, %d keys", v.n), "less memory than HashSets (Introduction)", fmt.Sprintf("%.0f and %.1f bits per key: %.1f times less", v.setBits, v.filterBits, v.setBits/v.filterBits),
			v.filterBits < v.setBits, "direction only"),
		lab.Show("space of the filter: constant by construction", fmt.Sprintf("%.1f bits for each key that was planned, however many are added", v.filterBits)),
		lab.Holds(fmt.Sprintf("time of a no, %d keys (timing)", v.n), "performs better on large datasets for membership queries (Introduction)",
			fmt.Sprintf("%.0f ns in the set, %.0f ns in the filter: ratio %.2f", v.setMiss, v.filterMiss, v.setMiss/v.filterMiss), v.filterMiss < v.setMiss, "direction only").
			Because("a query reads up to k places of memory where a hash set reads one or two; the filter gains only where the set no longer fits a cache and the filter does").Timed(),
		lab.Show(fmt.Sprintf("time of a yes, %d keys (timing)", v.n), fmt.Sprintf("%.0f ns in the set, %.0f ns in the filter: ratio %.2f", v.setHit, v.filterHit, v.setHit/v.filterHit)),
	}
}
