package keeper

import (
	"net/netip"
	"time"

	"github.com/everbloom-go/everbloom/internal/fault"
	"github.com/everbloom-go/everbloom/internal/gate/event"
)

// Ban bans the user of an address for some time; 0 means for ever, below 0 what is usual.
// It refuses an address on the white list, where a ban would do nothing.
func (k *Keeper) Ban(src netip.Addr, lasts time.Duration, reason string) (Ban, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.config.Now().UTC()
	src = src.Unmap().WithZone("")
	if k.engine.Allows(src) {
		return Ban{}, fault.In("keeper", "ban %v: it is on the white list, which comes first", src)
	}
	user := k.engine.User(src)
	if lasts < 0 {
		lasts = k.lasting(user, now.UnixNano())
	}
	k.engine.Ban(src)
	e := event.Event{Kind: event.Ban, Src: src, Time: &now, Reason: reason}
	b := k.add(&e, lasts, reason)
	k.tell(&e)
	return *b, nil
}

// Unban ends the ban of the user of an address. For one on the black list it makes an
// exception until the list is read again.
func (k *Keeper) Unban(src netip.Addr, reason string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.config.Now().UTC()
	src = src.Unmap().WithZone("")
	user := k.engine.User(src)
	if err := k.engine.Unban(src); err != nil {
		return err
	}
	if k.black.Has(user) || k.engine.Lists(src) {
		k.excepted[user] = true
		if k.config.Enforcer != nil {
			k.recordFailure(k.config.Enforcer.Except(user))
		}
	}
	k.forget(&event.Event{Kind: event.Unban, Src: src, Time: &now, Reason: reason}, user)
	return nil
}
