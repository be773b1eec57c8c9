package evergreen

import (
	"math/bits"
	"unsafe"
)

// In a large filter a new key would wait for three cache misses in a row, that of the
// block, of the ref and of the run. So it first goes into the inbox of its stripe.
// Whoever adds to a full inbox moves the oldest key to its run, for which the memory
// was asked for when others came, and does so while the block of the new key is on its
// way. The bits in the blocks are set at once: readers see no difference. Where a key
// in an inbox belongs is found out when it is needed, so blocks can split and merge
// meanwhile.

const (
	// inboxSize is enough for the ref, and then the run, to come before they are
	// needed.
	inboxSize = 4

	// crowdedAt is how far below the largest run inboxes end: what may wait there
	// must find room.
	crowdedAt = 2 * inboxSize
)

// inboxFrom is the number of blocks from which inboxes are used: 2 MiB of blocks
// and a million keys. It is a variable only so that tests can have inboxes in small
// filters.
var inboxFrom uint64 = 1 << 15

// An inbox holds mixed keys.
type inbox [inboxSize]uint64

// openInbox makes sure that there is room for one more key in the inbox of a
// stripe, and reports whether there is an inbox among so many blocks. A stripe in
// which a block is crowded, which no hashed keys bring about, has none.
func (f *Filter) openInbox(st *stripe, blocks uint64) (ready bool, err error) {
	switch {
	case st.crowded: // runs must have room for what waits
		return false, f.deliver(st)
	case blocks < inboxFrom:
		return false, nil
	case st.inbox == nil:
		st.inbox = new(inbox)
	case st.waiting == inboxSize:
		err = f.deliverOldest(st, blocks)
	}
	return err == nil, err
}

// deliver moves all keys from the inbox of a stripe, which the caller holds, to their
// runs. Those for which there is no memory stay.
func (f *Filter) deliver(st *stripe) error {
	n := f.load().blocks()
	for st.waiting > 0 {
		if err := f.deliverOldest(st, n); err != nil {
			return err
		}
	}
	return nil
}

// deliverOldest moves one key from the inbox of a stripe to its run, among n blocks,
// and asks for the run of the next.
func (f *Filter) deliverOldest(st *stripe, n uint64) error {
	oldest := st.inbox[0]
	i := f.place(oldest, n)
	if err := f.push(st, f.store.slot(i), i, f.fingerprint(oldest), n); err != nil {
		return err
	}
	st.waiting = copy(st.inbox[:], st.inbox[1:st.waiting])
	if st.waiting > 0 {
		f.store.expectTail(f.store.ref(f.place(st.inbox[0], n)))
	}
	return nil
}

// leave puts the mixed key of block i into the inbox of a stripe, where there is room,
// and asks for the ref.
func (f *Filter) leave(st *stripe, mixed, i uint64) {
	st.inbox[st.waiting] = mixed
	st.waiting++
	prefetch(unsafe.Pointer(f.store.slot(i)))
}

// push appends a fingerprint to the run of block i among n, whose ref is in the
// slot, and notes the rate.
func (f *Filter) push(st *stripe, slot *uint64, i, fingerprint, n uint64) error {
	count := ref(*slot).count()
	if count == f.store.most {
		return errCrowded
	}
	if err := f.store.push(slot, i, fingerprint); err != nil {
		return err
	}
	f.watch(st, count+1)
	level := levelOf(i, n)
	f.note(st, 0, f.share(count+1, level)-f.share(count, level))
	return nil
}

// watch notices that a block of a stripe has become crowded.
func (f *Filter) watch(st *stripe, count int) {
	if count > f.store.most-crowdedAt {
		st.crowded = true
	}
}

// find returns where in the inbox of a stripe a mixed key is, or -1.
func (f *Filter) find(st *stripe, mixed uint64) int {
	for j, other := range st.inbox.list(st.waiting) {
		if f.same(other, mixed) {
			return j
		}
	}
	return -1
}

// recall takes a mixed key out of the inbox of a stripe, and reports whether it was
// there. The others of its block among n share bits with it. Keys of one block agree
// in all bits of their addresses but one, which few of an inbox do.
func (f *Filter) recall(st *stripe, mixed, n uint64, mine *own) (found bool) {
	least := addressOf(1<<(bits.Len64(n)-1) - 1)
	block := f.place(mixed, n)
	for j := st.waiting - 1; j >= 0; j-- {
		other := st.inbox[j]
		switch {
		case (other^mixed)&least != 0:
		case !found && f.same(other, mixed):
			st.waiting = j + copy(st.inbox[j:], st.inbox[j+1:st.waiting])
			found = true
		case f.place(other, n) == block:
			mine.share(f.fingerprint(other))
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
func (f *Filter) same(a, b uint64) bool {
	return (a^b)>>(fullWidth-uint(f.width)) == 0
}
