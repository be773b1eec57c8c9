package traffic

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

func generator(t *testing.T, c Config) *Generator {
	t.Helper()
	g, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// all returns the packets as text.
func all(t *testing.T, g *Generator) (list []string) {
	t.Helper()
	for p := (packets.Packet{}); g.Read(&p) == nil; {
		list = append(list, fmt.Sprint(p.Number, p.Src, p.Words, p.At))
	}
	if err := g.Read(&packets.Packet{}); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return list
}

func TestASeedGivesTheSameTraffic(t *testing.T) {
	c := Config{Seed: 5, Packets: 5000, Users: 100}
	a, b := generator(t, c), generator(t, c)
	if !slices.Equal(all(t, a), all(t, b)) || !slices.Equal(a.Blacklist(), b.Blacklist()) {
		t.Error("one seed, two kinds of traffic")
	}
	c.Seed = 6
	if other := generator(t, c); slices.Equal(all(t, generator(t, Config{Seed: 5, Packets: 50})), all(t, other)[:50]) || slices.Equal(a.Blacklist(), other.Blacklist()) {
		t.Error("two seeds, the same traffic")
	}
}

// TestTrafficNeverChanges pins the first packets of a seed, so that reports that name a
// seed can be repeated.
func TestTrafficNeverChanges(t *testing.T) {
	got := strings.Join(all(t, generator(t, Config{Seed: 1, Packets: 3, Users: 10})), "; ")
	const want = "1 237.129.222.211 [3170682662] 1000; 2 35.22.163.41 [3309346461] 2000; 3 153.123.123.114 [2746552256] 3000"
	if got != want {
		t.Errorf("%s, must stay %s", got, want)
	}
}

func TestTrafficIsAsAskedFor(t *testing.T) {
	const n = 50_000
	c := Config{Seed: 3, Packets: n, Users: 1000, Evil: 0.2, Blacklisted: 300, Patterns: 20}
	g := generator(t, c)
	listed := map[netip.Addr]bool{}
	for _, p := range g.Blacklist() {
		listed[p.Addr()] = true
	}
	users := map[netip.Addr]bool{}
	for i := range c.Users {
		users[g.User(i)] = true
	}
	if len(listed) != 300 || len(users) != 1000 || g.Evil() != 200 {
		t.Fatalf("%d listed, %d users, %d evil", len(listed), len(users), g.Evil())
	}
	begins := map[uint32]bool{}
	for _, p := range g.Patterns() {
		begins[p.Words[0]] = len(p.Words) > 1
	}
	var fromListed, beginning int
	evil := map[netip.Addr]bool{}
	for i := range g.Evil() {
		evil[g.User(i)] = true
	}
	var p packets.Packet
	for g.Read(&p) == nil {
		switch {
		case listed[p.Src]:
			fromListed++
		case !users[p.Src]:
			t.Fatalf("packet %d has no sender", p.Number)
		case !evil[p.Src] && begins[p.Words[0]]:
			beginning++
		}
	}
	// Six times the binomial spread.
	if fromListed < n/20-300 || fromListed > n/20+300 {
		t.Errorf("%d packets of the black list, want about %d", fromListed, n/20)
	}
	if beginning < 200 || beginning > 420 {
		t.Errorf("%d packets of honest users begin a pattern", beginning)
	}
}

// TestEvilUsersCompletePatterns follows the users with an automaton each.
func TestEvilUsersCompletePatterns(t *testing.T) {
	g := generator(t, Config{Seed: 9, Packets: 100_000, Users: 1000, Skew: 1.2})
	a, err := pattern.Compile(g.Patterns())
	if err != nil {
		t.Fatal(err)
	}
	at, done := map[netip.Addr]uint32{}, map[netip.Addr]int{}
	var p packets.Packet
	for g.Read(&p) == nil {
		node := a.Next(at[p.Src], p.Words[0])
		if a.Match(node) >= 0 {
			node = 0
			done[p.Src]++
		}
		at[p.Src] = node
	}
	evil := 0
	for i := range g.Evil() {
		if done[g.User(i)] >= 3 {
			evil++
		}
	}
	if evil < 20 {
		t.Errorf("%d evil users of 100 completed three patterns", evil)
	}
	for i := g.Evil(); i < 1000; i++ {
		if n := done[g.User(i)]; n >= 3 {
			t.Errorf("an honest user completed %d patterns", n)
		}
	}
}

func TestGivenAddressesAreTaken(t *testing.T) {
	given := []netip.Addr{netip.MustParseAddr("1.1.1.1"), netip.MustParseAddr("::2"), netip.MustParseAddr("::ffff:3.3.3.3")}
	g := generator(t, Config{Users: 2, Blacklisted: 2, Addresses: given})
	if got := fmt.Sprint(g.User(0), g.User(1), g.Blacklist()[0]); got != "1.1.1.1 ::2 3.3.3.3/32" {
		t.Errorf("got %s", got)
	}
}

func TestConfigReportsAllProblems(t *testing.T) {
	_, err := New(Config{Users: -1, Evil: 2, Patterns: -5, Skew: 0.5})
	for _, want := range []string{"Users, Blacklisted: -1", "Evil: 2", "Patterns: -5", "Skew: 0.5"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	g := generator(t, Config{Evil: -1, Blacklisted: -1, Packets: 1000})
	if g.Evil() != 0 || len(g.Blacklist()) != 0 {
		t.Error("negative shares do not mean none")
	}
}
