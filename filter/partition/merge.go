package partition

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// Union adds what is in other, a *Filter of equal shape and any size. The result
// is the same as if all keys had been added to f.
func (f *Filter) Union(other filter.Filter) error {
	return merging.Union(f, other)
}

// PrepareUnion makes the filter that takes the place of f in Union, and returns the
// function that puts it there.
func (f *Filter) PrepareUnion(other filter.Filter) (finish func(commit bool) error, err error) {
	complete, err := f.prepare(other, false)
	return merging.OnCommit(complete), err
}

// Intersect keeps what is in both f and other, a *Filter of equal shape and any
// size. The result is the same as if only the common keys had been added.
func (f *Filter) Intersect(other filter.Filter) error {
	complete, err := f.prepare(other, true)
	if err == nil {
		complete()
	}
	return err
}

// prepare combines f and other, and returns the function that makes f the result.
func (f *Filter) prepare(other filter.Filter, common bool) (complete func(), err error) {
	o, err := merging.Peer(f, other)
	if err != nil {
		return nil, err
	}
	if o == f {
		return func() {}, nil
	}
	g, err := assemble(f.shape, &join{one: cursor{f: f}, other: cursor{f: o}, common: common})
	if err != nil {
		return nil, err
	}
	return func() { *f = *g }, nil
}

// A cursor walks the map of a filter: all ids in ascending order, leaf by leaf.
type cursor struct {
	f     *Filter
	next  uint64 // the first id that was not looked at
	ended bool
	ids   []uint64 // of the leaf that was come to, without those that were taken
	leaf  []uint64 // the same with them: the buffer
}

// more is the source of a copy.
func (c *cursor) more(dst []uint64) []uint64 {
	if !c.load() {
		return dst
	}
	dst = append(dst, c.ids...)
	c.ids = nil
	return dst
}

// load sees to it that there are ids, unless the walk is at its end.
func (c *cursor) load() bool {
	for len(c.ids) == 0 && !c.ended {
		if r := c.f.tree.find(c.next); r != none {
			c.leaf = c.f.leaves[r.unit()].appendTo(c.leaf[:0])
			c.ids = c.leaf
		}
		last := c.next | (1<<(c.f.shape.IDBits-c.f.tree.depthOf(c.next)) - 1)
		c.next = last + 1
		c.ended = last >= c.f.last
	}
	return len(c.ids) > 0
}

// A join gives what is in either of two filters, or only what is in both.
type join struct {
	one, other cursor
	common     bool // only what is in both
}

func (j *join) more(dst []uint64) []uint64 {
	for n := len(dst); len(dst) == n; {
		one, other := j.one.load(), j.other.load()
		switch {
		case one && other:
			dst = j.merge(dst)
		case j.common || !one && !other:
			return dst
		case one:
			dst = j.one.more(dst)
		default:
			dst = j.other.more(dst)
		}
	}
	return dst
}

// merge goes on until one of the two has no ids left in its leaf.
func (j *join) merge(dst []uint64) []uint64 {
	a, b := j.one.ids, j.other.ids
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0], b[0]
		if x == y || !j.common {
			dst = append(dst, min(x, y))
		}
		if x <= y {
			a = a[1:]
		}
		if y <= x {
			b = b[1:]
		}
	}
	j.one.ids, j.other.ids = a, b
	return dst
}
