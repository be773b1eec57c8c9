package ebf21

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// What Table 1 prints, and w of Sec. 4.3.
const (
	tableHashes    = 5
	tableSlots     = 8
	tableSize      = 15 // log2 of the bits
	tableBranches  = 3
	tableThreshold = 0.2
	hashBits       = 32
)

// In Sec. 5.2 and 5.3 filters have 2^18 bits at first, and a relative peak data size of 1 is
// 2^14 keys. Quick runs have smaller filters and the same share of bits to keys.
const (
	peakSize = 18
	peakUnit = 14
)

// peakKeys is how many keys a relative peak data size is for filters of 2^size bits.
func peakKeys(peak float64, size int) float64 {
	return math.Floor(math.Ldexp(peak, size-peakSize+peakUnit))
}

// tableRate is Δ = Ω^k, the rate at which filters are full.
var tableRate = math.Pow(tableThreshold, tableHashes)

// tableShape is an elastic filter of Table 1 with 2^size bits at first.
func tableShape(size int, salt uint64) elastic.Shape {
	return elastic.Shape{
		Bits: 1 << size, Hashes: tableHashes, HashBits: hashBits, Slots: tableSlots, Branches: tableBranches,
		Growth: hashBits - size, Threshold: tableThreshold, Salt: salt,
	}
}

// fullKeys is how many keys 2^size bits take at the threshold.
func fullKeys(size float64) float64 {
	m := math.Exp2(size)
	return theory.BloomCardinality(m, tableHashes, tableThreshold*m)
}

// The contenders. Par-BF has 2^partBits lists.
const (
	ebf       = "EBF"
	dbf       = "DBF"
	sbf       = "SBF"
	standard  = "standard"
	parBF     = "Par-BF"
	computing = "computing only"
	partBits  = 4
)

// build makes a contender: 2^size bits or counters at first, k as in Table 1, units of
// lists full at the given share of set positions.
func build(name string, size int, fill float64, salt uint64) (filter.Filter, error) {
	list := func(size int) dynamic.Shape {
		return dynamic.Shape{Positions: 1 << size, Hashes: tableHashes, CounterBits: 4, Full: uint64(fill * math.Ldexp(1, size)), Salt: salt}
	}
	plain := bloom.Shape{Bits: 1 << size, Hashes: tableHashes, Salt: salt}
	switch name {
	case ebf:
		return elastic.Build(tableShape(size, salt))
	case standard:
		return bloom.Build(plain)
	case sbf:
		first, err := bloom.Build(plain)
		return &doublingFilter{units: []*bloom.Filter{first}, threshold: fill}, err
	case dbf:
		return dynamic.Build(list(size))
	case parBF:
		return dynamic.BuildParallel(dynamic.ParallelShape{Partitions: 1 << partBits, Shape: list(size - partBits)})
	case computing:
		return computer{}, nil
	}
	return nil, fmt.Errorf("ebf21: no contender %q", name)
}

// computer is no filter: it takes about as long for a key as an insertion, and no memory.
type computer struct{}

func (computer) Add(k filter.Key) (bool, error) {
	sum := filter.Key(1)
	for range 300 {
		sum = 3*sum ^ k
	}
	runtime.KeepAlive(sum)
	return true, nil
}

func (computer) MayContain(filter.Key) bool { return false }

func (computer) Info() filter.Info { return filter.Info{Kind: computing} }

// evenFill is the share of set positions at which the units of a list are full so that
// all of them together have the rate Ω^k with n keys: "the FPR thresholds are guaranteed
// to be the same". The units of an SBF double.
func evenFill(name string, size int, n float64) float64 {
	fill := tableThreshold
	for range 100 { // it converges, and jumps at whole units do no harm
		firsts := n * tableHashes / (-math.Log1p(-fill) * math.Ldexp(1, size))
		units := math.Ceil(firsts)
		if name == sbf {
			units = math.Ceil(math.Log2(firsts + 1))
		}
		fill = (fill + math.Pow(tableRate/max(1, units), 1.0/tableHashes)) / 2
	}
	return fill
}

// doublingFilter is the scalable filter that [EBF21] compares with, its reference
// [36]: when the last Bloom filter is full, one of twice the length is appended.
// All are full at the same share of set bits, so that every doubling of the set
// adds once more to the rate. In filter/scalable the rates of the units fall instead.
type doublingFilter struct {
	units     []*bloom.Filter // the last takes the keys
	threshold float64
}

// Add puts a key that no unit answers for into the last one.
func (f *doublingFilter) Add(k filter.Key) (bool, error) {
	if f.MayContain(k) {
		return false, nil
	}
	last := f.units[len(f.units)-1]
	if s := last.Shape(); float64(last.SetBits()) >= f.threshold*float64(s.Bits) {
		s.Bits *= 2
		next, err := bloom.Build(s)
		if err != nil {
			return false, err
		}
		f.units, last = append(f.units, next), next
	}
	return last.Add(k)
}

// MayContain asks the largest unit first: it has half of the keys.
func (f *doublingFilter) MayContain(k filter.Key) bool {
	for _, u := range slices.Backward(f.units) {
		if u.MayContain(k) {
			return true
		}
	}
	return false
}

// Info tells the kind.
func (f *doublingFilter) Info() filter.Info { return filter.Info{Kind: "doubling", Unbounded: true} }

// filled is an elastic filter with keys.
func filled(s elastic.Shape, keys []filter.Key) (*elastic.Filter, error) {
	f, err := elastic.Build(s)
	if err != nil {
		return nil, err
	}
	return f, addAll(f, keys)
}

// addAll puts keys into a filter, all of which it must take.
func addAll(f filter.Filter, keys []filter.Key) error {
	if done, _, err := filter.AddBatch(f, keys); err != nil {
		return fmt.Errorf("ebf21: adding key %d of %d: %w", done, len(keys), err)
	}
	return nil
}
