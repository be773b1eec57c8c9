package filtertest

import (
	"bytes"
	"errors"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// pair returns two filters that can be merged, with the keys of their parts: in
// the first only, in both, in the second only.
func (c checker) pair() (a, b filter.Merger, left, common, right []filter.Key) {
	const part = 2000
	keys := c.keys(53, 3*part)
	left, common, right = keys[:part], keys[part:2*part], keys[2*part:]
	a = c.make(4*part, 0.01).(filter.Merger)
	b = c.make(4*part, 0.01).(filter.Merger)
	c.addAll(a, keys[:2*part])
	c.addAll(b, keys[part:])
	return a, b, left, common, right
}

// unionHasTheKeysOfBoth also looks for traces in the other operand: at once, and
// after the union was changed, which would show memory that both share.
func unionHasTheKeysOfBoth(c checker) {
	a, b, left, common, right := c.pair()
	state, info := c.state(b), b.Info()
	if c.refused("union", a.Union(b)) {
		c.wantAll(a, append(left, common...), "after a union that was refused")
		return
	}
	for _, keys := range [][]filter.Key{left, common, right} {
		c.wantAll(a, keys, "after a union")
	}
	c.checkInfo(a.Info())
	c.wantSame(b, info, state, "a union changed the other operand: it")

	c.addAll(a, c.keys(54, 500))
	c.wantSame(b, info, state, "adding to a union changed the other operand: it")
	c.wantAll(b, append(common, right...), "the other operand of a union")
}

// intersectionKeepsCommonKeys also checks that something was taken away: of the
// keys of one operand only, most must go.
func intersectionKeepsCommonKeys(c checker) {
	a, b, left, common, right := c.pair()
	state, info := c.state(b), b.Info()
	if c.refused("intersection", a.Intersect(b)) {
		c.wantAll(a, append(left, common...), "after an intersection that was refused")
		return
	}
	c.wantAll(a, common, "after an intersection")
	hits := 0
	for _, k := range left {
		if a.MayContain(k) {
			hits++
		}
	}
	if hits > len(left)/2 {
		c.Errorf("after an intersection %d of %d keys are left that were in one operand only", hits, len(left))
	}
	c.checkInfo(a.Info())
	c.wantSame(b, info, state, "an intersection changed the other operand: it")
	c.wantAll(b, append(common, right...), "the other operand of an intersection")
}

// refused reports whether a merge was one that the kind cannot do.
func (c checker) refused(what string, err error) bool {
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		c.Fatalf("%s of filters made for the same numbers: %v", what, err)
	}
	return err != nil
}

// mergeRefusesOtherKinds offers filters of another shape, which a kind may refuse
// or take in well, and one that only looks like the kind.
func mergeRefusesOtherKinds(c checker) {
	const n = 1000
	keys, others := c.keys(61, n), c.keys(62, n)
	type operation struct {
		name string
		run  func(f filter.Merger, other filter.Filter) error
		must []filter.Key // have after success
	}
	for _, op := range []operation{
		{"union", filter.Merger.Union, append(keys[:n:n], others...)},
		{"intersection", filter.Merger.Intersect, nil},
	} {
		for _, other := range []filter.Filter{
			c.make(50*n, 0.01), c.make(2*n, 1e-5), otherKind{c.make(2*n, 0.01)},
		} {
			f := c.make(2*n, 0.01).(filter.Merger)
			c.addAll(f, keys)
			c.addAll(other, others)
			c.offer(op.name, f, other, op.run, keys, op.must)
			c.wantAll(other, others, "offered for "+op.name)
		}
	}
}

// offer merges other into f, which holds keys; after success it must hold must.
func (c checker) offer(name string, f filter.Merger, other filter.Filter, run func(filter.Merger, filter.Filter) error, keys, must []filter.Key) {
	_, isOther := other.(otherKind)
	state, info := c.state(f), f.Info()
	otherState := c.state(other)
	switch err := run(f, other); {
	case err == nil && !isOther:
		c.wantAll(f, must, name+" of unequal shapes")
	case err == nil:
		c.Errorf("%s with a filter of another type was accepted", name)
	case !errors.Is(err, filter.ErrIncompatible) && !errors.Is(err, errors.ErrUnsupported):
		c.Errorf("%s with another kind: %v, want ErrIncompatible", name, err)
	default:
		c.wantSame(f, info, state, "a refused "+name)
		c.wantAll(f, keys, "after a refused "+name)
	}
	if !bytes.Equal(c.state(other), otherState) {
		c.Errorf("%s changed the other operand", name)
	}
}

// A otherKind has the answers of the kind and another type.
type otherKind struct{ filter.Filter }

// unionIsAllOrNothing unites overlapping sets until the filter is full, if it ever is:
// the union that fails must leave no trace, in neither operand.
func unionIsAllOrNothing(c checker) {
	const n, unions = 500, 12
	f := c.make(n, 0.01).(filter.Merger)
	for i := range uint64(unions) {
		other := c.make(n, 0.01)
		stream := c.stream(139 + i%2)
		c.addAll(other, append(stream.Keys(n/2), c.keys(149+i, n/4)...))
		state, info := c.state(f), f.Info()
		otherState, otherInfo := c.state(other), other.Info()
		err := f.Union(other)
		if err == nil {
			continue
		}
		c.wantSame(f, info, state, "a union that failed")
		c.wantSame(other, otherInfo, otherState, "a union that failed, as the other operand,")
		if !errors.Is(err, filter.ErrFull) && !errors.Is(err, errors.ErrUnsupported) {
			c.Errorf("union number %d: %v, want ErrFull", i, err)
		}
		return
	}
}

// preparedUnionChangesNothing prepares a union twice: the first is given up, the second
// is completed and must give what Union gives.
func preparedUnionChangesNothing(c checker) {
	a, b, left, common, right := c.pair()
	twin, _, _, _, _ := c.pair()
	if c.refused("union", twin.Union(b)) {
		return
	}
	state, info := c.state(a), a.Info()
	other, otherInfo := c.state(b), b.Info()
	p := a.(merging.Preparer)
	finish, err := p.PrepareUnion(b)
	if err != nil {
		c.Fatalf("preparing a union: %v", err)
	}
	if err := finish(false); err != nil {
		c.Errorf("giving up a union: %v", err)
	}
	c.wantSame(a, info, state, "a union that was prepared and not completed")
	if finish, err = p.PrepareUnion(b); err != nil {
		c.Fatalf("preparing a union: %v", err)
	}
	if err := finish(true); err != nil {
		c.Errorf("completing a union: %v", err)
	}
	state = c.state(twin)
	c.wantSame(a, twin.Info(), state, "a union was prepared and completed, which unlike Union")
	c.wantSame(b, otherInfo, other, "a prepared union changed the other operand: it")
	for _, keys := range [][]filter.Key{left, common, right} {
		c.wantAll(a, keys, "after a prepared union")
	}
}
