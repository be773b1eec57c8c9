package filtertest

import (
	"errors"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

// deleteKeepsOtherKeys deletes every second key and looks at all others, then at
// what is left of the deleted ones, and tries the pinned ones again.
func deleteKeepsOtherKeys(c checker) {
	n := effort.Pick[uint64](8000, 20_000)
	keys := c.keys(41, n)
	f := c.filled(keys).(filter.Deleter)
	var kept, gone, pinned []filter.Key
	for i, k := range keys {
		if i%2 == 0 {
			kept = append(kept, k)
			continue
		}
		if c.deleteOrPin(f, k) != nil {
			kept, pinned = append(kept, k), append(pinned, k)
			continue
		}
		gone = append(gone, k)
	}
	c.wantAll(f, kept, "after deleting other keys")
	if uint64(len(pinned)) > n/4 {
		c.Errorf("%d of %d deletes were refused with ErrPinned, want half at most", len(pinned), n/2)
	}
	c.wantGone(f, gone)
	if info := f.Info(); info.Exact {
		c.checkKeys(info, uint64(len(kept)))
	}
	c.pinnedStays(f, pinned[:min(4, len(pinned))])
}

// pinnedStays deletes pinned keys again. Those that are refused must have changed
// nothing; others were pinned by keys that are gone.
func (c checker) pinnedStays(f filter.Deleter, keys []filter.Key) {
	for _, k := range keys {
		state, info := c.state(f), f.Info()
		if c.deleteOrPin(f, k) != nil {
			c.wantSame(f, info, state, "refusing with ErrPinned")
		}
	}
}

// wantGone checks that deleted keys are found as rarely as absent ones.
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
		c.Fatalf("deleting %#x was refused with ErrPinned, and yet it is not found now", k)
	}
	return err
}

// deleteRefusesAbsentKeys deletes only keys that the filter does not find, unless
// deleting others can do no harm: where copies are counted, a deleted false positive
// is a fault of the caller.
func deleteRefusesAbsentKeys(c checker) {
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
