package gate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

// heavyKinds are the kinds for tests that take long: all, but in variants, which have
// nothing to find in one goroutine, two.
func heavyKinds() []string {
	return effort.PickVariant([]string{"evergreen", "dleft"}, Kinds(), Kinds())
}

// flood sends packets of so many users, of which a third is evil, and returns the
// banned ones.
func flood(e *Engine, seed uint64, users uint32, packets int, each func()) map[uint32]bool {
	r := rand.New(rand.NewPCG(seed, 0))
	banned := map[uint32]bool{}
	for i := range packets {
		u := r.Uint32N(users)
		word := uint32('q')
		if u%3 == 0 {
			word = uint32("xxaby"[r.IntN(5)])
		}
		if e.Step(source(u), word, int64(i)).Action == Ban {
			banned[u] = true
		}
		if i%1999 == 0 {
			each()
		}
	}
	return banned
}

// TestLimitIsNeverExceededAndNoBanForgotten sends gates of every kind ten times the
// users they were made for.
func TestLimitIsNeverExceededAndNoBanForgotten(t *testing.T) {
	effort.OneGoroutine(t)
	const seed = 11
	packets := effort.PickVariant(15_000, 25_000, 60_000)
	for _, kind := range heavyKinds() {
		small := max(25_000, map[string]uint64{"evergreen": 250_000, "elastic": 2_500_000}[kind])
		for i, c := range []Config{
			{Users: 500, Banned: 150, Memory: small},
			{Users: 500, Banned: 150, Memory: small, Window: time.Second, Confirm: ConfirmAlways},
			{Users: 1000, Banned: 150, Memory: 2 * small},
		} {
			c.Kind = kind
			e := gate(t, c)
			name := fmt.Sprintf("%s, seed %d, %d bytes", kind, seed, e.Limit())
			banned := flood(e, seed, 5000, packets, func() {
				if got := e.Bytes(); got > e.Limit() {
					t.Fatalf("%s: %d bytes in use", name, got)
				}
			})
			forgotten := uint64(0)
			for u := range banned {
				if v := e.Step(source(u), 'q', 1<<40); v.Action != Reject {
					forgotten++
				}
			}
			if forgotten > e.Lost().Bans {
				t.Fatalf("%s: %d bans are forgotten, lost %+v", name, forgotten, e.Lost())
			}
			if len(banned) < 5 || i == 0 && !e.Lost().Any() {
				t.Errorf("%s: %d bans, lost %+v: the limit was not felt", name, len(banned), e.Lost())
			}
		}
	}
}

// TestBansBeyondTheLimitRejectNoHonestSource bans four times what was expected, within 4 MiB
// and with sets that have nothing to spare.
func TestBansBeyondTheLimitRejectNoHonestSource(t *testing.T) {
	effort.OneGoroutine(t)
	for _, c := range []struct {
		config Config
		bans   uint32
		lost   bool
	}{
		{Config{Users: 100_000, Memory: 4 << 20}, 100_000, false},
		{Config{Users: 500, Banned: 150, Memory: 250_000}, 50_000, true},
	} {
		e := gate(t, c.config)
		for i := range c.bans {
			e.Ban(source(i))
		}
		if l := e.Lost(); l.Overflow == 0 || (l.Bans > 0) != c.lost || e.Bytes() > e.Limit() {
			t.Errorf("%d bans: %d bytes, lost %+v", c.bans, e.Bytes(), l)
		}
		rejected := uint64(0)
		for i := range c.bans {
			if !e.Step(source(i), 'q', 0).Passed() {
				rejected++
			}
			if v := e.Step(source(1<<24+i), 'q', 0); !v.Passed() {
				t.Fatalf("an honest source: %+v", v)
			}
		}
		if rejected != uint64(c.bans)-e.Lost().Bans {
			t.Errorf("%d of %d bans hold, lost %+v", rejected, c.bans, e.Lost())
		}
		last := source(c.bans - 1)
		if err := e.Unban(last); err != nil || !e.Step(last, 'q', 0).Passed() {
			t.Errorf("the last ban: %v", err)
		}
	}
}

