package gate

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

func TestUnbanDeletesFromTheBannedSet(t *testing.T) {
	for _, kind := range Kinds() {
		for _, confirm := range []Confirmation{ConfirmNever, ConfirmAlways} {
			e := gate(t, Config{Kind: kind, Confirm: confirm, Blacklist: prefixes("9.9.9.9", "7.0.0.0/8")})
			play(e, "1x 1x 1x")
			for _, src := range []string{"0.0.0.49", "9.9.9.9", "7.1.1.1"} {
				if err := e.Unban(addr(src)); err != nil {
					t.Errorf("%s: unban %s: %v", kind, src, err)
				}
				if v := e.Step(addr(src), 'q', 0); !v.Passed() {
					t.Errorf("%s: %s was unbanned and is %v: %v", kind, src, v.Action, v.Reason)
				}
				if got := e.Query(addr(src)).Standing; got != Good {
					t.Errorf("%s: %s was unbanned and is %v", kind, src, got)
				}
				if err := e.Unban(addr(src)); !errors.Is(err, filter.ErrNotFound) {
					t.Errorf("%s: second unban of %s: %v", kind, src, err)
				}
			}
			if v := e.Step(addr("7.1.1.2"), 'q', 0); v.Reason != Listed {
				t.Errorf("%s: the neighbour of an unbanned address: %+v", kind, v)
			}
			if got := play(e, "1x 1x 1x 1q"); got != "**Br" {
				t.Errorf("%s: after an unban strikes count anew: %s", kind, got)
			}
		}
	}
}

// TestUnbansNeverForgetABan unbans many addresses, most of which are claimed by
// mistake, from a banned set that errs often.
func TestUnbansNeverForgetABan(t *testing.T) {
	const seed, banned = 7, 500
	for _, kind := range heavyKinds() {
		r := rand.New(rand.NewPCG(seed, 0))
		bits := map[string]float64{"deletable": 12, "counting": 24, "dleft": 26}[kind]
		e := gate(t, Config{Kind: kind, Banned: 5000, BitsPerUser: bits})
		keep := map[uint32]bool{}
		for i := range uint32(5000) {
			e.Blacklist(prefixes(v4(scatter(i)).String())[0])
			keep[i] = true
		}
		unbans := 0
		for range 50_000 {
			i := r.Uint32N(1_000_000)
			if i < banned { // these stay
				continue
			}
			if e.Unban(v4(scatter(i))) == nil {
				unbans++
				delete(keep, i)
			}
		}
		for i := range keep {
			if v := e.Step(v4(scatter(i)), 'q', 0); v.Action != Reject {
				t.Fatalf("%s, seed %d: after %d unbans of others a ban is forgotten", kind, seed, unbans)
			}
		}
		if unbans == 0 {
			t.Errorf("%s, seed %d: nothing was unbanned, the test shows nothing", kind, seed)
		}
	}
}

func TestUnbansEndWhenThereIsNoRoomForExceptions(t *testing.T) {
	e := gate(t, Config{Kind: "dleft", Blacklist: prefixes("7.0.0.0/8")})
	var err error
	n := 0
	for err == nil && n < 100_000 {
		err = e.Unban(v4(7<<24 + uint32(n)))
		n++
	}
	if !errors.Is(err, filter.ErrFull) || n-1 != e.exceptions.most {
		t.Errorf("%d unbans, then %v; want %d", n-1, err, e.exceptions.most)
	}
	if v := e.Step(v4(7<<24+uint32(n)), 'q', 0); v.Action != Reject {
		t.Errorf("who could not be unbanned is %v", v.Action)
	}
}

