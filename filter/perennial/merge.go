package perennial

import (
	"errors"
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// Union adds what is in other, a *Filter of equal width and salt and any size. A key that
// is in both is there as often as in both together.
func (f *Filter) Union(other filter.Filter) error { return merging.Union(f, other) }

// PrepareUnion is for sets of several filters. The union is made in memory of its own.
func (f *Filter) PrepareUnion(other filter.Filter) (finish func(commit bool) error, err error) {
	o, err := f.peer(other)
	if err != nil {
		return nil, err
	}
	r, err := f.ring.Load().union(o.ring.Load())
	if err != nil {
		return nil, fmt.Errorf("perennial: union: %w", err)
	}
	return merging.OnCommit(func() { f.ring.Store(r) }), nil
}

// peer returns other as a filter that can be merged with f.
func (f *Filter) peer(other filter.Filter) (*Filter, error) {
	o, ok := other.(*Filter)
	switch {
	case !ok:
		return merging.Peer(f, other)
	case o == nil:
		return nil, fmt.Errorf("perennial: merge with nothing: %w", filter.ErrIncompatible)
	}
	a, b := f.Shape(), o.Shape()
	a.Lines, a.Fill, a.FPR, a.Most = b.Lines, b.Fill, b.FPR, b.Most // need not be equal
	return o, merging.Same("perennial", a, b)
}

// Intersect is beyond this kind: of two fingerprints of different length that fit each
// other there is no telling whether they are of one key.
func (f *Filter) Intersect(filter.Filter) error {
	return fmt.Errorf("perennial: intersect: %w", errors.ErrUnsupported)
}

// union returns a ring with the entries of two. They come in hash order: there must be room
// for all before the first, and how much large buckets need is found out by trying.
func (r *ring) union(other *ring) (u *ring, err error) {
	lines := max(r.shape.linesFor(r.slots+other.slots), r.layout.total)
	for range 8 {
		if u, err = r.clone(); err != nil {
			return nil, err
		}
		for err == nil && u.layout.total < lines {
			err = u.resize(u.layout.total + 1)
		}
		if err == nil {
			err = u.addAll(other)
		}
		if !errors.Is(err, filter.ErrFull) {
			return u, err
		}
		lines += lines/8 + 1
	}
	return nil, err
}

// addAll adds the entries of another ring.
func (r *ring) addAll(other *ring) error {
	err := other.walk(func(t target, _ []uint64, entries []entry) error {
		for _, e := range entries {
			if e.v == 0 && t.idx%(1<<e.depth) != 0 {
				continue // a copy
			}
			if err := r.addAt(other.prefix(t, e), e.count); err != nil {
				return err
			}
		}
		return nil
	})
	var more []extra
	for _, e := range other.extras.Load().all() {
		if r.tooShort(e.prefix) {
			more = append(more, e)
		} else {
			err = errors.Join(err, r.addAt(e.prefix, e.count))
		}
	}
	r.extras.Store(r.extras.Load().with(more, r.maxCount()))
	r.keys = min(r.keys+other.keys, math.MaxInt64)
	return err
}

// walk gives all buckets in hash order: where they are, and what they hold. idx is the
// number of the bucket in its group.
func (r *ring) walk(visit func(t target, slots []uint64, entries []entry) error) error {
	w := &rewriter{ring: r}
	first := r.layout.groupOf(0)
	w.begin(r.layout, first)
	w.collect(r.at(first.index()).in())
	var entries []entry
	for p := range r.places() {
		for i := range p.width() {
			w.old.clear()
			w.collect(1)
			entries = r.decode(w.old.slots, entries[:0])
			if err := visit(target{place: p, idx: p.start() + i}, w.old.slots, entries); err != nil {
				return err
			}
		}
	}
	return nil
}

// prefix returns what the keys of an entry have in common.
func (c coder) prefix(t target, e entry) prefix {
	bits := reverse(t.group, t.level)<<bucketLog | uint64(t.idx)
	n := uint(t.level) + bucketLog
	if e.v == 0 {
		n -= uint(e.depth)
		return prefix{bits >> e.depth << (64 - n), n}
	}
	length := c.lengthOf(e.v)
	suffix := (e.v ^ e.v&-e.v) << (64 - c.w) // from the top
	return prefix{bits<<(64-n) | suffix>>n, n + length}
}

// tooShort reports whether an entry for a prefix has too few bits for the ring.
func (r *ring) tooShort(x prefix) bool {
	return x.n+maxVoid < uint(r.layout.locate(x.bits, r.w).level)+bucketLog
}

// addAt adds an entry for a prefix. Where buckets have more bits than the prefix it is a
// void in each of them, or an extra.
func (r *ring) addAt(x prefix, count uint64) error {
	if r.tooShort(x) {
		r.extras.Store(r.extras.Load().with([]extra{{x, count}}, r.maxCount()))
		return nil
	}
	for at := x.bits; ; {
		t := r.layout.locate(at, r.w)
		n := uint(t.level) + bucketLog
		e := entry{count: count}
		if x.n < n {
			e.depth = uint64(n - x.n)
		} else {
			e.v = r.entryOf(at<<n, min(x.n-n, r.w-1))
		}
		p, l, idx := r.find(t)
		_, gained, err := r.addEntry(p, l, idx, e)
		if errors.Is(err, errTooLarge) && x.n >= n && r.addExtra(x, count) {
			return nil
		}
		if err != nil {
			return err
		}
		r.weights[t.level-r.layout.level] += gained
		at += 1 << (64 - n)
		if x.n >= n || at == 0 || at>>(64-x.n) != x.bits>>(64-x.n) {
			break
		}
	}
	r.extend()
	return nil
}
