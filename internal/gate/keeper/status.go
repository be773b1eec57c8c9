package keeper

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/everbloom-go/everbloom/gate"
)

// Status is what a Keeper tells about itself.
type Status struct {
	Started  time.Time  `json:"started"`
	Bans     int        `json:"bans"`     // in force
	Events   uint64     `json:"events"`   // so far, over restarts
	Missed   uint64     `json:"missed"`   // events that listeners were too slow for
	Failures uint64     `json:"failures"` // bans that could not be enforced or written
	Crowded  uint64     `json:"crowded"`  // bans that ended early, or are not on the list, for want of memory
	Bytes    uint64     `json:"bytes"`    // of the list of bans, about; with --memory at most an eighth of it
	Gate     gate.Stats `json:"gate"`
}

// Status returns the present one.
func (k *Keeper) Status() Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	return Status{
		k.started, len(k.bans), k.seq, k.missed, k.failed, k.crowded,
		uint64(len(k.bans)+len(k.past)) * banBytes, k.engine.Stats(),
	}
}

// Crowded returns how many bans ended early, or are not on the list, for want of memory.
func (k *Keeper) Crowded() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.crowded
}

// Query returns what is known about an address, and the ban of its user, if there is one.
func (k *Keeper) Query(src netip.Addr) (gate.Answer, *Ban) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.engine.Query(src)
	if b := k.bans[k.engine.User(src)]; b != nil {
		one := *b
		return a, &one
	}
	return a, nil
}

// Bans returns all bans, in the order in which they came.
func (k *Keeper) Bans() []Ban {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []Ban
	for _, b := range k.bans {
		all = append(all, *b)
	}
	slices.SortFunc(all, inOrder)
	return all
}

// Newest returns the last n bans, in the order in which they came. Unlike Bans it copies and
// sorts no others.
func (k *Keeper) Newest(n int) []Ban {
	k.mu.Lock()
	defer k.mu.Unlock()
	var last []Ban
	for _, b := range k.bans {
		if len(last) == n && (n == 0 || inOrder(*b, last[0]) < 0) {
			continue
		}
		at, _ := slices.BinarySearchFunc(last, *b, inOrder)
		last = slices.Insert(last, at, *b)
		last = last[max(len(last)-n, 0):]
	}
	return last
}

// inOrder compares bans by when they came.
func inOrder(a, b Ban) int {
	return cmp.Or(a.Since.Compare(b.Since), a.User.Addr().Compare(b.User.Addr()))
}

// Engine calls do with the engine, which nothing else uses meanwhile.
func (k *Keeper) Engine(do func(*gate.Engine)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	do(k.engine)
}
