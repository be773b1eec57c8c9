package dynamic

import (
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/merging"
	"github.com/everbloom-go/everbloom/internal/probe"
	"github.com/everbloom-go/everbloom/internal/sizing"
)

// Parallel is a dynamic Bloom filter for many goroutines: keys are split by their
// hash over several lists of units, each with a lock of its own. A query looks at
// one list only, so that the rate grows with the number of its units and not with
// that of all.
type Parallel struct {
	lists []list
	mixer probe.Mixer // which list a key belongs to
	shape ParallelShape
}

// A list is a part of the keys. Queries share its lock, changes hold it alone.
type list struct {
	sync.RWMutex
	*Filter
	_ [64]byte // keeps the locks of neighbours on different cache lines
}

var (
	_ filter.Deleter     = (*Parallel)(nil)
	_ merging.Preparer   = (*Parallel)(nil)
	_ filter.Clearer     = (*Parallel)(nil)
	_ filter.Snapshotter = (*Parallel)(nil)
	_ filter.Concurrent  = (*Parallel)(nil)
)

// NewParallel returns an empty filter for c.
func NewParallel(c Config) (*Parallel, error) { return sizing.New(c.ParallelShape, BuildParallel) }

// BuildParallel returns an empty filter of exactly this shape.
func BuildParallel(s ParallelShape) (*Parallel, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	lists := make([]*Filter, s.Partitions)
	for i := range lists {
		var err error
		if lists[i], err = Build(s.Shape); err != nil {
			return nil, err
		}
	}
	return parallelOver(s, lists), nil
}

// listSalt makes the choice of a list differ from that of positions: a list's keys
// must not crowd into a part of its units. Files depend on it.
const listSalt = 0x5041_524C_4953_5453

// parallelOver returns the filter of shape s that consists of the lists.
func parallelOver(s ParallelShape, lists []*Filter) *Parallel {
	f := &Parallel{lists: make([]list, len(lists)), mixer: probe.NewMixer(s.Salt ^ listSalt), shape: s}
	for i, l := range lists {
		f.lists[i].Filter = l
	}
	return f
}

// ConcurrentUse marks the type as safe for concurrent use.
func (f *Parallel) ConcurrentUse() {}

// of returns the list that k belongs to.
func (f *Parallel) of(k filter.Key) *list {
	return &f.lists[probe.Reduce(f.mixer.Mix(k), uint64(len(f.lists)))]
}

// Add puts k into the active unit of its list: see [Filter.Add].
func (f *Parallel) Add(k filter.Key) (added bool, err error) {
	l := f.of(k)
	l.Lock()
	defer l.Unlock()
	return l.Add(k)
}

// MayContain reports whether k may be in the set. False is certain.
func (f *Parallel) MayContain(k filter.Key) bool {
	l := f.of(k)
	l.RLock()
	defer l.RUnlock()
	return l.MayContain(k)
}

// Delete takes k out of the set once: see [Filter.Delete].
func (f *Parallel) Delete(k filter.Key) error {
	l := f.of(k)
	l.Lock()
	defer l.Unlock()
	return l.Delete(k)
}

// Clear takes all keys out, list by list: see [Filter.Clear]. Every key that was added
// before Clear was called is gone when it returns, and every key that is added after
// it returned stays. Of keys that are added meanwhile some may go.
func (f *Parallel) Clear() error {
	f.each(func(_ int, l *Filter) { _ = l.Clear() })
	return nil
}

// Union adds what is in other, a *Parallel of equal shape, list by list: see
// [Filter.Union]. It never holds two locks at once. Every list of other is taken as
// it was at one moment; queries meanwhile may find some lists united and
// others not yet.
func (f *Parallel) Union(other filter.Filter) error {
	return merging.Union(f, other)
}

// PrepareUnion copies the lists of other, each as it is at one moment, and returns the
// function that joins them to those of f. It does not look at f, which may be changed
// meanwhile.
func (f *Parallel) PrepareUnion(other filter.Filter) (finish func(commit bool) error, err error) {
	o, err := merging.Peer(f, other)
	if err != nil {
		return nil, err
	}
	if o == f {
		return merging.OnCommit(func() { f.each(func(_ int, l *Filter) { l.double() }) }), nil
	}
	copied, err := o.copies()
	if err != nil {
		return nil, err
	}
	return merging.OnCommit(func() { f.each(func(i int, l *Filter) { l.take(copied[i].units) }) }), nil
}

// each changes every list, each under its lock.
func (f *Parallel) each(change func(i int, l *Filter)) {
	for i := range f.lists {
		l := &f.lists[i]
		l.Lock()
		change(i, l.Filter)
		l.Unlock()
	}
}

// copies returns the lists in memory of their own, each as it is at one moment.
func (f *Parallel) copies() ([]*Filter, error) {
	copied := make([]*Filter, len(f.lists))
	for i := range f.lists {
		l := &f.lists[i]
		l.RLock()
		c, err := l.copied()
		l.RUnlock()
		if err != nil {
			return nil, err
		}
		copied[i] = c
	}
	return copied, nil
}

// Intersect is beyond this kind: see [Filter.Intersect].
func (f *Parallel) Intersect(filter.Filter) error { return errIntersect }

// Shape returns the filter's geometry.
func (f *Parallel) Shape() ParallelShape { return f.shape }

// Len returns the number of keys in the set: see [Filter.Len].
func (f *Parallel) Len() uint64 { return f.Info().Keys }

// Info describes the filter. Every list is described as it is at one moment, and
// the rate is the mean of theirs.
func (f *Parallel) Info() filter.Info {
	var c census
	for i := range f.lists {
		l := &f.lists[i]
		l.RLock()
		c.include(l.Filter)
		l.RUnlock()
	}
	info := c.info("parallel", f.shape.Shape)
	info.Details = []filter.Detail{
		{Name: "lists", Value: strconv.Itoa(c.lists)},
		{Name: "units", Value: strconv.Itoa(c.units)},
		{Name: "units of the longest list", Value: strconv.Itoa(c.longest)},
	}
	return info
}

// Snapshot captures the filter in memory of its own: every list as it is at one
// moment, so that every key is in the state that it had at some moment during the
// call. No goroutine waits longer than it takes to copy a list.
func (f *Parallel) Snapshot() io.WriterTo {
	lists, err := f.copies()
	if err != nil {
		return frame.Failed(fmt.Errorf("dynamic: snapshot: %w", err))
	}
	return imageOf(frame.Parallel, f.shape, lists)
}

// ReadParallel reads what a [Parallel]'s Snapshot wrote.
func ReadParallel(src io.Reader) (*Parallel, error) {
	r, s, err := frame.OpenAs(src, frame.Parallel, formatVersion, ParallelShape.check)
	if err != nil {
		return nil, err
	}
	lists, err := readLists(r, s.Shape, s.Partitions)
	if err != nil {
		return nil, err
	}
	return parallelOver(s, lists), nil
}
