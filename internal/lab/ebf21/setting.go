package ebf21

import (
	"fmt"
	"math"
	"math/rand/v2"

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

// peakSize and peakUnit are of Sec. 5.2 and 5.3: filters of 2^18 bits, and a
// relative peak data size of 1 for 2^14 keys.
const (
	peakSize = 18
	peakUnit = 14
)

// unitShare is how many bits there are to a key of relative peak data size 1, as
// log2. Quick runs have smaller filters and the same share.
const unitShare = peakSize - peakUnit

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

// The contenders.
const (
	ebf      = "EBF"
	dbf      = "DBF"
	sbf      = "SBF"
	standard = "standard"
	unitDBF  = "DBF, Ω in each unit"
	parBF    = "Par-BF"
)

// Par-BF has 2^partBits lists.
const partBits = 4

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
		return newDoubling(plain, fill)
	case dbf, unitDBF:
		return dynamic.Build(list(size))
	case parBF:
		return dynamic.BuildParallel(dynamic.ParallelShape{Partitions: 1 << partBits, Shape: list(size - partBits)})
	}
	return nil, fmt.Errorf("ebf21: no contender %q", name)
}

// evenFill is the share of set positions at which the units of a list are full so that
// all of them together have the rate Ω^k with n keys: "the FPR thresholds are guaranteed
// to be the same". The units of an SBF double.
func evenFill(name string, size int, n float64) float64 {
	if name == unitDBF {
		return tableThreshold
	}
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

// addAll puts keys into a filter, all of which it must take.
func addAll(f filter.Filter, keys []filter.Key) error {
	if done, _, err := filter.AddBatch(f, keys); err != nil {
		return fmt.Errorf("ebf21: adding key %d of %d: %w", done, len(keys), err)
	}
	return nil
}

// yesRate asks for keys that are not in the set.
func yesRate(f filter.Filter, r *rand.Rand, queries int) float64 {
	yes := 0
	for range queries {
		if f.MayContain(filter.Key(r.Uint64())) {
			yes++
		}
	}
	return float64(yes) / float64(max(1, queries))
}
