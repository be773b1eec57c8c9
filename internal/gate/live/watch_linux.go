package live

import (
	"errors"
	"net/netip"

	"github.com/cilium/ebpf"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// watch has all datagrams of users go to the gate.
func (x *XDP) watch(users []netip.Prefix) error {
	for _, user := range users {
		k := key(user)
		if err := x.maps.watched.Put(k[:], uint64(0)); err != nil {
			return fault.In("live", "watch %v: %w", user, err)
		}
	}
	return nil
}

// Watched returns all users that may be inside a chain of datagrams, and reports whether these
// are all. After Close it returns those that there were.
func (x *XDP) Watched() (users []netip.Prefix, all bool) {
	x.watching.Lock()
	defer x.watching.Unlock()
	if x.maps.watched != nil {
		return x.readWatched()
	}
	return x.left, x.leftAll
}

// unwatch closes the map of watched users, and keeps what it had.
func (x *XDP) unwatch() error {
	x.watching.Lock()
	defer x.watching.Unlock()
	if x.maps.watched == nil {
		return nil
	}
	x.left, x.leftAll = x.readWatched()
	err := x.maps.watched.Close()
	x.maps.watched = nil
	return err
}

func (x *XDP) readWatched() (users []netip.Prefix, all bool) {
	const batch = 1 << 12
	keys, values := make([][16]byte, batch), make([]uint64, batch)
	words := make([]byte, wordsBytes)
	var cursor ebpf.MapBatchCursor
	var err error
	for err == nil {
		var n int
		n, err = x.maps.watched.BatchLookup(&cursor, keys, values, nil)
		for _, k := range keys[:n] {
			users = append(users, x.user(k))
		}
	}
	if !errors.Is(err, ebpf.ErrKeyNotExist) || x.maps.words.Lookup(uint32(0), words) != nil { // which is the end
		return users, false
	}
	return users, words[heldAt] == 0
}

// user returns the user of a key.
func (x *XDP) user(k [16]byte) netip.Prefix {
	if a := netip.AddrFrom16(k); a.Is6() && !a.Is4In6() {
		return netip.PrefixFrom(a, x.prefix)
	}
	return netip.PrefixFrom(netip.AddrFrom16(k).Unmap(), 32)
}
