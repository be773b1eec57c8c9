package evergreen

import (
	"math/bits"
	"unsafe"
)

// In a large filter a new key would wait for two cache misses in a row, that of the
// ref and that of the run. So new keys first go into the inbox of their stripe, and
// are delivered many at a time, so that the misses overlap. The bits in the blocks
// are set at once: readers see no difference. Where a key in an inbox belongs is
// found out when it is needed, so blocks can split and merge meanwhile.

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

// An inbox holds mixed keys.
type inbox [inboxSize]uint64

// openInbox makes sure that there is room for one more key in the inbox of a
// stripe, and reports whether there is an inbox among so many blocks. A stripe in
// which a block is crowded, which no hashed keys bring about, has none.
func (t *table) openInbox(st *stripe, blocks uint64) (ready bool, err error) {
	switch {
	case st.crowded: // runs must have room for what waits
		return false, t.deliver(st)
	case blocks < inboxFrom:
		return false, nil
	case st.inbox == nil:
		st.inbox = new(inbox)
	case st.waiting == inboxSize:
		err = t.deliver(st)
	}
	return err == nil, err
}

// deliver moves keys from the inbox of a stripe, which the caller holds, to their
// runs. Those for which there is no memory stay.
func (t *table) deliver(st *stripe) error {
	if st.waiting == 0 {
		return nil
	}
	if t.gone == closed {
		return errClosed
	}
	n := t.load().blocks()
	var (
		blocks [inboxSize]uint64
		slots  [inboxSize]*uint64
	)
	for j, mixed := range st.inbox[:st.waiting] {
		blocks[j] = t.place(mixed, n)
		slots[j] = t.store.slot(blocks[j])
		prefetch(unsafe.Pointer(slots[j]))
	}
	for _, slot := range slots[:st.waiting] {
		t.store.expectTail(ref(*slot))
	}
	for j, mixed := range st.inbox[:st.waiting] {
		if err := t.push(st, slots[j], blocks[j], t.fingerprint(mixed), n); err != nil {
			st.waiting = copy(st.inbox[:], st.inbox[j:st.waiting])
			return err
		}
	}
	st.waiting = 0
	return nil
}

// push appends a fingerprint to the run of block i among n, whose ref is in the
// slot, and notes the rate.
func (t *table) push(st *stripe, slot *uint64, i, fingerprint, n uint64) error {
	count := ref(*slot).count()
	if count == t.store.most {
		return errCrowded
	}
	if err := t.store.push(slot, i, fingerprint); err != nil {
		return err
	}
	t.watch(st, count+1)
	level := levelOf(i, n)
	t.note(st, 0, t.share(count+1, level)-t.share(count, level))
	return nil
}

// watch notices that a block of a stripe has become crowded.
func (t *table) watch(st *stripe, count int) {
	if count > t.store.most-crowdedAt {
		st.crowded = true
	}
}

// find returns where in the inbox of a stripe a mixed key is, or -1.
func (t *table) find(st *stripe, mixed uint64) int {
	for j, other := range st.inbox.list(st.waiting) {
		if t.same(other, mixed) {
			return j
		}
	}
	return -1
}

// recall takes a mixed key out of the inbox of a stripe, and reports whether it was
// there. The others of its block among n share bits with it. Keys of one block agree
// in all bits of their addresses but one, which few of an inbox do.
func (t *table) recall(st *stripe, mixed, n uint64, mine *own) (found bool) {
	least := addressOf(1<<(bits.Len64(n)-1) - 1)
	block := t.place(mixed, n)
	for j := st.waiting - 1; j >= 0; j-- {
		other := st.inbox[j]
		switch {
		case (other^mixed)&least != 0:
		case !found && t.same(other, mixed):
			st.waiting--
			st.inbox[j] = st.inbox[st.waiting]
			found = true
		case t.place(other, n) == block:
			mine.share(t.fingerprint(other))
		}
	}
	return found
}

// list returns the first n keys of an inbox, which may be missing if there are none.
func (b *inbox) list(n int) []uint64 {
	if b == nil {
		return nil
	}
	return b[:n]
}

// same reports whether the filter cannot tell two mixed keys apart.
func (t *table) same(a, b uint64) bool {
	return (a^b)>>(fullWidth-uint(t.width)) == 0
}
