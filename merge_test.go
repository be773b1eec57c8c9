package everbloom

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestMergesOfExactSetsAreExact would catch a verb or an operand taken for the
// other, which filters that err hide. A set that is merged with itself stays as it is,
// also where duplicates are counted.
func TestMergesOfExactSetsAreExact(t *testing.T) {
	for _, shards := range shardCounts {
		for verb, want := range map[string][2]int{"union": {0, 300}, "intersection": {100, 200}} {
			a, b := exactSet(shards), exactSet(shards)
			addWords(t, a, 0, 200)
			addWords(t, b, 100, 300)
			before := stored(t, b)
			merge := map[string]func(*Set) error{"union": a.Union, "intersection": a.Intersect}[verb]
			if err := merge(b); err != nil {
				t.Fatal(err)
			}
			wantWords(t, a, want[0], want[1])
			if n := a.Len(); n != uint64(want[1]-want[0]) || !bytes.Equal(stored(t, b), before) {
				t.Errorf("%s in %d shards: %d keys, or the other set has changed", verb, shards, n)
			}
		}
		counting, _ := exactSets(shards)
		addWords(t, counting, 0, 10)
		together(t, func() { // taking both locks would never end
			if err := errors.Join(counting.Union(counting), counting.Intersect(counting)); err != nil || counting.Len() != 10 {
				t.Errorf("%d keys after merging 10 with themselves: %v", counting.Len(), err)
			}
		})
	}
}

func TestUnequalSetsAreNotMerged(t *testing.T) {
	base := Needs{Kind: "bloom", Items: 1000, FPR: 0.01, Shards: 2}
	with := func(change func(*Needs)) Needs {
		n := base
		change(&n)
		return n
	}
	for _, c := range []struct {
		name  string
		needs Needs
		words []string
	}{
		{"hash", with(func(n *Needs) { n.Hash = filter.Murmur3(0) }), []string{"hash", "xxh3", "murmur3"}},
		{"seed", with(func(n *Needs) { n.Hash = filter.XXH3(9) }), []string{"hash", "xxh3", "xxh3:9"}},
		{"shards", with(func(n *Needs) { n.Shards = 3 }), []string{"shards", "2", "3"}},
		{"kind", with(func(n *Needs) { n.Kind = "blocked" }), []string{"bloom", "blocked"}},
		{"items", with(func(n *Needs) { n.Items = 1001 * 2 }), []string{"bits is"}},
		{"rate", with(func(n *Needs) { n.FPR = 0.02 }), []string{"bits is"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := filled(t, base, 0, 100), filled(t, c.needs, 100, 200)
			wantRefusal(t, a, b, c.words...)
			wantRefusal(t, b, a, c.words...)
		})
	}
	t.Run("salt", func(t *testing.T) {
		a, b := salted(t, 1), salted(t, 2)
		wantRefusal(t, a, b, "salt", "1", "2")
	})
}

func salted(t *testing.T, salt uint64) *Set {
	t.Helper()
	f, err := bloom.New(bloom.Config{Items: 100, Salt: salt})
	if err != nil {
		t.Fatal(err)
	}
	return NewSet(f, filter.Hash{})
}

// wantRefusal checks that both verbs say what differs and change nothing.
func wantRefusal(t *testing.T, a, b *Set, words ...string) {
	t.Helper()
	sets := [][]byte{stored(t, a), stored(t, b)}
	wantError(t, a.Union(b), filter.ErrIncompatible, words...)
	wantError(t, a.Intersect(b), filter.ErrIncompatible, words...)
	if !bytes.Equal(stored(t, a), sets[0]) || !bytes.Equal(stored(t, b), sets[1]) {
		t.Error("a refused merge changed a set")
	}
}

func TestSecretsAreNotInTheText(t *testing.T) {
	other := secret
	other[0] ^= 1
	needs := Needs{Items: 100, Hash: filter.SipHash(secret)}
	a := mustNew(t, needs)
	for _, hash := range []filter.Hash{filter.SipHash(other), filter.NewSipHash(), {}} {
		needs.Hash = hash
		err := a.Union(mustNew(t, needs))
		wantError(t, err, filter.ErrIncompatible, "hash", "siphash")
		wantNoSecret(t, err.Error())
	}
	wantNoSecret(t, fmt.Sprintf("%v %+v %#v", a.Info(), a.Info(), a.Info()))
	wantNoSecret(t, fmt.Sprintf("%v %+v %#v %s", needs, needs, needs, a.Hash()))
}