// TestConfirmedHitsRejectNothingByMistake has banned sets that err often.
func TestConfirmedHitsRejectNothingByMistake(t *testing.T) {
	for _, kind := range heavyKinds() {
		bits := map[string]float64{"deletable": 12, "counting": 24, "dleft": 26}[kind]
		wrong := map[Confirmation]int{}
		for _, confirm := range []Confirmation{ConfirmNever, ConfirmAlways} {
			e := gate(t, Config{Kind: kind, Confirm: confirm, Banned: 5000, BitsPerUser: bits})
			for i := range uint32(5000) {
				e.Blacklist(prefixes(v4(scatter(i)).String())[0])
			}
			for i := range uint32(40_000) {
				if v := e.Step(v4(scatter(i)), 'q', 0); i < 5000 && v.Action != Reject {
					t.Fatalf("%s: banned and passed", kind)
				} else if i >= 5000 && v.Action == Reject {
					wrong[confirm]++
				}
			}
		}
		if wrong[ConfirmAlways] != 0 || bits != 0 && wrong[ConfirmNever] == 0 {
			t.Errorf("%s: %d rejected by mistake, %d without confirmation", kind, wrong[ConfirmAlways], wrong[ConfirmNever])
		}
	}
}

// TestZeroConfigConfirmsWhereThatIsFree has kinds that store their keys confirm for no
// memory, and the others only if asked.
func TestZeroConfigConfirmsWhereThatIsFree(t *testing.T) {
	for _, kind := range Kinds() {
		b, err := backingOf(kind)
		if err != nil {
			t.Fatal(err)
		}
		free, never := gate(t, Config{Kind: b.name}), gate(t, Config{Kind: b.name, Confirm: ConfirmNever})
		if got := free.confirm != nil; got != b.exact || free.Limit() != never.Limit() {
			t.Errorf("%s: confirms %t, %d bytes, %d without", b.name, got, free.Limit(), never.Limit())
		}
		if never.confirm != nil || never.Lost().Exact || free.Lost().Exact {
			t.Errorf("%s: confirms though told not to, or claims to have given it up", b.name)
		}
		if gate(t, Config{Kind: b.name, Confirm: ConfirmAlways}).confirm == nil {
			t.Errorf("%s: does not confirm though asked to", b.name)
		}
	}
	if _, err := New(Config{Confirm: ConfirmNever + 1}); err == nil {
		t.Error("an unknown choice is taken")
	}
}

// TestConfirmationEndsWhereItWouldForgetABan bans more than the table has room for.
func TestConfirmationEndsWhereItWouldForgetABan(t *testing.T) {
	e := gate(t, Config{Kind: "counting", Confirm: ConfirmAlways, Banned: 100})
	for i := range uint32(300) {
		e.Blacklist(prefixes(v4(scatter(i)).String())[0])
	}
	for i := range uint32(300) {
		if v := e.Step(v4(scatter(i)), 'q', 0); v.Action != Reject {
			t.Fatal("banned and passed")
		}
	}
	if !e.Lost().Exact {
		t.Error("the gate does not tell that it no longer confirms")
	}
}

// TestNetworksThatAreUsersGoToTheBadSet lists prefixes around what counts as a user.
func TestNetworksThatAreUsersGoToTheBadSet(t *testing.T) {
	e := gate(t, Config{IPv6Prefix: 64, Blacklist: prefixes("2001:db8:1:1::/64", "2001:db8:2::/48", "2001:db8:3::1/128", "9.0.0.0/8")})
	if s := e.Stats(); s.Networks != 3 || s.Banned.Keys != 1 {
		t.Errorf("%d networks, %d bad users", s.Networks, s.Banned.Keys)
	}
	for src, want := range map[string]Reason{
		"2001:db8:1:1::77": Banned, "2001:db8:1:2::77": Clean, "2001:db8:2:5::1": Listed, "9.9.9.9": Listed, "10.9.9.9": Clean,
	} {
		if got := e.Step(addr(src), 'q', 0).Reason; got != want {
			t.Errorf("%s: %v, want %v", src, got, want)
		}
	}
}

