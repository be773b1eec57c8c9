package gate

import (
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

// statesOf returns a table for gates of three strikes.
func statesOf(t *testing.T, bytes uint64, window int64) *states {
	t.Helper()
	s, err := newStates(bytes, 3, window)
	if err != nil {
		t.Fatal(err)
	}
	s.fixed = true
	return s
}

// TestStatesAreWhatAMapWouldHold changes a table at random, and a map beside it.
func TestStatesAreWhatAMapWouldHold(t *testing.T) {
	effort.OneGoroutine(t)
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := statesOf(t, 64*(1+r.Uint64N(40)), 0)
		want := map[filter.Key]cell{}
		keys := make([]filter.Key, 2*s.room()/3+1)
		for i := range keys {
			keys[i] = filter.Key(r.Uint64())
		}
		for range 5000 {
			k := keys[r.IntN(len(keys))]
			c := newCell(r.Uint32N(3), r.IntN(3))
			p := s.find(k)
			if p == nowhere && c != 0 {
				s.insert(k, c, 0)
			} else if p != nowhere {
				s.set(p, c.node(), c.strikes())
			}
			if want[k] = c; c == 0 {
				delete(want, k)
			}
		}
		if s.count != len(want) || s.evicted != 0 {
			t.Fatalf("seed %d: %d users, %d evicted, want %d and none", seed, s.count, s.evicted, len(want))
		}
		for _, k := range keys {
			got := cell(0)
			if p := s.find(k); p != nowhere {
				got = s.cell(p)
			}
			if got != want[k] {
				t.Fatalf("seed %d: key %x has %x, want %x", seed, k, got, want[k])
			}
		}
		checkPassed(t, s)
	}
}

// checkPassed counts anew what the buckets say about keys that had to pass them.
func checkPassed(t *testing.T, s *states) {
	t.Helper()
	passed, homes := make([]uint32, len(s.buckets)), make([]uint8, len(s.buckets))
	for b := range s.buckets {
		for i, c := range s.buckets[b].cells {
			if c == 0 {
				continue
			}
			homes[s.home(s.buckets[b].keys[i])]++
			for at := s.home(s.buckets[b].keys[i]); at != b; at = s.after(at) {
				passed[at]++
			}
		}
	}
	for b := range s.buckets {
		if s.homes[b] != homes[b] {
			t.Fatalf("bucket %d is the home of %d, says %d", b, homes[b], s.homes[b])
		}
		if s.buckets[b].passed != passed[b] {
			t.Fatalf("bucket %d was passed by %d, says %d", b, passed[b], s.buckets[b].passed)
		}
	}
}

// TestFullTablesGiveUpChainsBeforeStrikes fills a table beyond its room.
func TestFullTablesGiveUpChainsBeforeStrikes(t *testing.T) {
	effort.OneGoroutine(t)
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	s := statesOf(t, 20*bucketBytes+homesSlack, 0) // 100 users
	var struck []filter.Key
	for range 60 {
		k := filter.Key(r.Uint64())
		if s.strike(k, s.find(k), 0, 0, origin(r), 0) == nowhere {
			t.Fatal("no room for a strike")
		}
		struck = append(struck, k)
	}
	for range 1000 {
		if s.insert(filter.Key(r.Uint64()), newCell(1, 0), origin(r)) == nowhere {
			t.Fatal("no room for a chain while other chains can go")
		}
	}
	for range 40 {
		k := filter.Key(r.Uint64())
		if s.strike(k, nowhere, 0, 0, origin(r), 0) == nowhere {
			t.Fatal("no room for a strike while chains can go")
		}
		struck = append(struck, k)
	}
	if s.insert(filter.Key(r.Uint64()), newCell(1, 0), origin(r)) != nowhere {
		t.Error("a strike was given up for a chain")
	}
	for _, k := range struck {
		if p := s.find(k); p == nowhere || s.cell(p).strikes() != 1 {
			t.Fatalf("seed %d: a strike is lost", seed)
		}
	}
	checkPassed(t, s)
}

// origin returns one of many: none has its share.
func origin(r *rand.Rand) tag { return tag(r.Uint32N(origins)) }

