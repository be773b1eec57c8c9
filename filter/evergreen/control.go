package evergreen

import (
	"math"
	"sync"

	"github.com/everbloom-go/everbloom/internal/theory"
)

// What this file keeps is the rate of the whole filter, from the number of keys in
// each block:
//
//	rate = sum over blocks of BlockRate(keys in it) / 2^level
//
// where 2^-level is the share of all keys that belong to the block. It is an
// integer, to which every change of a block adds exactly the difference: it never
// drifts, and when a block splits or the filter doubles nothing has to be scaled. A
// block counts for the nearest integer: at the least rate, 1e-9, and 2^26 blocks, of 4
// GiB, that errs by 1 % at most.
const (
	// one is the rate 1, if all blocks are full.
	one = 1 << 62

	// lowMark is below which share of the limit the filter shrinks. The rate goes
	// with about the fifth power of the load: this is 5 % more memory than needed.
	lowMark = 0.8

	// flushShare is the largest part of the asked rate that a stripe keeps to itself,
	// so that writers do not all write to one place: together at most a hundredth.
	flushShare = 1.0 / 128 / stripeCount
)

// blockRates returns the rate of a block for each number of keys, up to the most that
// a run of any width holds. All tables share them.
func blockRates(perWord int) []int64 { return allRates[perWord-1]() }

var allRates = func() (all [theory.MaxPerWord]func() []int64) {
	for i := range all {
		all[i] = sync.OnceValue(func() []int64 {
			rates := make([]int64, geometries[minWidth/8]().most+1)
			for keys := range rates {
				rates[keys] = int64(math.Round(theory.BlockRate(keys, i+1) * one))
			}
			return rates
		})
	}
	return all
}()

// share returns what a block with so many keys adds to the sum.
func (t *table) share(keys int, level uint) int64 {
	return (t.rates[keys] + 1<<(level-1)) >> level
}

// note records that a block of a stripe changed by so many keys and so much rate.
// The caller holds the stripe.
func (t *table) note(st *stripe, keys, rate int64) {
	st.keys += keys
	st.changed += keys
	st.pending += rate
	if max(st.pending, -st.pending) > t.flushAt || !t.full && t.nearFull(st) {
		t.flush(st)
	}
}

// nearFull reports whether everybody has to know how many keys a stripe has: those of
// a compact filter are limited, and near the limit each counts.
func (t *table) nearFull(st *stripe) bool {
	return max(st.changed, -st.changed) > t.flushKeys || t.keys.Load() > t.capacity-t.capacity/64
}

// flush tells everybody what a stripe has kept to itself.
func (t *table) flush(st *stripe) {
	t.sum.Add(st.pending)
	t.keys.Add(st.changed)
	st.pending, st.changed = 0, 0
}

// flushAll has all stripes of a filter that nobody else uses tell what they know.
func (t *table) flushAll() {
	for i := range t.stripes {
		t.flush(&t.stripes[i])
	}
	t.retarget(t.load().blocks())
}

// retarget sets the marks for n blocks. The rate of a filter of few blocks scatters
// around what their loads say, by about a third of 1/sqrt(n): growth aims lower by
// a bit more than that. Fingerprints that are equal by chance answer yes whatever
// the size, and blocks get what they leave.
func (t *table) retarget(n uint64) {
	limit := 1 - scatter/math.Sqrt(float64(n)) - t.shape.floor(uint64(max(0, t.keys.Load())))/t.shape.FPR
	t.limit.Store(int64(limit * t.shape.FPR * one))
	t.low.Store(int64(lowMark * limit * t.shape.FPR * one))
}

const scatter = 0.5

// count returns the number of keys and the sum, stripe by stripe.
func (t *table) count() (keys, sum int64) {
	for i := range t.stripes {
		st := &t.stripes[i]
		st.Lock()
		_ = t.deliver(st) // if there is no memory, a few keys are missing in the rate
		keys += st.keys
		sum += st.pending
		st.Unlock()
	}
	return keys, sum + t.sum.Load()
}
