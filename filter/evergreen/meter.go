package evergreen

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter/evergreen/internal/slab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// A meter has the rate of the whole filter, from the number of keys in each block:
//
//	rate = sum over blocks of BlockRate(keys in it) / 2^level
//
// where 2^-level is the share of all keys that belong to the block. It is an
// integer, to which every change of a block adds exactly the difference: it never
// drifts, and when a block splits or the filter doubles nothing has to be scaled. A
// block counts for the nearest integer: at the least rate, 1e-9, and 2^26 blocks, of 4
// GiB, that errs by 1 % at most.
type meter struct {
	// The sum of the rates and the keys, as far as stripes have flushed them, and the
	// marks at which the table grows and shrinks.
	sum, keys, limit, low atomic.Int64

	shape     Shape
	capacity  int64
	flushKeys int64 // how many keys a stripe of a compact table keeps to itself
	flushAt   int64 // how much of the rate
	rates     []int64
}

const (
	// one is the rate 1, if all blocks are full.
	one = 1 << 62

	// lowMark is below which share of the limit the filter shrinks. The rate goes
	// with about the fifth power of the load: this is 5 % more memory than needed.
	lowMark = 0.8

	// flushShare is the largest part of the asked rate that a stripe keeps to itself,
	// so that writers do not all write to one place: together at most a hundredth.
	flushShare = 1.0 / 128 / stripeCount

	// scatter is how far the rate of a filter of n blocks scatters around what their
	// loads say, times sqrt(n), and a bit more: growth aims lower by that.
	scatter = 0.5
)

// init prepares the meter of an empty table.
func (m *meter) init(s Shape) {
	m.shape = s
	m.capacity = int64(s.Capacity())
	m.flushKeys = int64(s.Capacity() / 128 / stripeCount)
	m.flushAt = int64(flushShare * s.FPR * one)
	m.rates = blockRates(s.perWord())
}

// blockRates returns the rate of a block for each number of keys, up to the most that
// a run of any width holds. All tables share them.
func blockRates(perWord int) []int64 { return allRates[perWord-1]() }

var allRates = func() (all [theory.MaxPerWord]func() []int64) {
	for i := range all {
		all[i] = sync.OnceValue(func() []int64 {
			rates := make([]int64, slab.GeometryOf(minWidth/8).Most+1)
			for keys := range rates {
				rates[keys] = int64(math.Round(theory.BlockRate(keys, i+1) * one))
			}
			return rates
		})
	}
	return all
}()

// share returns what a block with so many keys adds to the sum.
func (m *meter) share(keys int, level uint) int64 {
	return (m.rates[keys] + 1<<(level-1)) >> level
}

// change returns what a block adds to the sum when it has another number of keys.
func (m *meter) change(from, to int, level uint) int64 {
	return m.share(to, level) - m.share(from, level)
}

// record counts a change of a stripe, which the caller holds.
func (m *meter) record(st *stripe, keys, rate int64) {
	st.keys += keys
	st.changed += keys
	st.pending += rate
	if max(st.pending, -st.pending) > m.flushAt || !m.shape.Exact() && m.nearFull(st) {
		m.flush(st)
	}
}

// nearFull reports whether all stripes have to know how many keys one has: those of
// a compact filter are limited, and near the limit each counts.
func (m *meter) nearFull(st *stripe) bool {
	return max(st.changed, -st.changed) > m.flushKeys || m.keys.Load() > m.capacity-m.capacity/64
}

// flush adds what a stripe has kept to itself.
func (m *meter) flush(st *stripe) {
	m.sum.Add(st.pending)
	m.keys.Add(st.changed)
	st.pending, st.changed = 0, 0
}

func (m *meter) isHigh() bool { return m.sum.Load() > m.limit.Load() }
func (m *meter) isLow() bool  { return m.sum.Load() < m.low.Load() }

// aim sets the marks for n blocks. Fingerprints that are equal by chance are false
// positives whatever the size, and blocks get what they leave.
func (m *meter) aim(n uint64) {
	limit := 1 - scatter/math.Sqrt(float64(n)) - m.shape.floor(uint64(max(0, m.keys.Load())))/m.shape.FPR
	m.limit.Store(int64(limit * m.shape.FPR * one))
	m.low.Store(int64(lowMark * limit * m.shape.FPR * one))
}

// reset is for a table without keys.
func (m *meter) reset() {
	m.sum.Store(0)
	m.keys.Store(0)
}
