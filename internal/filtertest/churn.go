package filtertest

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// A Churn changes a filter and an exact set alike: keys come, come again, go and
// come back, as the rules of the filter allow. Unlike [Model] it takes a filter
// of any shape and size, and does nothing else.
type Churn struct {
	f          filter.Deleter
	duplicates filter.Duplicates
	most       int // keys in the set
	set        Set
	gone       []filter.Key // some that were deleted, to be put back
	stream     Stream
	next       uint64 // number of the next new key
	rng        *rand.Rand
	step       int
	forgot     bool // a pinned key, which the filter still counts
}

// NewChurn returns a Churn of an empty filter, which will have at most so many
// different keys.
func NewChurn(f filter.Deleter, most int, seed uint64) *Churn {
	return &Churn{
		f: f, duplicates: f.Info().Duplicates, most: most,
		stream: Stream{Seed: seed}, rng: rand.New(rand.NewPCG(seed, 12)),
	}
}

// Step does one operation and looks at a few keys.
func (c *Churn) Step(tb testing.TB) {
	tb.Helper()
	dice, room := c.rng.IntN(32), c.set.Len() < c.most
	switch {
	case c.set.Len() == 0 || dice < 12 && room:
		c.add(tb, c.stream.Present(c.next))
		c.next++
	case dice < 16 && len(c.gone) > 0 && room:
		c.add(tb, c.gone[c.rng.IntN(len(c.gone))])
	case dice == 16 || dice > 16 && dice < 20 && c.duplicates != filter.DuplicatesPin:
		c.add(tb, c.any())
	default:
		c.delete(tb, c.any())
	}
	c.step++
	for range min(3, c.set.Len()) {
		c.want(tb, c.any())
	}
}

// Check looks at every key, and at the number of keys if the filter counts.
func (c *Churn) Check(tb testing.TB) {
	tb.Helper()
	for k := range c.set.All() {
		c.want(tb, k)
	}
	info, want := c.f.Info(), c.set.Total()
	if info.Exact && !c.forgot && c.duplicates != filter.DuplicatesPin && info.Keys != want {
		tb.Fatalf("after step %d: %d keys, want %d", c.step, info.Keys, want)
	}
}

func (c *Churn) want(tb testing.TB, k filter.Key) {
	tb.Helper()
	if !c.f.MayContain(k) {
		tb.Fatalf("after step %d, %d keys: %#x is in the set and was denied", c.step, c.set.Len(), k)
	}
}

// add adds a key, unless the filter is full.
func (c *Churn) add(tb testing.TB, k filter.Key) {
	tb.Helper()
	if _, err := c.f.Add(k); errors.Is(err, filter.ErrFull) {
		return
	} else if err != nil {
		tb.Fatalf("step %d, %d keys: adding %#x: %v", c.step, c.set.Len(), k, err)
	}
	if c.duplicates != filter.DuplicatesIgnored || !c.set.Has(k) {
		c.set.Add(k)
	}
}

// delete deletes a key of the set. A pinned key is forgotten now and then, as
// users would do: it stays a false positive.
func (c *Churn) delete(tb testing.TB, k filter.Key) {
	tb.Helper()
	pins := c.duplicates == filter.DuplicatesPin
	switch err := c.f.Delete(k); {
	case errors.Is(err, filter.ErrPinned):
		if c.rng.IntN(2) == 0 {
			c.set.Remove(k)
			c.forgot = true
		}
	case err != nil:
		tb.Fatalf("step %d, %d keys: deleting %#x, which is in the set: %v", c.step, c.set.Len(), k, err)
	case pins && c.set.Count(k) > 1:
		tb.Fatalf("step %d: %#x was added %d times and could be deleted", c.step, k, c.set.Count(k))
	case pins && c.f.MayContain(k):
		tb.Fatalf("step %d: %#x is there right after it was deleted", c.step, k)
	default:
		c.set.Delete(k)
		c.remember(k)
	}
}

// any returns a key of the set, which has some.
func (c *Churn) any() filter.Key { return c.set.At(c.rng.IntN(c.set.Len())) }

func (c *Churn) remember(k filter.Key) {
	if len(c.gone) < 64 {
		c.gone = append(c.gone, k)
		return
	}
	c.gone[c.rng.IntN(len(c.gone))] = k
}
