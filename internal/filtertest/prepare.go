package filtertest

import (
	"errors"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// unionIsAllOrNothing unites overlapping sets until the filter is full, if it ever is:
// the union that fails must leave no trace, in neither operand.
func (c checker) unionIsAllOrNothing() {
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
func (c checker) preparedUnionChangesNothing() {
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
