package sum

import (
	"context"
	"math/rand/v2"
	"runtime"

	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var hashset = lab.Experiment{
	ID:       "sum/hashset",
	Title:    "Against a hash set: memory and time",
	Question: "How much memory and time does a Bloom filter save against a hash set of the keys, and what do k hashes and counters cost?",
	Says: "Introduction: a Bloom filter \"is similar to a HashSet, but performs better on large datasets for membership queries\"; it uses \"less memory than HashSets\"; adding and asking take constant time. " +
		"Approach: \"a Bloom Filter is only as fast as its hashing function\". Implementation: counters come at the cost of increased computational complexity.",
	Params: lab.Params{lab.Ints("keys", 10_000, 100_000).Full(10_000, 100_000, 1_000_000), lab.Int("rounds", 7).Full(9)},
	Run:    runHashset,
	Claims: []lab.Claim{
		{Name: "memory of the filter", Printed: "less memory than HashSets", Where: "Introduction", Of: lab.Of("bits per key, filter"), Is: lab.Below(lab.Of("bits per key, set")), Show: []lab.Pick{lab.Of("bits per key, set").Over(lab.Of("bits per key, filter"))}},
		{
			Name: "time of a no, a million keys", Printed: "performs better on large datasets for membership queries", Where: "Introduction",
			Of: lab.Of("no", lab.Contenders, derivedWay, "keys", 1e6).Over(lab.Of("no", lab.Contenders, mapWay)), Is: lab.Below(lab.Number(1)), FullOnly: true,
		},
		{Name: "constant time: a no at all sizes", Of: lab.Of("no", lab.Contenders, derivedWay), Is: lab.Shows()},
		{Name: "time of a yes, k hashes to one", Printed: "a Bloom Filter is only as fast as its hashing function", Where: "Approach", Of: lab.Of("yes", lab.Contenders, seededWay).Over(lab.Of("yes", lab.Contenders, derivedWay)), Is: lab.Above(lab.Number(1))},
		{Name: "time to add, counters to bits", Printed: "increased computational complexity", Where: "Implementation", Of: lab.Of("add", lab.Contenders, countWay).Over(lab.Of("add", lab.Contenders, derivedWay)), Is: lab.Above(lab.Number(1))},
	},
}

func runHashset(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	keys := lab.Along("keys", e.Ints("keys")...)
	times := lab.Race{
		Name: "times", Title: "Addresses of up to 15 bytes, hashing included, P = 0.001", Dims: []lab.Dim{keys}, Contenders: []string{mapWay, seededWay, derivedWay, countWay}, Rounds: e.Int("rounds"),
		Start: func(at lab.At, contender string, r *rand.Rand) ([]lab.Lap, error) {
			n := at.Int("keys")
			s, err := bloom.Config{Items: uint64(n)}.Shape()
			if err != nil {
				return nil, err
			}
			f, err := newTexts(contender, r, s)
			present, asked := addresses(r, n, 0), min(n, 100_000)
			return []lab.Lap{each("add", present, f.add), each("yes", present[:asked], f.has), each("no", addresses(r, asked, 1), f.has)}, err
		},
	}
	memory := lab.Computed("memory", "Go's map of texts, and a Bloom filter", []lab.Dim{keys},
		lab.Formula{Name: "bits per key, set", Of: func(at lab.At) float64 { return mapBits(addresses(e.Rand(1), at.Int("keys"), 0)) }},
		lab.Formula{Name: "bits per key, filter", Of: func(at lab.At) float64 {
			s, _ := bloom.Config{Items: uint64(at.Int("keys"))}.Shape() // as in the race
			return float64(s.Bits) / at.Float("keys")
		}})
	return lab.Find(ctx, e, memory, times)
}

func addresses(r *rand.Rand, n int, absent uint32) [][]byte {
	list := make([][]byte, n)
	for i := range list {
		list[i] = address(nil, r, absent)
	}
	return list
}

// each is a lap that does something with each key.
func each(lap string, keys [][]byte, do func([]byte) bool) lab.Lap {
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

// mapBits are the bits of memory that a map takes for a key.
func mapBits(keys [][]byte) float64 {
	before := heap()
	set := map[string]struct{}{} // the number of keys is unknown
	for _, k := range keys {
		set[string(k)] = struct{}{}
	}
	used := float64(heap() - before)
	runtime.KeepAlive(set)
	runtime.KeepAlive(keys)
	return 8 * used / float64(len(keys))
}

// heap returns the bytes in use after a collection.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
