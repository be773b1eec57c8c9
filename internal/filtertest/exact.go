package filtertest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
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

// ExactKind marks the stored form of an [Exact], which is an envelope as other kinds
// have it. The payload is two words for each key in ascending order: the key and its
// count. No release reads it.
const ExactKind frame.Kind = 65000

type exactShape struct {
	Items, Room         uint64
	Bounded, Duplicates uint8
}

func (s exactShape) check() error {
	if s.Room == 0 || s.Room > maxRoom || s.Bounded > 1 || s.Duplicates > uint8(filter.DuplicatesPin) {
		return errors.New("no shape of an exact filter")
	}
	return nil
}

// Snapshot captures the filter as it is now.
func (f *Exact) Snapshot() io.WriterTo {
	s := exactShape{Items: f.config.Items, Room: f.room, Duplicates: uint8(f.config.Duplicates)}
	if f.config.Bounded {
		s.Bounded = 1
	}
	var words []uint64
	for _, e := range slices.SortedFunc(slices.Values(f.set.entries), func(a, b entry) int { return cmp.Compare(a.key, b.key) }) {
		words = append(words, uint64(e.key), e.count)
	}
	return &frame.Image{
		Header: frame.Header{
			Kind: ExactKind, Version: 1, Shape: frame.ShapeOf(s),
			Summary: frame.Summary{Keys: f.set.Total()}, Payload: 8 * uint64(len(words)),
		},
		Payload: func(w io.Writer) error { return frame.WriteWords(w, words) },
	}
}

// ReadExact reads what Snapshot of an [Exact] wrote.
func ReadExact(src io.Reader) (*Exact, error) {
	r, s, err := frame.OpenAs(src, ExactKind, 1, exactShape.check)
	if err != nil {
		return nil, err
	}
	f := &Exact{
		config: ExactConfig{Items: s.Items, Bounded: s.Bounded == 1, Duplicates: filter.Duplicates(s.Duplicates)},
		room:   s.Room,
	}
	words, err := r.ReadWords(r.Left()/16*2, func(n uint64) ([]uint64, error) { return make([]uint64, n), nil })
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(words); i += 2 {
		if words[i+1] == 0 || i > 0 && words[i-2] >= words[i] {
			return nil, r.Corrupt("key", words[i], "one above that before, with a count")
		}
		f.set.addCount(filter.Key(words[i]), words[i+1])
	}
	if keys := r.Header().Summary.Keys; keys != f.set.Total() {
		return nil, r.Corrupt("summary: keys", keys, f.set.Total())
	}
	return f, r.Close()
}