// enoughFor returns the limit that the error about a low limit calls enough.
func enoughFor(t *testing.T, c Config) (enough uint64) {
	t.Helper()
	var asked uint64
	_, refused := New(c)
	if refused == nil {
		t.Fatalf("%+v: made", c)
	}
	if _, err := fmt.Sscanf(refused.Error(), "gate: Memory: %d bytes, %d are enough", &asked, &enough); err != nil || asked != c.Memory {
		t.Fatalf("%+v: %q does not tell what is enough: %v", c, refused, err)
	}
	return enough
}

// TestSmallLimitsAreKeptOrRefused has limits from the lowest that is called enough,
// where a bucket of states or a rounded size is a large part of all.
func TestSmallLimitsAreKeptOrRefused(t *testing.T) {
	effort.OneGoroutine(t)
	const seed = 13
	for _, kind := range heavyKinds() {
		for _, users := range []uint64{1, 10, 200} {
			for i, c := range []Config{
				{Strikes: 3},
				{Strikes: 3, Confirm: ConfirmAlways},
				{Strikes: 100, Window: time.Second},
				{Strikes: 2, Window: time.Second, Confirm: ConfirmAlways},
			} {
				c.Kind, c.Users, c.Banned, c.Memory, c.Patterns = kind, users, users, 1, testPatterns(t)
				enough := enoughFor(t, c)
				c.Memory = enough - 1
				if again := enoughFor(t, c); again != enough {
					t.Errorf("%s: with %d bytes %d are enough, with 1 %d", kind, c.Memory, again, enough)
				}
				for _, more := range []uint64{0, 1, enough} {
					c.Memory = enough + more
					e := gate(t, c)
					flood(e, seed, 600, 1000, func() {})
					if got := e.Bytes(); e.Limit() != c.Memory || got > c.Memory {
						t.Fatalf("%s, seed %d, %d users, config %d: %d bytes in use, limit %d, want %d",
							kind, seed, users, i, got, e.Limit(), c.Memory)
					}
				}
			}
		}
	}
}

// TestChainsThatAreGivenUpAreCounted begins more chains than there is room for.
func TestChainsThatAreGivenUpAreCounted(t *testing.T) {
	effort.OneGoroutine(t)
	const users = 3000
	e := gate(t, Config{Users: 10, Memory: 150_000})
	for i := range uint32(users) {
		e.Step(source(i), 'a', 0)
	}
	if got, want := e.Lost().Chains, uint64(users-e.states.count); got != want || want == 0 {
		t.Errorf("%d chains lost, want %d", got, want)
	}
}

// TestAMillionUsersFitInto16MB is about the memory that sets report; the process takes
// a little more: see docs/design/0005-gate.md. The short forms have fewer users, and as
// many bytes for each.
func TestAMillionUsersFitInto16MB(t *testing.T) {
	effort.OneGoroutine(t)
	effort.PlainOnly(t)
	users := effort.Pick[uint32](100_000, 1_000_000)
	most := 16 << 20 * uint64(users) / 1_000_000
	for _, c := range []Config{
		{Kind: "dleft", BitsPerUser: 32},
		{Kind: "deletable", BitsPerUser: 32},
		{Kind: "evergreen", Memory: most},
	} {
		c.Users, c.Banned = uint64(users), uint64(users)*15/100
		e := gate(t, c)
		for i := range users {
			word := uint32('q')
			switch i % 10 {
			case 0:
				word = 'x'
			case 1:
				word = 'a'
			}
			if v := e.Step(source(i), word, 0); v.Action == Ban {
				t.Fatal("a ban after one packet")
			}
		}
		s := e.Stats()
		if s.Bytes > most || s.Lost.Any() {
			t.Errorf("%s: %d bytes, lost %+v", c.Kind, s.Bytes, s.Lost)
		}
		// False positives are users that the sets do not count.
		if s.States < int(users)*19/100 || float64(s.Tracked.Keys) < float64(users)*(0.999-s.Tracked.FPR) {
			t.Errorf("%s: %d users, %d states", c.Kind, s.Tracked.Keys, s.States)
		}
		t.Logf("%s: %d bytes of %d, %d users, %d states, rates %.2g and %.2g", c.Kind, s.Bytes, s.Limit, s.Tracked.Keys, s.States, s.Tracked.FPR, s.Banned.FPR)
		runtime.GC()
	}
}

