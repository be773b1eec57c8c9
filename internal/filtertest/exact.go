package filtertest

import (
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// ExactConfig describes an [Exact] filter. The zero ExactConfig asks for
// one that grows without limit and ignores duplicates.
type ExactConfig struct {
	// Items is the number of keys that Info calls the capacity; of a bounded
	// filter, the number that fit.
	Items uint64

	// Bounded filters refuse the keys that do not fit with ErrFull.
	Bounded bool

	// Duplicates is what adding a key twice does.
	Duplicates filter.Duplicates
}

// maxRoom keeps the bits of an Exact countable.
const maxRoom = 1 << 56

// Exact is a filter that never errs: a [Set] behind the interfaces of package
// filter. It can delete, merge, grow, shrink and be stored; batches fall back
// to single calls. It is not for concurrent use.
type Exact struct {
	config ExactConfig
	room   uint64 // what Grow and Shrink change
	set    Set
}

var (
	_ filter.Deleter     = (*Exact)(nil)
	_ merging.Preparer   = (*Exact)(nil)
	_ filter.Clearer     = (*Exact)(nil)
	_ filter.Resizer     = (*Exact)(nil)
	_ filter.Snapshotter = (*Exact)(nil)
)

// NewExact returns an empty filter.
func NewExact(c ExactConfig) *Exact {
	f := &Exact{config: c, room: max(1, c.Items)}
	if c.Bounded {
		f.set.reserve(min(f.room, 1<<16))
	}
	return f
}

// Add puts k into the set.
func (f *Exact) Add(k filter.Key) (added bool, err error) {
	switch known := f.set.Has(k); {
	case known && f.config.Duplicates == filter.DuplicatesIgnored:
		return false, nil
	case known:
		f.set.Add(k)
		return false, nil
	case f.config.Bounded && uint64(f.set.Len()) >= f.room:
		return false, fmt.Errorf("filtertest: exact: room for %d keys: %w", f.room, filter.ErrFull)
	}
	f.set.Add(k)
	return true, nil
}

// MayContain reports whether k is in the set.
func (f *Exact) MayContain(k filter.Key) bool { return f.set.Has(k) }

// Delete takes k out of the set, once where duplicates are counted.
func (f *Exact) Delete(k filter.Key) error {
	switch count := f.set.Count(k); {
	case count == 0:
		return filter.ErrNotFound
	case count > 1 && f.config.Duplicates == filter.DuplicatesPin:
		return filter.ErrPinned
	}
	f.set.Delete(k)
	return nil
}

// Info describes the filter as it stands.
func (f *Exact) Info() filter.Info {
	info := filter.Info{
		Kind:       "exact",
		Keys:       f.set.Total(),
		Exact:      true,
		FastBits:   64 * max(f.room, uint64(f.set.Len())),
		Fill:       min(1, float64(f.set.Len())/float64(f.room)),
		Unbounded:  !f.config.Bounded,
		Duplicates: f.config.Duplicates,
	}
	if f.config.Bounded {
		info.Capacity = f.room
	}
	return info
}

// Union adds what is in other, an *Exact of equal ExactConfig.
func (f *Exact) Union(other filter.Filter) error {
	return merging.Union(f, other)
}

// PrepareUnion looks whether there is room.
func (f *Exact) PrepareUnion(other filter.Filter) (finish func(commit bool) error, err error) {
	o, err := f.peer(other)
	if err != nil {
		return nil, err
	}
	var both Set
	both.Union(&f.set)
	for k, count := range o.set.All() {
		if f.config.Duplicates != filter.DuplicatesIgnored || !both.Has(k) {
			both.addCount(k, count)
		}
	}
	if n := uint64(both.Len()); f.config.Bounded && n > f.room {
		return nil, fmt.Errorf("filtertest: exact: union has %d keys, room for %d: %w", n, f.room, filter.ErrFull)
	}
	return merging.OnCommit(func() { f.set = both }), nil
}

// Clear takes all keys out and gives the filter the room it was made with.
func (f *Exact) Clear() error {
	*f = *NewExact(f.config)
	return nil
}

// Intersect keeps what is in both f and other, an *Exact of equal ExactConfig.
func (f *Exact) Intersect(other filter.Filter) error {
	o, err := f.peer(other)
	if err != nil {
		return err
	}
	f.set.Intersect(&o.set)
	return nil
}

// peer returns other if it can be merged into f.
func (f *Exact) peer(other filter.Filter) (*Exact, error) {
	o, ok := other.(*Exact)
	if !ok {
		return nil, fmt.Errorf("filtertest: exact: other filter is a %T: %w", other, filter.ErrIncompatible)
	}
	if f.config != o.config {
		return nil, fmt.Errorf("filtertest: exact: %+v and %+v: %w", f.config, o.config, filter.ErrIncompatible)
	}
	return o, nil
}

// Grow doubles the room.
func (f *Exact) Grow() error {
	if f.room > maxRoom/2 {
		return fmt.Errorf("filtertest: exact: room for %d keys cannot double: %w", f.room, filter.ErrStorage)
	}
	f.room *= 2
	return nil
}

// Shrink halves the room, but not below what is in the set or below 1.
func (f *Exact) Shrink() error {
	if half := f.room / 2; half < max(1, uint64(f.set.Len())) {
		return fmt.Errorf("filtertest: exact: %d keys do not fit into room for %d: %w", f.set.Len(), half, filter.ErrFull)
	}
	f.room /= 2
	return nil
}
