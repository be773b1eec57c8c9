package dynamic

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/merging"
	"github.com/everbloom-go/everbloom/internal/sizing"
)

// Filter is a dynamic Bloom filter: a list of equal units, to which one is
// appended whenever the last is full.
type Filter struct {
	units []unit // the last is the active one, which takes new keys; never empty
	seeker
	room   uint64 // with at most so many positions set a unit is not full
	uneven bool   // older units may have room: keys were deleted, or lists joined
	shape  Shape
}

var (
	_ filter.Deleter     = (*Filter)(nil)
	_ merging.Preparer   = (*Filter)(nil)
	_ filter.Clearer     = (*Filter)(nil)
	_ filter.Snapshotter = (*Filter)(nil)
)

// Made once, so that a refused Delete allocates nothing.
var (
	errAbsent = fmt.Errorf("dynamic: delete: no unit has it: %w", filter.ErrNotFound)
	errPinned = fmt.Errorf("dynamic: delete: several units may have it: %w", filter.ErrPinned)
	errPlain  = fmt.Errorf("dynamic: delete: units are plain Bloom filters: %w", errors.ErrUnsupported)
)

// New returns an empty filter for c.
func New(c Config) (*Filter, error) { return sizing.New(c.Shape, Build) }

// Build returns an empty filter of exactly this shape.
func Build(s Shape) (*Filter, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	u, err := newUnit(s)
	if err != nil {
		return nil, err
	}
	return over(s, []unit{u}), nil
}

// over returns the filter of shape s that consists of the units.
func over(s Shape, units []unit) *Filter {
	return &Filter{units: units, seeker: newSeeker(s), room: s.Full - uint64(s.Hashes), uneven: len(units) > 1, shape: s}
}

// Add puts k into the active unit, once more if it is there. It reports whether k
// looked new to that unit: older ones are not asked, however many they are. The
// only error is ErrStorage, when a new unit is needed and there is no memory.
//
// Adding a key again while it is in the active unit takes no room. If it is in an
// older one, the copy goes to the active unit like a new key, and the key is
// pinned from then on, unless the two units are merged.
func (f *Filter) Add(k filter.Key) (added bool, err error) {
	u := f.active()
	if u.set > f.room && !u.part.MayContain(k) {
		if err := f.advance(); err != nil {
			return false, err
		}
		u = f.active()
	}
	return u.add(k), nil
}

func (f *Filter) active() *unit { return &f.units[len(f.units)-1] }

// advance makes another unit the active one: the thinnest, if that has much room
// again, or else a new one.
func (f *Filter) advance() error {
	if f.uneven && f.reuse() {
		return nil
	}
	u, err := newUnit(f.shape)
	if err != nil {
		return err
	}
	f.units = append(f.units, u)
	return nil
}

// reuse makes the thinnest unit the active one if it is thin. Lists without deletes
// can be long, and are not searched every time.
func (f *Filter) reuse() bool {
	last := len(f.units) - 1
	i := f.thinnest(last)
	f.uneven = i >= 0 && f.units[i].set <= f.thin()
	if f.uneven {
		f.units[i], f.units[last] = f.units[last], f.units[i]
	}
	return f.uneven
}

// MayContain reports whether k may be in the set. False is certain.
func (f *Filter) MayContain(k filter.Key) bool { return f.seek(f.units, k) >= 0 }

// Delete takes k out of the set once. If exactly one unit answers for k, it is
// done: every unit finds the keys that it has, so this is the one. If several do,
// it is unknown which of them has it, and if none does, it is certainly absent:
// ErrPinned and ErrNotFound, and nothing has changed. Filters of plain units
// cannot delete at all.
//
// Never delete a key that was not added, or more often than it was added: if it
// looks present by chance, Delete takes what belongs to other keys, and these may
// be lost from then on.
func (f *Filter) Delete(k filter.Key) error {
	if f.shape.plain() {
		return errPlain
	}
	at := f.seek(f.units, k)
	switch {
	case at < 0:
		return errAbsent
	case f.seek(f.units[:at], k) >= 0:
		return errPinned
	case !f.units[at].delete(k):
		return errAbsent
	}
	f.mergeThin(at)
	return nil
}

// Clear takes all keys out and leaves one unit, empty. It never fails.
func (f *Filter) Clear() error {
	clear(f.units[1:])
	f.units, f.uneven = f.units[:1], false
	f.wipe(&f.units[0])
	return nil
}

// Shape returns the filter's geometry.
func (f *Filter) Shape() Shape { return f.shape }

// Units returns the number of units.
func (f *Filter) Units() int { return len(f.units) }

// Len returns the number of keys in the set, each as often as it was added. For
// plain units it is the sum of their estimates: a key that is in several units
// counts in each.
func (f *Filter) Len() uint64 { return censusOf(f).keys }

// Info describes the filter as it stands. The rate is that of these very units,
// with the bits that are set. It takes time in proportion to their number.
//
// Duplicates count, also in plain units: a copy whose key is in an older unit takes room
// in the active one, so that it is not ignored, although neither can be deleted.
func (f *Filter) Info() filter.Info {
	info := censusOf(f).info("dynamic", f.shape)
	info.Details = []filter.Detail{{Name: "units", Value: strconv.Itoa(len(f.units))}}
	return info
}

// A census is what some lists of units have.
type census struct {
	keys, set    uint64
	lists, units int
	longest      int     // units of a list
	uncounted    int     // units whose keys are not counted
	rates        float64 // the sum of the lists' rates
}

func censusOf(lists ...*Filter) (c census) {
	for _, l := range lists {
		c.include(l)
	}
	return c
}

// include adds a list. Its rate is the probability that some unit answers for an absent
// key.
func (c *census) include(f *Filter) {
	var none float64 // the logarithm of the probability that no unit does
	for i := range f.units {
		u := &f.units[i]
		c.keys = min(c.keys+u.part.Len(), math.MaxInt64) // which may be an estimate of an overfull unit
		c.set += u.set
		if f.shape.plain() || u.keys() == unknownKeys {
			c.uncounted++
		}
		fill := float64(u.set) / float64(f.shape.Positions)
		none += math.Log1p(-math.Pow(fill, float64(f.shape.Hashes)))
	}
	c.rates -= math.Expm1(none)
	c.lists++
	c.units += len(f.units)
	c.longest = max(c.longest, len(f.units))
}

// info describes lists of units of shape s, without details.
func (c census) info(kind string, s Shape) filter.Info {
	return filter.Info{
		Kind:       kind,
		Keys:       c.keys,
		Exact:      c.uncounted == 0,
		FastBits:   uint64(c.units) * s.Bits(),
		FPR:        c.rates / float64(c.lists),
		Fill:       float64(c.set) / float64(s.Positions) / float64(c.units),
		Unbounded:  true,
		Duplicates: filter.DuplicatesCounted,
	}
}
