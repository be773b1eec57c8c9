package bloom

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// array is what both kinds are made of: bits, how many of them are set, and the
// number of keys they were made for, 0 if unknown.
type array struct {
	words []uint64

	_ [64]byte // what follows changes with each Add, and readers should not have to fetch it

	set      uint64
	capacity uint64
}

func newArray(words uint64) (array, error) {
	w, err := mem.Words(words)
	if err != nil {
		return array{}, fmt.Errorf("bloom: %w: %w", filter.ErrStorage, err)
	}
	return array{words: w}, nil
}

func (a *array) bitCount() uint64 { return 64 * uint64(len(a.words)) }

func (a *array) or(o *array) {
	a.set = bitvec.Vector(a.words).Or(o.words)
	a.capacity = max(a.capacity, o.capacity)
}

func (a *array) and(o *array) {
	a.set = bitvec.Vector(a.words).And(o.words)
	a.capacity = max(a.capacity, o.capacity)
}

// Clear takes all keys out. It never fails.
func (a *array) Clear() error {
	bitvec.Vector(a.words).Zero()
	a.set = 0
	return nil
}

// overfull allows the estimated number of keys five times its spread, so that a
// filter with exactly the keys it was made for does not complain.
func (a *array) overfull(keys uint64) bool {
	limit := float64(a.capacity) * (1 + 5/math.Sqrt(float64(a.bitCount())))
	return a.capacity > 0 && float64(keys) > limit
}

// image returns the stored form: the words, as they are when it is written.
func (a *array) image(kind frame.Kind, shape any, keys uint64) *frame.Image {
	sum := frame.Summary{Keys: keys, Capacity: a.capacity, SetBits: a.set, FastBits: a.bitCount()}
	return frame.Words(kind, formatVersion, shape, sum, a.words)
}

// readArray reads the words that a header of n words promises and checks them
// against its summary.
func readArray(r *frame.Reader, n uint64) (array, error) {
	words, err := r.ReadRest(n, mem.Words)
	if err != nil {
		return array{}, err
	}
	sum := r.Header().Summary
	a := array{words: words, set: bitvec.Vector(words).Count(), capacity: sum.Capacity}
	sum.SetBits, sum.FastBits, sum.SlowBits = a.set, a.bitCount(), 0
	return a, r.CheckSummary(sum)
}