// TestPartsOfUsersAreListedAlone has users that are networks, and entries of the lists
// that are less than a user: they hold for their addresses and for no others.
func TestPartsOfUsersAreListedAlone(t *testing.T) {
	for _, kind := range Kinds() {
		e := gate(t, Config{
			Kind: kind, IPv6Prefix: 64, Strikes: 1,
			Blacklist: prefixes("2001:db9::1", "2001:dba::8000/113"), Whitelist: prefixes("2001:dbc::7"),
		})
		for _, c := range []struct {
			src  string
			want Reason
			is   Standing
		}{
			{"2001:db9::1", Listed, Bad},
			{"2001:db9::1%eth0", Listed, Bad},
			{"2001:db9::2", Clean, Good},
			{"2001:db9::", Clean, Good},
			{"2001:dba::8001", Listed, Bad},
			{"2001:dba::7fff", Clean, Good},
			{"2001:dbc::7", Whitelisted, Good},
			{"2001:dbc::8", Clean, Good},
		} {
			if got := e.Step(addr(c.src), 'q', 0).Reason; got != c.want {
				t.Errorf("%s: %s: %v, want %v", kind, c.src, got, c.want)
			}
			if got := e.Query(addr(c.src)).Standing; got != c.is {
				t.Errorf("%s: %s is %v, want %v", kind, c.src, got, c.is)
			}
		}
		e.Step(addr("2001:dbc::8"), 'x', 0) // bans the network
		if got, want := e.Step(addr("2001:dbc::9"), 'q', 0).Reason, Banned; got != want {
			t.Errorf("%s: beside the white list: %v, want %v", kind, got, want)
		}
		if got, want := e.Step(addr("2001:dbc::7"), 'x', 0).Reason, Whitelisted; got != want {
			t.Errorf("%s: on the white list: %v, want %v", kind, got, want)
		}
	}
}

// TestRefusedUnbansChangeNothing has far more bans than the table of bans has room
// for, so that a delete is not enough for an unban, and more unbans than exceptions.
func TestRefusedUnbansChangeNothing(t *testing.T) {
	const banned, unbans = 5000, 2000
	e := gate(t, Config{Kind: "counting", Confirm: ConfirmAlways, Users: 1000, Banned: 2000, Memory: 42_000})
	for i := range uint32(banned) {
		e.Blacklist(prefixes(v4(scatter(i)).String())[0])
	}
	refused := 0
	for i := range uint32(unbans) {
		keys, known := e.banned.keys, e.exactBans.count
		err := e.Unban(v4(scatter(i)))
		if err == nil {
			continue
		}
		refused++
		if v := e.Step(v4(scatter(i)), 'q', 0); !errors.Is(err, filter.ErrFull) || v.Action != Reject {
			t.Fatalf("unban %d: %v, and then the address is %v", i, err, v.Action)
		}
		if e.banned.keys != keys || e.exactBans.count != known {
			t.Fatalf("unban %d was refused: %d bad keys, %d known, before %d and %d", i, e.banned.keys, e.exactBans.count, keys, known)
		}
	}
	for i := uint32(unbans); i < banned; i++ {
		if v := e.Step(v4(scatter(i)), 'q', 0); v.Action != Reject {
			t.Fatalf("ban %d, which nobody spoke of, is forgotten", i)
		}
	}
	if refused == 0 {
		t.Errorf("all %d were unbanned, the test shows nothing", unbans)
	}
}

// TestUnbansOfOverflowedBansDeleteNothing has a banned set that is full before the
// table of bans is: what it refused was never there to be deleted.
func TestUnbansOfOverflowedBansDeleteNothing(t *testing.T) {
	e := gate(t, Config{Kind: "dleft", Confirm: ConfirmAlways, Banned: 5000, BitsPerUser: 26})
	e.banned.limit = 300
	for i := range uint32(400) {
		e.Blacklist(prefixes(v4(scatter(i)).String())[0])
	}
	if e.exactBans.count != 300 || e.overflowed != 100 || e.Lost().Exact {
		t.Fatalf("%d bans in the table, %d in the overflow filter, lost %+v", e.exactBans.count, e.overflowed, e.Lost())
	}
	for i := uint32(300); i < 400; i++ {
		if err := e.Unban(v4(scatter(i))); err != nil {
			t.Fatal(err)
		}
		if v := e.Step(v4(scatter(i)), 'q', 0); !v.Passed() {
			t.Errorf("%d was unbanned and is %v", i, v.Action)
		}
	}
	if e.banned.keys != 300 || e.exceptions.count != 100 {
		t.Errorf("%d keys left in the banned set, %d exceptions", e.banned.keys, e.exceptions.count)
	}
}
