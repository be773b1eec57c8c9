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
		got, err := fill(s, addOne, keyspace{n: 1001, size: 8}, newOrder(1001, 1), windows, timing.Wall)
		if err != nil || got.keys != 1001 || len(seen) != 1001 {
			t.Errorf("%d threads: %d keys given, %d different, error %v", threads, got.keys, len(seen), err)
		}
	}
}

func TestFinishIsTimed(t *testing.T) {
	now := time.Duration(0)
	s := set{
		add:    func(b block) int { return b.len() },
		finish: func() error { now += time.Second; return nil },
	}
	got, err := fill(s, addOne, keyspace{n: 10, size: 8}, newOrder(10, 1), []block{newBlock(10, 8)}, func() time.Duration { return now })
	if err != nil || got.elapsed != time.Second {
		t.Errorf("elapsed %v, error %v", got.elapsed, err)
	}
}

func TestLookupsLastAsLongAsAPass(t *testing.T) {
	asked := 0
	s := set{has: func(b block) int { asked += b.len(); return b.len() }}
	b := newBlock(2*chunk+100, 8)
	got := lookups(s, hasOne, b, 0, 1, 7*time.Microsecond, ticking())
	if got.elapsed != 7*time.Microsecond || got.keys != asked || got.yes != asked {
		t.Errorf("elapsed %v, %d keys of %d, %d yes", got.elapsed, got.keys, asked, got.yes)
	}
	// Seven steps through a buffer of three: two rounds and one more chunk.
	if want := 2*b.len() + chunk; asked != want {
		t.Errorf("asked %d keys, want %d", asked, want)
	}
}

func TestEveryThreadTakesItsOwnWay(t *testing.T) {
	ways, lock := 0, sync.Mutex{}
	way := func(set) func(block) int {
		lock.Lock()
		defer lock.Unlock()
		ways++
		return func(b block) int { return b.len() }
	}
	lookups(set{}, way, newBlock(100, 8), 0, 3, time.Microsecond, timing.Wall)
	if ways != 3 {
		t.Errorf("3 threads took %d ways", ways)
	}
}
