package ebf21

import (
	"fmt"
	"math"
	"sort"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/lab"
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
func fullKeys(size int) float64 {
	m := math.Ldexp(1, size)
	return theory.BloomCardinality(m, tableHashes, tableThreshold*m)
}

// A contender is a filter in a comparison: 2^size bits or counters at first, k and
// Ω as in Table 1.
type contender struct {
	name  string
	color int // the same in all plots
	build func(size int, salt uint64) (filter.Filter, error)
}

var (
	elasticOne = contender{"EBF", 1, func(size int, salt uint64) (filter.Filter, error) {
		return elastic.Build(tableShape(size, salt))
	}}
	standardOne = contender{"standard", 4, func(size int, salt uint64) (filter.Filter, error) {
		return bloom.Build(bloom.Shape{Bits: 1 << size, Hashes: tableHashes, Salt: salt})
	}}
	doublingOne = contender{"SBF", 3, func(size int, salt uint64) (filter.Filter, error) {
		return newDoubling(bloom.Shape{Bits: 1 << size, Hashes: tableHashes, Salt: salt}, tableThreshold)
	}}
	tighteningOne = contender{"scalable", 5, func(size int, salt uint64) (filter.Filter, error) {
		return scalable.Build(scalable.Shape{Items: firstUnit(size), FPR: tableRate, Salt: salt})
	}}
	plainDynamic    = dynamicOne("DBF", 1, tableThreshold)
	countingDynamic = dynamicOne("DBF", 4, tableThreshold)
)

// dynamicOne is a DBF whose units are full at the given share of set positions.
func dynamicOne(name string, counterBits int, fill float64) contender {
	return contender{name, 2, func(size int, salt uint64) (filter.Filter, error) {
		full := uint64(fill * math.Ldexp(1, size))
		return dynamic.Build(dynamic.Shape{Positions: 1 << size, Hashes: tableHashes, CounterBits: counterBits, Full: full, Salt: salt})
	}}
}

// firstUnit is how many keys filter/scalable is to be asked for so that its first
// unit has at most 2^size bits.
func firstUnit(size int) uint64 {
	tooMany := sort.Search(1<<size, func(items int) bool {
		p, err := scalable.Shape{Items: uint64(items + 1), FPR: tableRate}.Predict(1)
		return err != nil || p.FastBitsPerKey > float64(uint64(1)<<size)
	})
	return uint64(max(tooMany, 1))
}

// evenFill is the share of set positions at which the units of a DBF must be full
// so that all of them together have the rate Ω^k when there are n keys.
func evenFill(size int, n float64) float64 {
	fill := tableThreshold
	for range 100 { // it converges, and jumps at whole units do no harm
		units := math.Max(1, math.Ceil(n*tableHashes/(-math.Log1p(-fill)*math.Ldexp(1, size))))
		fill = (fill + math.Pow(tableRate/units, 1.0/tableHashes)) / 2
	}
	return fill
}

// series starts the curve of a contender.
func (c contender) series() lab.Series {
	return lab.Series{Name: c.name, Style: lab.LinePoints, Color: c.color}
}

// addAll puts keys into a filter, all of which it must take.
func addAll(f filter.Filter, keys []filter.Key) error {
	if done, _, err := filter.AddBatch(f, keys); err != nil {
		return fmt.Errorf("ebf21: adding key %d of %d: %w", done, len(keys), err)
	}
	return nil
}
