package evergreen

import (
	"math/bits"
	"unsafe"

	"github.com/everbloom-go/everbloom/filter/evergreen/internal/slab"
	"github.com/everbloom-go/everbloom/internal/line"
)

// An inbox has mixed keys of a stripe that are not in their runs yet.
//
// In a large filter a new key would wait for two cache misses in a row, that of the
// ref and that of the run. So new keys first go into the inbox of their stripe, and
// are delivered many at a time, so that the misses overlap. The bits in the blocks
// are set at once: readers see no difference. Where a key in an inbox belongs is
// found out when it is needed, so blocks can split and merge meanwhile.
type inbox struct {
	mixed   *[inboxSize]uint64 // nil before it is first used
	count   int
	crowded bool // a block of the stripe is nearly full: there is no inbox any more
}

const (
	inboxSize = 32

	// crowdedAt is how far below the largest run inboxes end: what may wait there
	// must find room.
	crowdedAt = 2 * inboxSize
)

// inboxFrom is the number of blocks from which inboxes are used: 2 MiB of blocks
// and a million keys, of which those waiting are 0.2 %. It is a variable only so
// that tests can have inboxes in small filters.
var inboxFrom uint64 = 1 << 15

// keys returns the mixed keys that wait.
func (b *inbox) keys() []uint64 {
	if b.mixed == nil {
		return nil
	}
	return b.mixed[:b.count]
}

// put adds a mixed key to an inbox that is open.
func (b *inbox) put(mixed uint64) {
	b.mixed[b.count] = mixed
	b.count++
}

// openInbox makes sure that there is room for one more key in the inbox of a
// stripe, and reports whether there is an inbox among so many blocks. A stripe in
// which a block is crowded, which no hashed keys bring about, has none.
func (t *table) openInbox(st *stripe, blocks uint64) (ready bool, err error) {
	switch {
	case st.inbox.crowded: // runs must have room for what waits
		return false, t.deliver(st)
	case blocks < inboxFrom:
		return false, nil
	case st.inbox.mixed == nil:
		st.inbox.mixed = new([inboxSize]uint64)
	case st.inbox.count == inboxSize:
		err = t.deliver(st)
	}
	return err == nil, err
}

// deliver moves keys from the inbox of a stripe, which the caller holds, to their
// runs. Those for which there is no memory stay.
func (t *table) deliver(st *stripe) error {
	waiting := st.inbox.keys()
	if len(waiting) == 0 {
		return nil
	}
	if t.gone == closed {
		return errClosed
	}
	n := t.load().blocks()
	var (
		blocks [inboxSize]uint64
		refs   [inboxSize]*slab.Ref
	)
	for i, mixed := range waiting {
		blocks[i] = place(mixed, n)
		refs[i] = t.store.Ref(blocks[i])
		line.Prefetch(unsafe.Pointer(refs[i]))
	}
	for _, r := range refs[:len(waiting)] {
		t.store.PrefetchEnd(*r)
	}
	for i, mixed := range waiting {
		if err := t.push(st, refs[i], mixed, blocks[i], n); err != nil {
			st.inbox.count = copy(waiting, waiting[i:])
			return err
		}
	}
	st.inbox.count = 0
	return nil
}

// takeFromInbox takes a mixed key out of the inbox of a stripe, and reports whether it
// was there. The others of its block among n share bits with it. Keys of one block agree in all
// bits of their addresses but one, which few of an inbox do.
func (t *table) takeFromInbox(st *stripe, mixed, n uint64, exclusive *line.Exclusive) (found bool) {
	common := addressOf(1<<(bits.Len64(n)-1) - 1)
	block := place(mixed, n)
	box := &st.inbox
	for i := box.count - 1; i >= 0; i-- {
		other := box.mixed[i]
		switch {
		case (other^mixed)&common != 0:
		case !found && t.alike(other, mixed):
			box.count--
			box.mixed[i] = box.mixed[box.count]
			found = true
		case place(other, n) == block:
			exclusive.Share(t.fingerprint(other))
		}
	}
	return found
}
