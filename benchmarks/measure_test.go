package main

import (
	"sync"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/timing"
)

// ticking returns a clock that advances by one microsecond with every look at it.
func ticking() timing.Clock {
	var now time.Duration
	return func() time.Duration { now += time.Microsecond; return now }
}

func TestTallyCountsOnlyTheWork(t *testing.T) {
	keys := keyspace{n: 1000, size: 8}
	got := walk(func(b block) int { return b.len() }, keys, newOrder(1000, 1), 1000, newBlock(300, 8), ticking())
	// Four windows, each timed by two looks at the clock.
	if got.keys != 1000 || got.yes != 1000 || got.elapsed != 4*time.Microsecond {
		t.Errorf("%d keys, %d yes, %v", got.keys, got.yes, got.elapsed)
	}
	if got.perKey() != 4 {
		t.Errorf("%g ns per key, want 4", got.perKey())
	}
}

func TestFillGivesEveryKeyOnceToOneOfTheThreads(t *testing.T) {
	for _, threads := range []int{1, 2, 3} {
		seen, lock := map[string]int{}, sync.Mutex{}
		s := set{add: func(b block) int {
			lock.Lock()
			defer lock.Unlock()
			return addAll(b, func(k []byte) { seen[string(k)]++ })
		}}
		windows := make([]block, threads)
		for i := range windows {
			windows[i] = newBlock(64, 8)
		}
		got, err := fill(s, addOne, keyspace{n: 1001, size: 8}, newOrder(1001, 1), windows)
		if err != nil || got.keys != 1001 || len(seen) != 1001 {
			t.Errorf("%d threads: %d keys given, %d different, error %v", threads, got.keys, len(seen), err)
		}
	}
}
