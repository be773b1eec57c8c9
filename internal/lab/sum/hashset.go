package sum

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"runtime"

	"github.com/everbloom-go/everbloom/filter"
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

// The ways to keep a set of texts: with k seeds as [Sum] programs it, with one hash,
// with counters, and without a filter.
const (
	seededWay  = "k seeds, Murmur3, mod m"
	murmurWay  = "one Murmur3, derived"
	derivedWay = "one XXH3, derived"
	countWay   = "one XXH3, counters"
	mapWay     = "Go's map"
)

// texts is a set of texts, exact or not.
type texts struct {
	add, has func(key []byte) bool
}

// newTexts returns a set that is kept in some way, with seeds of its own.
func newTexts(way string, r *rand.Rand, s bloom.Shape) (texts, error) {
	h := filter.XXH3(r.Uint64())
	var f filter.Filter
	var err error
	switch way {
	case mapWay:
		set := map[string]struct{}{}
		return texts{
			func(key []byte) bool { set[string(key)] = struct{}{}; return true },
			func(key []byte) bool { _, ok := set[string(key)]; return ok },
		}, nil
	case seededWay:
		f := newSeeded(r, uint32(s.Bits), s.Hashes)
		return texts{f.add, f.has}, nil
	case countWay:
		f, err = deleter(counters, s)
	case murmurWay:
		h = filter.Murmur3(r.Uint64())
		fallthrough
	default:
		f, err = bloom.Build(s)
	}
	return texts{
		func(key []byte) bool { added, _ := f.Add(h.Bytes(key)); return added }, // never full
		func(key []byte) bool { return f.MayContain(h.Bytes(key)) },
	}, err
}

// address returns a random IPv4 address as text, the keys of the Metflicks challenge.
// Present keys have the lowest bit clear, absent ones set.
func address(b []byte, r *rand.Rand, absent uint32) []byte {
	a := r.Uint32()&^1 | absent
	return netip.AddrFrom4([4]byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)}).AppendTo(b[:0])
}

// seeded is the filter as [Sum] programs it: k random seeds, k MurmurHash3 hashes, of
// which 32 bits are reduced modulo m. It has fewer than 2^32 bits.
type seeded struct {
	bits   []uint64
	size   uint32
	hashes []filter.Hash
}

// newSeeded draws the seeds as set_seeds does: 31 bits each.
func newSeeded(r *rand.Rand, size uint32, hashes int) *seeded {
	f := &seeded{bits: make([]uint64, size/64+1), size: size}
	for range hashes {
		f.hashes = append(f.hashes, filter.Murmur3(r.Uint64N(1<<31)))
	}
	return f
}

func (f *seeded) add(key []byte) bool {
	for _, h := range f.hashes {
		i := uint32(h.Bytes(key)) % f.size
		f.bits[i/64] |= 1 << (i % 64)
	}
	return true
}

func (f *seeded) has(key []byte) bool {
	for _, h := range f.hashes {
		i := uint32(h.Bytes(key)) % f.size
		if f.bits[i/64]>>(i%64)&1 == 0 {
			return false
		}
	}
	return true
}