// TestBlacklistLeavesRoomForBans has a list that is as long as there are bans expected
// by default.
func TestBlacklistLeavesRoomForBans(t *testing.T) {
	effort.OneGoroutine(t)
	c := Config{Kind: "dleft", Users: 4000}
	for i := range uint32(1000) {
		c.Blacklist = append(c.Blacklist, entry(i))
	}
	e := gate(t, c)
	if e.config.Banned != 2000 {
		t.Errorf("%d bans expected, want 2000", e.config.Banned)
	}
	for i := range uint32(1000) {
		for range 3 {
			e.Step(source(2000+i), 'x', 0)
		}
	}
	if s := e.Stats(); s.Lost.Overflow != 0 || s.Bans < 990 {
		t.Errorf("%d bans, %d beside the banned set", s.Bans, s.Lost.Overflow)
	}
}

func TestConfigReportsAllProblems(t *testing.T) {
	effort.OneGoroutine(t)
	for _, c := range []struct {
		config Config
		want   []string
	}{
		{Config{Kind: "bloom"}, []string{`kind "bloom": take evergreen, deletable, counting, dleft, elastic`}},
		{
			Config{Strikes: 101, Window: -1, IPv6Prefix: 129, BitsPerUser: -1, Users: 1 << 40, Kind: "x"},
			[]string{"Strikes: 101, must be 1 to 100", "Window: -1ns", "IPv6Prefix: 129", "BitsPerUser: -1", "Users, Banned: 1099511627776", `kind "x"`},
		},
		{Config{Blacklist: append(prefixes("1.2.3.4"), netip.Prefix{})}, []string{"Blacklist: entry 2 is not valid"}},
		{Config{Memory: 1000}, []string{"Memory: 1000 bytes"}},
		{Config{Memory: 1_000_000, Users: 1_000_000}, []string{"Memory: 1000000 bytes, ", " are enough", "evergreen sets of 1000000 and 250000 keys"}},
		{Config{FPR: 2}, []string{"FPR: 2, must be 0 to 0.1"}},
		{Config{FPR: 0.01, Memory: 1 << 24}, []string{"FPR: not together with"}},
		{Config{BitsPerUser: 3, Kind: "counting", Users: 1_000_000}, []string{"counting: 375000 bytes for 1000000 keys"}},
	} {
		_, err := New(c.config)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", c.config, err, want)
			}
		}
	}
}

// TestTooLargeAConfigIsAnError asks for more memory than any machine has.
func TestTooLargeAConfigIsAnError(t *testing.T) {
	effort.OneGoroutine(t)
	for _, kind := range []string{"evergreen", "counting", "dleft"} {
		if _, err := New(Config{Kind: kind, Users: maxUsers, Banned: maxUsers, Confirm: ConfirmAlways}); !errors.Is(err, filter.ErrStorage) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestStatsAddUp(t *testing.T) {
	effort.OneGoroutine(t)
	e := gate(t, Config{DropFlagged: true, Blacklist: prefixes("9.9.9.9", "7.0.0.0/8"), Whitelist: prefixes("6.0.0.0/8")})
	play(e, "1q 1x 1x 1x 1q 2a 3q")
	e.Step(addr("9.9.9.9"), 'q', 0)
	e.Step(addr("7.9.9.9"), 'q', 0)
	e.Step(addr("6.9.9.9"), 'x', 0)
	s := e.Stats()
	if s.Packets != 10 || s.Passed != 4 || s.Dropped != 2 || s.Rejected != 3 || s.Bans != 1 || s.Strikes != 3 {
		t.Errorf("%+v", s)
	}
	want := map[string]uint64{"clean": 3, "whitelisted": 1, "struck": 3, "banned": 2, "listed": 1}
	for reason, n := range want {
		if s.Reasons[reason] != n {
			t.Errorf("reason %s: %d, want %d", reason, s.Reasons[reason], n)
		}
	}
	if s.States != 1 || s.Networks != 1 || s.Allowed != 1 || s.Tracked.Keys != 2 || s.Banned.Keys != 2 || s.Lost.Any() {
		t.Errorf("%+v", s)
	}
}
