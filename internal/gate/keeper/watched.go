package keeper

import (
	"encoding/binary"
	"math"
	"net/netip"
)

// A Watcher is an Enforcer that does not pass all packets on. It returns the users that may be
// inside a chain, and reports whether these are all.
type Watcher interface {
	Watched() (users []netip.Prefix, all bool)
}

// notKnown stands for the number of users that are watched.
const notKnown = math.MaxUint32

func appendWatched(to []byte, w Watcher) []byte {
	if w == nil {
		return binary.LittleEndian.AppendUint32(to, notKnown)
	}
	users, all := w.Watched()
	if !all {
		return binary.LittleEndian.AppendUint32(to, notKnown)
	}
	to = binary.LittleEndian.AppendUint32(to, uint32(len(users)))
	for _, u := range users {
		to = appendText(to, u.String())
	}
	return to
}

// restoreWatched takes in the users that may be inside a chain, which matter if there is one.
func (k *Keeper) restoreWatched(d *decoder) {
	n := uint32(notKnown)
	if d.err == nil && len(d.rest) > 0 {
		n = d.count()
	}
	if k.unknown = n == notKnown && k.engine.Flows() > 0; n == notKnown {
		return
	}
	for ; n > 0 && d.err == nil; n-- {
		k.watched = append(k.watched, d.user())
	}
}

// Watched returns the users that may be inside a chain since before the gate was started, and
// reports whether these are all.
func (k *Keeper) Watched() (users []netip.Prefix, all bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.watched, !k.unknown
}
