package evergreen

import (
	"math"

	"github.com/everbloom-go/everbloom/theory"
)

// What this file keeps is the rate of the whole filter, from the number of keys in
// each block:
//
//	rate = sum over blocks of BlockRate(keys in it) / 2^level
//
// where 2^-level is the share of all keys that belong to the block. It is an
// integer in units of asked/2^52, to which every change of a block adds exactly the
// difference: it never drifts, and when a block splits or the filter doubles
// nothing has to be scaled.
const (
	asked = 1 << 52

	// tableUnit is the asked rate in the table of the rates of blocks; a block
	// counts for tableUnit/2^level. tableMost keeps the sum within 63 bits even if
	// all blocks are overfull.
	tableUnit = asked >> maxLevel
	tableMost = 1024 * tableUnit

	// lowMark is below which share of the limit the filter shrinks. The rate goes
	// with about the fifth power of the load: this is 5 % more memory than needed.
	lowMark = 0.8

	// flushAt is the largest part of the sum that a stripe keeps to itself, so that
	// writers do not all write to one place: together at most a hundredth.
	flushAt = asked / 128 / stripeCount
)

// newRates returns the rate of a block for each number of keys, in units of the
// asked one.
func newRates(s Shape, most int) []uint32 {
	rates := make([]uint32, most+1)
	for i := range rates {
		rates[i] = uint32(min(math.Round(theory.BlockRate(i, s.perWord())/s.FPR*tableUnit), tableMost))
	}
	return rates
}

// share returns what a block with so many keys adds to the sum.
func (f *Filter) share(keys int, level uint) int64 {
	return int64(f.rates[keys]) << (maxLevel - level)
}

// note records that a block of a stripe changed by so many keys and so much rate.
// The caller holds the stripe.
func (f *Filter) note(st *stripe, keys, rate int64) {
	st.keys += keys
	st.changed += keys
	st.pending += rate
	if max(st.pending, -st.pending) > flushAt || !f.full && f.nearFull(st) {
		f.flush(st)
	}
}

// nearFull reports whether everybody has to know how many keys a stripe has: those of
// a compact filter are limited, and near the limit each counts.
func (f *Filter) nearFull(st *stripe) bool {
	return max(st.changed, -st.changed) > f.flushKeys || f.keys.Load() > f.capacity-f.capacity/64
}

// flush tells everybody what a stripe has kept to itself.
func (f *Filter) flush(st *stripe) {
	f.sum.Add(st.pending)
	f.keys.Add(st.changed)
	st.pending, st.changed = 0, 0
}

// flushAll has all stripes of a filter that nobody else uses tell what they know.
func (f *Filter) flushAll() {
	for i := range f.stripes {
		f.flush(&f.stripes[i])
	}
	f.retarget(f.load().blocks())
}

// retarget sets the marks for n blocks. The rate of a filter of few blocks scatters
// around what their loads say, by about a third of 1/sqrt(n): growth aims lower by
// a bit more than that. Fingerprints that are equal by chance answer yes whatever
// the size, and blocks get what they leave.
func (f *Filter) retarget(n uint64) {
	limit := 1 - scatter/math.Sqrt(float64(n)) - f.shape.floor(uint64(max(0, f.keys.Load())))/f.shape.FPR
	f.limit.Store(int64(limit * asked))
	f.low.Store(int64(lowMark * limit * asked))
}

const scatter = 0.5

// count returns the number of keys and the sum, stripe by stripe.
func (f *Filter) count() (keys, sum int64) {
	for i := range f.stripes {
		st := &f.stripes[i]
		st.Lock()
		_ = f.deliver(st) // if there is no memory, a few keys are missing in the rate
		keys += st.keys
		sum += st.pending
		st.Unlock()
	}
	return keys, sum + f.sum.Load()
}