// wantNoSecret looks for the secret as letters, as digits and as the numbers
// that it is kept in.
func wantNoSecret(t *testing.T, text string) {
	t.Helper()
	digits := hex.EncodeToString(secret[:])
	for _, part := range []string{"SECRET", digits[4:12], strings.ToUpper(digits[4:12]), "79 80 45 83"} {
		if strings.Contains(text, part) {
			t.Errorf("%q shows the secret", text)
		}
	}
}

// TestKindsThatCannotMergeSaySo includes the set with itself, where taking both
// locks would never end.
func TestKindsThatCannotMergeSaySo(t *testing.T) {
	a := NewSet(plain{filtertest.NewExact(filtertest.ExactConfig{})}, filter.Hash{})
	b := NewSet(plain{filtertest.NewExact(filtertest.ExactConfig{})}, filter.Hash{})
	for _, other := range []*Set{a, b} {
		together(t, func() {
			for _, err := range []error{a.Union(other), a.Intersect(other)} {
				if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "cannot merge") {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

// TestLocksAreTakenInOneOrder holds the lock that must be taken first, and looks
// whether a merge that waits for it has got hold of the second.
func TestLocksAreTakenInOneOrder(t *testing.T) {
	needs := Needs{Kind: "counting", Items: 10}
	first, second := mustNew(t, needs), mustNew(t, needs)
	for _, merge := range []func() error{
		func() error { return first.Union(second) },
		func() error { return second.Union(first) },
	} {
		started := make(chan struct{})
		first.shards[0].lock()
		together(t, func() {
			close(started)
			if err := merge(); err != nil {
				t.Error(err)
			}
		}, func() {
			defer first.shards[0].unlock()
			<-started
			for range 10_000 {
				runtime.Gosched()
				if !second.shards[0].mu.TryLock() {
					t.Error("the second lock was taken before the first")
					return
				}
				second.shards[0].unlock()
			}
		})
	}
}

// TestMergesInACircleDoNotBlock lets writers wait between the two locks that a
// merge takes.
func TestMergesInACircleDoNotBlock(t *testing.T) {
	for _, needs := range []Needs{
		{Kind: "counting", Items: 1000},
		{Kind: "counting", Items: 1000, Shards: 3},
		{Kind: "bloom", Items: 1000, Shards: 3},
		{Kind: "dleft", Items: 10_000, Shards: 7},
	} {
		sets := []*Set{mustNew(t, needs), mustNew(t, needs), mustNew(t, needs)}
		var tasks []func()
		for i, s := range sets {
			next, before := sets[(i+1)%3], sets[(i+2)%3]
			tasks = append(tasks,
				repeat(t, func() error { return s.Union(next) }),
				repeat(t, func() error { return s.Union(before) }),
				func() { addWords(t, s, 100*i, 100*i+100) },
			)
		}
		together(t, tasks...)
		for i, s := range sets {
			wantWords(t, s, 100*i, 100*i+100)
		}
	}
}

// TestUnionWithoutRoomChangesNothing fills the shards unevenly, so that some would
// have had room.
func TestUnionWithoutRoomChangesNothing(t *testing.T) {
	for _, shards := range shardCounts {
		needs := Needs{Items: 2000, FPR: 0.01, Kind: "dleft", Shards: shards}
		a, b := filled(t, needs, 0, 2000), mustNew(t, needs)
		crowded := filtertest.Keys(1, 100_000)
		last := &b.shards[len(b.shards)-1]
		for _, k := range crowded {
			if b.shards.of(k) == last {
				if _, err := b.AddKey(k); err != nil {
					break
				}
			}
		}
		before := stored(t, a)
		wantError(t, a.Union(b), filter.ErrFull)
		if !bytes.Equal(stored(t, a), before) {
			t.Errorf("%d shards: a union that failed changed the set", shards)
		}
	}
}

func TestErrorsNameTheShard(t *testing.T) {
	for shards, want := range map[int]bool{1: false, 2: true} {
		s := mustNew(t, Needs{Items: 100, Kind: "blocked", Shards: shards})
		if err := s.Grow(); err == nil || strings.Contains(err.Error(), "shard 0 of 2") != want {
			t.Errorf("%d shards: %v", shards, err)
		}
	}
}