// TestOneOriginHasItsShareOnly floods a table of fixed size with strikes of one origin:
// those of others stay, and new ones find room.
func TestOneOriginHasItsShareOnly(t *testing.T) {
	effort.OneGoroutine(t)
	const seed, flooder = 5, 7
	r := rand.New(rand.NewPCG(seed, 0))
	s := statesOf(t, 1000*bucketBytes+homesSlack, 0)
	strike := func(k filter.Key, from tag) bool { return s.strike(k, s.find(k), 0, 0, from, 0) != nowhere }
	var before []filter.Key
	for range s.room() / 20 {
		before = append(before, filter.Key(r.Uint64()))
		strike(before[len(before)-1], tag(r.Uint32N(origins-8)+8))
	}
	for range 20 * s.room() {
		strike(filter.Key(r.Uint64()), flooder)
	}
	for _, k := range before {
		if s.find(k) == nowhere {
			t.Fatal("a strike was given up for the flood")
		}
	}
	for range s.room() / 20 {
		if k := filter.Key(r.Uint64()); !strike(k, tag(r.Uint32N(origins-8)+8)) || s.find(k) == nowhere {
			t.Fatal("no room for a strike after the flood")
		}
	}
	checkPassed(t, s)
	count := uint32(0)
	for _, n := range s.origins {
		count += n
	}
	if int(count) != s.count {
		t.Errorf("%d entries by origin, %d in all", count, s.count)
	}
}

// TestTablesGrowAndForgetIdleFlowsOnly puts in ten times what there is room for.
func TestTablesGrowAndForgetIdleFlowsOnly(t *testing.T) {
	effort.OneGoroutine(t)
	const seed = 6
	r := rand.New(rand.NewPCG(seed, 0))
	s := statesOf(t, 1000, 100)
	s.fixed = false
	want := map[filter.Key]cell{}
	for i := range 10 * s.room() {
		k, c := filter.Key(r.Uint64()), newCell(1+r.Uint32N(9), r.IntN(2))
		p := s.insert(k, c, origin(r))
		if want[k] = c; c.strikes() > 0 {
			s.timesOf(p)[0] = int64(i)
		}
	}
	for k, c := range want {
		if p := s.find(k); p == nowhere || s.cell(p) != c {
			t.Fatalf("key %x has lost its state", k)
		}
	}
	checkPassed(t, s)
	room := s.room()
	for range 100 * room {
		s.insert(filter.Key(r.Uint64()), newCell(1, 0), origin(r)|flowTag)
	}
	if s.room() > 8*room {
		t.Errorf("flows that ended took the table from %d to %d", room, s.room())
	}
	for k := range want {
		if s.find(k) == nowhere {
			t.Fatal("a user was given up for flows")
		}
	}
	if s.evicted+s.struck != 0 {
		t.Errorf("%d chains, %d strikes given up", s.evicted, s.struck)
	}
}

func TestKeysetIsWhatAMapWouldHold(t *testing.T) {
	effort.OneGoroutine(t)
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		s, err := newKeyset(1 + r.Uint64N(100))
		if err != nil {
			t.Fatal(err)
		}
		want := map[filter.Key]bool{}
		for range 3000 {
			k := filter.Key(r.Uint64N(200)) * 0x0123456789ABCDEF // 0 is among them
			if r.IntN(2) == 0 {
				if room := len(want) < s.most || want[k]; s.add(k) != room {
					t.Fatalf("seed %d: add with %d of %d keys: %t", seed, len(want), s.most, !room)
				} else if room {
					want[k] = true
				}
			} else {
				s.remove(k)
				delete(want, k)
			}
			if s.count != len(want) || s.Contains(k) != want[k] {
				t.Fatalf("seed %d: %d keys, want %d", seed, s.count, len(want))
			}
		}
		for k := range want {
			if !s.Contains(k) {
				t.Fatalf("seed %d: key %x is lost", seed, k)
			}
		}
	}
	var zero keyset
	if zero.Contains(0) {
		t.Error("an empty set has something")
	}
}

// TestIdleFlowsStayWhereThereIsRoom has chains that wait while many others begin and end.
func TestIdleFlowsStayWhereThereIsRoom(t *testing.T) {
	const waiting = 50
	s, err := newStates(1000*bucketSpace(0)/bucketUsers, 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	key := func(i int) filter.Key { return filter.XXH3(1).Bytes([]byte{byte(i), byte(i >> 8)}) }
	for i := range waiting + 2000 {
		p := s.insert(key(i), newCell(1, 0), flowTag)
		if i >= waiting {
			s.remove(p)
		}
	}
	for i := range waiting {
		if s.find(key(i)) == nowhere {
			t.Errorf("flow %d made room, and there are %d of %d", i, s.count, s.room())
		}
	}
}
