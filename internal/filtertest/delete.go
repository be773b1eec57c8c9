package filtertest

import (
	"errors"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

// deleteKeepsOtherKeys deletes every second key and looks at all others, then at
// what is left of the deleted ones.
func (c checker) deleteKeepsOtherKeys() {
	n := effort.Pick[uint64](8000, 20_000)
	keys := c.keys(41, n)
	f := c.filled(keys).(filter.Deleter)
	var kept, gone []filter.Key
	pinned := uint64(0)
	for i, k := range keys {
		if i%2 == 0 {
			kept = append(kept, k)
			continue
		}
		if c.deleteOrPin(f, k) != nil {
			kept = append(kept, k)
			pinned++
			continue
		}
		gone = append(gone, k)
	}
	c.wantAll(f, kept, "after deleting other keys")
	if pinned > n/4 {
		c.Errorf("%d of %d deletes were refused with ErrPinned, want half at most", pinned, n/2)
	}
	c.wantGone(f, gone)
	if info := f.Info(); info.Exact {
		c.checkKeys(info, uint64(len(kept)))
	}
}

// wantGone checks that deleted keys get no more yeses than absent ones.
func (c checker) wantGone(f filter.Filter, gone []filter.Key) {
	hits := 0
	for _, k := range gone {
		if f.MayContain(k) {
			hits++
		}
	}
	checkBetween(c, "keys that were deleted", hits, len(gone), 0, f.Info().FPR*(1+RateSlack), sigmas)
}

// deleteOrPin deletes a key that is in the set. A pinned key must stay.
func (c checker) deleteOrPin(f filter.Deleter, k filter.Key) error {
	err := f.Delete(k)
	switch {
	case err == nil:
	case !errors.Is(err, filter.ErrPinned):
		c.Fatalf("deleting %#x, which is in the set: %v", k, err)
	case !f.MayContain(k):
		c.Fatalf("deleting %#x was refused with ErrPinned, and yet it is denied now", k)
	}
	return err
}

// deleteRefusesAbsentKeys deletes only keys that the filter denies, unless
// deleting others can do no harm: who deletes a false positive where copies are
// counted has broken the rules, not the filter.
func (c checker) deleteRefusesAbsentKeys() {
	const n = 5000
	stream := c.stream(43)
	keys := stream.Keys(n)
	f := c.filled(keys).(filter.Deleter)
	state, info := c.state(f), f.Info()
	harmless := info.Duplicates == filter.DuplicatesIgnored
	for i := range uint64(n) {
		k := stream.Absent(i)
		if !harmless && f.MayContain(k) {
			continue
		}
		if err := f.Delete(k); !errors.Is(err, filter.ErrNotFound) {
			c.Fatalf("deleting %#x, which was never added: %v, want ErrNotFound", k, err)
		}
	}
	c.wantSame(f, info, state, "refusing to delete absent keys")
	c.wantAll(f, keys, "after refusing to delete absent keys")
}

// deleteHonoursDuplicates adds some keys twice and deletes them until they are
// gone. The filter is nearly empty, so that no other key gets in the way.
func (c checker) deleteHonoursDuplicates() {
	const n = 50
	keys := c.keys(47, n)
	f := c.make(100*n, 0.001).(filter.Deleter)
	c.addAll(f, keys)
	c.addAll(f, keys)
	switch f.Info().Duplicates {
	case filter.DuplicatesPin:
		c.wantPinned(f, keys)
	case filter.DuplicatesCounted:
		c.wantAll(f, keys, "added twice")
		if once := c.deleteEach(f, keys); once {
			c.wantAll(f, keys, "added twice, deleted once")
			c.deleteEach(f, keys)
			c.wantDenied(f, keys, "added twice, deleted twice")
		}
	default:
		c.deleteEach(f, keys)
		c.wantDenied(f, keys, "added twice, deleted once, duplicates ignored")
		if err := f.Delete(keys[0]); !errors.Is(err, filter.ErrNotFound) {
			c.Errorf("deleting a key again: %v, want ErrNotFound", err)
		}
	}
}

// deleteEach reports whether no key was pinned.
func (c checker) deleteEach(f filter.Deleter, keys []filter.Key) (all bool) {
	all = true
	for _, k := range keys {
		if c.deleteOrPin(f, k) != nil {
			all = false
		}
	}
	return all
}

// wantPinned checks that no key can be deleted and that trying changes nothing.
func (c checker) wantPinned(f filter.Deleter, keys []filter.Key) {
	state, info := c.state(f), f.Info()
	for _, k := range keys {
		if err := f.Delete(k); !errors.Is(err, filter.ErrPinned) {
			c.Errorf("deleting %#x, added twice: %v, want ErrPinned", k, err)
		}
	}
	c.wantSame(f, info, state, "refusing with ErrPinned")
	c.wantAll(f, keys, "pinned")
}

// wantDenied checks that at most one of the keys is still answered with yes: a
// false positive, which a nearly empty filter can hardly have.
func (c checker) wantDenied(f filter.Filter, keys []filter.Key, when string) {
	hits := 0
	for _, k := range keys {
		if f.MayContain(k) {
			hits++
		}
	}
	if hits > 1 {
		c.Errorf("%s: %d of %d keys are still in the set", when, hits, len(keys))
	}
}
