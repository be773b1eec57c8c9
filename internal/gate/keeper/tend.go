package keeper

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// Expire ends the bans whose time is over, and returns when the next one ends: the zero
// time if none does.
func (k *Keeper) Expire() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.config.Now().UTC()
	for len(k.ends) > 0 && k.ends[0].at <= now.UnixNano() {
		next := heap.Pop(&k.ends).(ending)
		b := k.bans[next.user]
		if b == nil || b.Until == nil || b.Until.UnixNano() != next.at {
			continue // it was ended, or made longer
		}
		e := event.Event{Kind: event.Unban, Src: next.user.Addr(), Time: &now, Reason: "its time is over"}
		if err := k.end(&e, next.user); err != nil {
			k.recordFailure(fmt.Errorf("unban %v: %w", next.user, err))
			late := now.Add(retryAfter)
			b.Until = &late
			heap.Push(&k.ends, ending{late.UnixNano(), next.user})
		}
	}
	k.prune(now)
	if len(k.ends) == 0 {
		return time.Time{}
	}
	return time.Unix(0, k.ends[0].at)
}

// retryAfter is when to try again to end a ban that could not be ended.
const retryAfter = time.Minute

// prune forgets past bans that no longer count, when there are twice as many as were left.
func (k *Keeper) prune(now time.Time) {
	if len(k.past) < k.pruneAt {
		return
	}
	for user, p := range k.past {
		if now.Sub(time.Unix(0, p.ended)) > cmp.Or(k.config.BanMax, forgetAfter) {
			delete(k.past, user)
		}
	}
	k.pruneAt = max(minPruned, 2*len(k.past))
}

// Relist replaces the lists by newer ones, which the caller does not change. What is on both
// stays as it is; a user that is no longer on the black list stays banned if it was banned
// besides. Exceptions from the black list end.
func (k *Keeper) Relist(black, white *packets.List) {
	k.mu.Lock()
	defer k.mu.Unlock()
	gone := func(before, now *packets.List, do func(netip.Prefix)) {
		before.Each(func(p netip.Prefix) {
			if !now.Has(p) {
				do(p)
			}
		})
	}
	gone(k.white, white, k.engine.Unallow)
	gone(k.black, black, func(p netip.Prefix) {
		if k.bans[p.Masked()] == nil {
			k.recordFailure(k.engine.Unlist(p))
		}
	})
	black.Each(k.engine.Blacklist)
	white.Each(k.engine.Whitelist)
	k.black, k.white = black, white
	for user := range k.excepted {
		k.engine.EndException(user.Addr())
	}
	clear(k.excepted)
}

// Tend saves the state every so often and, if expire says so, ends bans by the clock, until
// the context ends. It tells what goes wrong.
func (k *Keeper) Tend(ctx context.Context, every time.Duration, expire bool, tell func(error)) {
	save := time.NewTicker(every)
	defer save.Stop()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-save.C:
			if err := k.Save(ctx); err != nil && ctx.Err() == nil {
				tell(err)
			}
		case <-second.C:
			if expire {
				k.Expire()
			}
			if err := k.Failure(); err != nil {
				tell(err)
			}
		}
	}
}

// Failure returns the last error of enforcing or journaling since it was last asked for.
func (k *Keeper) Failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.failure
	k.failure = nil
	return err
}

// An ending is when a ban ends.
type ending struct {
	at   int64
	user netip.Prefix
}

// endings is a heap of them, the first one first.
type endings []ending

func (h endings) Len() int           { return len(h) }
func (h endings) Less(i, j int) bool { return h[i].at < h[j].at }
func (h endings) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *endings) Push(x any) { *h = append(*h, x.(ending)) }

// Pop implements heap.Interface.
func (h *endings) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
