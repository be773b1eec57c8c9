package dlcbf06

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// example is the geometry of Sec. 5.1: 4 subarrays of 2048 buckets of 8 cells,
// remainders of 14 bits and counters of 2.
var example = dleft.Shape{Subtables: 4, Buckets: 2048, Cells: 8, Remainder: 14, Counter: 2}

const (
	exampleKeys    = 49_152  // an average load of six
	exampleBuckets = 8_192   // of all subarrays
	fingerprints   = 1 << 25 // |B||R|
	levels         = 9       // loads of Table 1
	paperSteps     = 1 << 20
	paperTrials    = 10_000
	paperQueries   = 10_000
)

// set is what a churn needs.
type set interface {
	Add(filter.Key) (bool, error)
	Delete(filter.Key) error
}

// churn is a trial of Sec. 5.1: so many keys, then steps in which one of them is
// deleted, each as likely, and a new one added. It ends with the first error and
// returns the keys. Before every so many steps, and at the end, it stops for a look.
func churn(f set, n, steps, every int, r *rand.Rand, look func()) ([]filter.Key, error) {
	keys := make([]filter.Key, n)
	for i := range keys {
		keys[i] = filter.Key(r.Uint64())
		if _, err := f.Add(keys[i]); err != nil {
			return keys, err
		}
	}
	for step := range steps {
		if step%every == 0 {
			look()
		}
		i := r.IntN(n)
		if err := f.Delete(keys[i]); err != nil {
			return keys, fmt.Errorf("step %d: a key that is in the set: %w", step, err)
		}
		keys[i] = filter.Key(r.Uint64())
		if _, err := f.Add(keys[i]); err != nil {
			return keys, err
		}
	}
	look()
	return keys, nil
}

// life is what became of one d-left filter.
type life struct {
	asked
	shares   [levels]float64 // of the buckets that hold at least 1, 2, ... keys
	moved    float64
	overflow float64 // 1 if some key found all its buckets full
	noRoom   float64 // 1 if moving a key did not help
	last     float64 // 1 if a bucket of the last subarray was seen full
	four     float64 // 1 if at some time four keys had one fingerprint
	left     float64 // share of the cells that are used when all keys are deleted
}

// live is a trial with n keys and permutations of its own. It ends with the first key
// that finds no room.
func live(n, steps, every, queries int, r *rand.Rand) (l life, err error) {
	s := example
	s.Salt = r.Uint64()
	f, err := dleft.Build(s)
	if err != nil {
		return l, err
	}
	keys, err := churn(f, n, steps, every, r, func() { l.last = max(l.last, fullLast(f)) })
	l.moved, l.noRoom = float64(f.Moved()), lab.OneIf(errors.Is(err, filter.ErrFull))
	l.overflow = lab.OneIf(l.moved+l.noRoom > 0)
	if err != nil && l.noRoom == 0 {
		return l, err
	}
	for _, load := range f.Loads() {
		for i := range load {
			l.shares[i] += 1.0 / exampleBuckets
		}
	}
	l.four = lab.OneIf(!f.Info().Exact)
	l.ask(f, queries, r)
	if l.noRoom+l.four > 0 { // the cell of four is stuck
		return l, nil
	}
	for _, k := range keys {
		if err := f.Delete(k); err != nil {
			return l, err
		}
	}
	l.left = f.Info().Fill
	return l, nil
}

// fullLast is 1 if a bucket of the last subarray is full.
func fullLast(f *dleft.Filter) float64 {
	s := f.Shape()
	for subtable, load := range f.Loads() {
		if subtable == s.Subtables-1 && load == s.Cells {
			return 1
		}
	}
	return 0
}

// distinct returns the expected number of different fingerprints of n keys: those
// that are equal share a cell.
func distinct(n float64) float64 {
	return -fingerprints * math.Expm1(n*math.Log1p(-1.0/fingerprints))
}
