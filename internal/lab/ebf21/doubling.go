package ebf21

import (
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
)

// doublingFilter is the scalable filter that [EBF21] compares with, its reference
// [36]: when the last Bloom filter is full, one of twice the length is appended.
// All are full at the same share of set bits, so that every doubling of the set
// adds once more to the rate. filter/scalable, of another paper, lets the rates of
// the units fall instead.
type doublingFilter struct {
	units     []*bloom.Filter // the last takes the keys
	threshold float64
	limit     uint64 // set bits at which the last is full
}

func newDoubling(s bloom.Shape, threshold float64) (*doublingFilter, error) {
	f := &doublingFilter{threshold: threshold}
	return f, f.append(s)
}

func (f *doublingFilter) append(s bloom.Shape) error {
	u, err := bloom.Build(s)
	if err == nil {
		f.units = append(f.units, u)
		f.limit = uint64(f.threshold * float64(s.Bits))
	}
	return err
}

// Add puts a key that no unit answers for into the last one.
func (f *doublingFilter) Add(k filter.Key) (bool, error) {
	if f.MayContain(k) {
		return false, nil
	}
	last := f.units[len(f.units)-1]
	if last.SetBits() >= f.limit {
		s := last.Shape()
		s.Bits *= 2
		if err := f.append(s); err != nil {
			return false, err
		}
		last = f.units[len(f.units)-1]
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

// Info tells size and rate.
func (f *doublingFilter) Info() filter.Info {
	info, no := filter.Info{Kind: "doubling", Unbounded: true}, 1.0
	for _, u := range f.units {
		unit := u.Info()
		info.Keys += unit.Keys
		info.FastBits += unit.FastBits
		no *= 1 - unit.FPR
	}
	info.FPR = 1 - no
	return info
}
