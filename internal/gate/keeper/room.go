package keeper

import (
	"container/heap"
	"errors"
	"net/netip"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/event"
)

const (
	// banBytes is the memory of a ban on the list: its entry of the map, itself, its user as
	// text in the state that is being saved, and when it ends.
	banBytes = 384

	// listShare is the part of the limit of memory that the list may take.
	listShare = 8
)

// reserve takes the part of the list off the limit of memory.
func (k *Keeper) reserve(g *gate.Config) {
	if g.Memory > 0 {
		share := g.Memory / listShare
		k.room = max(1, int(share/banBytes))
		g.Memory -= share
	}
}

// enough corrects an error about a limit that is too low: the gate did not get all of it.
func enough(err error, memory uint64) error {
	if low := (*gate.LimitError)(nil); errors.As(err, &low) {
		low.Memory, low.Enough = memory, low.Enough+(low.Enough-1)/(listShare-1)
	}
	return err
}

// makeRoom reports whether there is room for the ban of a user. It forgets past bans first,
// then ends the ban that would end first.
func (k *Keeper) makeRoom(user netip.Prefix) bool {
	if k.room == 0 || k.bans[user] != nil {
		return true
	}
	for p := range k.past {
		if len(k.bans)+len(k.past) < k.room {
			return true
		}
		if p != user {
			delete(k.past, p)
		}
	}
	for len(k.bans) >= k.room {
		if len(k.ends) == 0 {
			return false
		}
		next := heap.Pop(&k.ends).(ending)
		if b := k.bans[next.user]; b == nil || b.Until == nil || b.Until.UnixNano() != next.at {
			continue
		}
		now := k.config.Now().UTC()
		e := event.Event{Kind: event.Unban, Src: next.user.Addr(), Time: &now, Reason: "no memory for more bans"}
		if k.end(&e, next.user) != nil {
			return false
		}
		delete(k.past, next.user)
		k.crowded++
	}
	return true
}
