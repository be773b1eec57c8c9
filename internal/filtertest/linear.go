package filtertest

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// An event is one call that was made for one key, from when to when, and what it
// answered. Keys do not influence each other's answers, so that a history can be
// looked at key by key.
type event struct {
	call       string // add, delete, contains, may or clear
	positive   bool   // new, deleted, there
	begin, end int64
}

// after returns whether the key is in the set after the event, and whether the
// answer is right, if it was or was not there before. MayContain is always right
// if it finds the key.
func (e event) after(there bool) (now, right bool) {
	switch e.call {
	case "add":
		return true, e.positive == !there
	case "delete":
		return false, e.positive == there
	case "contains":
		return there, e.positive == there
	case "clear":
		return false, e.positive
	}
	return there, e.positive || !there
}

// linearizable reports whether the events can be put into an order that respects
// which ended before which began, and in which every answer is right. It tries all
// orders, and remembers from which sets of events with which outcome there is no
// way on. At most 64 events.
func linearizable(events []event, there bool) bool {
	type node struct {
		done  uint64
		there bool
	}
	dead := make(map[node]bool)
	all := uint64(1)<<len(events) - 1
	var walk func(n node) bool
	walk = func(n node) bool {
		if n.done == all {
			return true
		}
		if dead[n] {
			return false
		}
		for i, e := range events {
			if n.done>>i&1 != 0 || !first(events, n.done, e) {
				continue
			}
			if now, right := e.after(n.there); right && walk(node{n.done | 1<<i, now}) {
				return true
			}
		}
		dead[n] = true
		return false
	}
	return walk(node{0, there})
}

// first reports whether no event that is not done ended before e began.
func first(events []event, done uint64, e event) bool {
	for i, other := range events {
		if done>>i&1 == 0 && other.end < e.begin {
			return false
		}
	}
	return true
}

// Shared is a filter whose answers, but for those of MayContain, are exact, and which
// goroutines can share.
type Shared interface {
	filter.Deleter
	filter.Clearer
	Contains(k filter.Key) bool
}

// Histories records so many histories of calls of the given names (add, delete, contains,
// may, clear) and checks that each is linearizable. The filter is empty at first, and
// others must leave its keys alone.
func Histories(t *testing.T, f Shared, histories int, names ...string) {
	t.Helper()
	for seed := range uint64(histories) {
		for k, events := range recordHistory(f, seed, names...) {
			if !linearizable(events, false) {
				t.Fatalf("seed %d, key %#x: no order explains %v", seed, k, events)
			}
		}
	}
}

// recordHistory has four goroutines make calls of the given names for two keys and returns
// the history of each. The keys are not in the set before and after.
func recordHistory(f Shared, seed uint64, names ...string) map[filter.Key][]event {
	const goroutines, calls = 4, 6
	keys := [2]filter.Key{filter.Key(seed)<<32 | 1, filter.Key(seed)<<32 | 2}
	var clock atomic.Int64
	var group sync.WaitGroup
	parts := make([]map[filter.Key][]event, goroutines)
	for g := range parts {
		parts[g] = make(map[filter.Key][]event)
		rng := rand.New(rand.NewPCG(seed, uint64(g)))
		group.Go(func() {
			for range calls {
				k := keys[rng.IntN(len(keys))]
				e := event{call: names[rng.IntN(len(names))], begin: clock.Add(1)}
				e.positive = perform(f, e.call, k)
				e.end = clock.Add(1)
				parts[g][k] = append(parts[g][k], e)
				if e.call == "clear" { // which is about both
					other := keys[0] + keys[1] - k
					parts[g][other] = append(parts[g][other], e)
				}
			}
		})
	}
	group.Wait()
	all := make(map[filter.Key][]event)
	for _, part := range parts {
		for k, events := range part {
			all[k] = append(all[k], events...)
		}
	}
	for _, k := range keys {
		_ = f.Delete(k) // it may be gone
	}
	return all
}

func perform(f Shared, call string, k filter.Key) bool {
	switch call {
	case "add":
		added, err := f.Add(k)
		return added && err == nil
	case "delete":
		return !errors.Is(f.Delete(k), filter.ErrNotFound)
	case "contains":
		return f.Contains(k)
	case "clear":
		return f.Clear() == nil
	}
	return f.MayContain(k)
}
