package scalable

import (
	"fmt"
	"math"
	"strconv"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/sizing"
)

// Filter is a scalable Bloom filter: a list of units, each twice as large as the
// one before and with a lower rate.
type Filter struct {
	units []unit                 // the last is the active one, which takes new keys; never empty
	read  atomic.Pointer[[]unit] // the same, for readers beside a writer
	shape Shape
}

// A unit is one filter of the list.
type unit struct {
	*bloom.Blocked
	capacity uint64
	keys     uint64 // that were added here; all but the active unit have capacity
}

var (
	_ filter.Batcher     = (*Filter)(nil)
	_ filter.Snapshotter = (*Filter)(nil)
	_ filter.LockFree    = (*Filter)(nil)
	_ filter.Clearer     = (*Filter)(nil)
)

// LockFreeReaders marks the filter as safe to read beside one writer: a unit is
// complete before readers see it, and the units are safe themselves.
func (f *Filter) LockFreeReaders() {}

// New returns an empty filter for c.
func New(c Config) (*Filter, error) { return sizing.New(c.Shape, Build) }

// Build returns an empty filter of exactly this shape.
func Build(s Shape) (*Filter, error) {
	f := &Filter{shape: s}
	g, err := s.unit(0)
	if err != nil {
		return nil, err
	}
	if err := f.addUnit(g); err != nil {
		return nil, err
	}
	return f, nil
}

// grow appends the next unit.
func (f *Filter) grow() error {
	g, err := f.shape.unit(len(f.units))
	if err != nil {
		return fmt.Errorf("%w: %w", filter.ErrFull, err)
	}
	return f.addUnit(g)
}

// addUnit appends an empty unit.
func (f *Filter) addUnit(g geometry) error {
	b, err := bloom.BuildBlocked(g.BlockedShape)
	if err != nil {
		return fmt.Errorf("scalable: unit %d: %w", len(f.units), err)
	}
	f.setUnits(append(f.units, unit{Blocked: b, capacity: g.capacity}))
	return nil
}

// setUnits makes units the filter's, for readers as well. A reader may still use the
// slice that was there before, up to its length.
func (f *Filter) setUnits(units []unit) {
	f.units = units
	f.read.Store(&units)
}

// Clear takes all keys out and leaves the first unit. It never fails.
func (f *Filter) Clear() error {
	first := f.units[0]
	first.keys = 0
	f.setUnits([]unit{first})
	return first.Clear()
}

func (f *Filter) active() *unit { return &f.units[len(f.units)-1] }

// Add puts k into the set, unless a unit answers for it already: then it will do
// so for ever, and nothing changes. It reports whether k was new. An error is
// ErrStorage when a new unit is needed and there is no memory, or ErrFull when keys
// of 64 bits cannot be told apart at the rate of that unit.
func (f *Filter) Add(k filter.Key) (added bool, err error) {
	if f.MayContain(k) {
		return false, nil
	}
	u := f.active()
	if u.keys == u.capacity {
		if err := f.grow(); err != nil {
			return false, err
		}
		u = f.active()
	}
	u.keys++
	return u.Add(k)
}

// MayContain reports whether k may be in the set. False is certain.
func (f *Filter) MayContain(k filter.Key) bool { return has(*f.read.Load(), k) }

// has reports whether one of the units answers for k. The newest, in which most
// keys are, is asked first.
func has(units []unit, k filter.Key) bool {
	i := len(units) - 1
	for ; i >= 0; i-- {
		if units[i].MayContain(k) {
			break
		}
	}
	return i >= 0
}

// Shape returns the filter's geometry.
func (f *Filter) Shape() Shape { return f.shape }

// Units returns the number of units.
func (f *Filter) Units() int { return len(f.units) }

// Len returns the estimated number of keys in the set: those that were added, and
// in proportion those that were not because they were taken for present.
func (f *Filter) Len() uint64 {
	var n, rate float64
	for i := range f.units {
		u := &f.units[i]
		n += float64(u.keys) / (1 - min(rate, 0.5))
		rate += u.rate()
	}
	return sizing.RoundKeys(n)
}

// rate returns the unit's own rate.
func (u *unit) rate() float64 { return u.Shape().FPR(u.keys) }

// Info describes the filter as it stands.
func (f *Filter) Info() filter.Info {
	info := filter.Info{
		Kind: "scalable", Keys: f.Len(), Unbounded: true, Duplicates: filter.DuplicatesIgnored,
		Details: []filter.Detail{{Name: "units", Value: strconv.Itoa(len(f.units))}},
	}
	set, none := uint64(0), 0.0
	for i := range f.units {
		set += f.units[i].SetBits()
		info.FastBits += f.units[i].Shape().Bits()
		none += math.Log1p(-f.units[i].rate())
	}
	info.FPR = -math.Expm1(none)
	info.Fill = float64(set) / float64(info.FastBits)
	return info
}

// Parts returns how many blocks there are, those of the oldest unit first, and which share of
// the bits of each is set.
func (f *Filter) Parts() (n uint64, fill func(i uint64) float64) {
	for _, u := range f.units {
		n += u.Shape().Blocks
	}
	return n, func(i uint64) float64 {
		for _, u := range f.units {
			blocks, fill := u.Parts()
			if i < blocks {
				return fill(i)
			}
			i -= blocks
		}
		return 0
	}
}
