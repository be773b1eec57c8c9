package gate

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

func TestPardonTakesOffTheBadSet(t *testing.T) {
	for _, kind := range Kinds() {
		for _, confirm := range []Confirmation{ConfirmNever, ConfirmAlways} {
			e := gate(t, Config{Kind: kind, Confirm: confirm, Blacklist: prefixes("9.9.9.9", "7.0.0.0/8")})
			play(e, "1x 1x 1x")
			for _, src := range []string{"0.0.0.49", "9.9.9.9", "7.1.1.1"} {
				if err := e.Pardon(addr(src)); err != nil {
					t.Errorf("%s: pardon %s: %v", kind, src, err)
				}
				if v := e.Step(addr(src), 'q', 0); !v.Passed() {
					t.Errorf("%s: %s was pardoned and is %v: %v", kind, src, v.Action, v.Reason)
				}
				if got := e.Query(addr(src)).Standing; got != Good {
					t.Errorf("%s: %s was pardoned and is %v", kind, src, got)
				}
				if err := e.Pardon(addr(src)); !errors.Is(err, filter.ErrNotFound) {
					t.Errorf("%s: second pardon of %s: %v", kind, src, err)
				}
			}
			if v := e.Step(addr("7.1.1.2"), 'q', 0); v.Reason != Listed {
				t.Errorf("%s: the neighbour of a pardoned address: %+v", kind, v)
			}
			if got := play(e, "1x 1x 1x 1q"); got != "**Br" {
				t.Errorf("%s: after a pardon strikes count anew: %s", kind, got)
			}
		}
	}
}

// TestPardonsNeverForgetABan pardons many addresses, most of which are claimed by
// mistake, from a bad set that errs often.
func TestPardonsNeverForgetABan(t *testing.T) {
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
		pardons := 0
		for range 50_000 {
			i := r.Uint32N(1_000_000)
			if i < banned { // these stay
				continue
			}
			if e.Pardon(v4(scatter(i))) == nil {
				pardons++
				delete(keep, i)
			}
		}
		for i := range keep {
			if v := e.Step(v4(scatter(i)), 'q', 0); v.Action != Reject {
				t.Fatalf("%s, seed %d: after %d pardons of others a ban is forgotten", kind, seed, pardons)
			}
		}
		if pardons == 0 {
			t.Errorf("%s, seed %d: nobody was pardoned, the test shows nothing", kind, seed)
		}
	}
}

func TestPardonsEndWhenThereIsNoRoomForExceptions(t *testing.T) {
	e := gate(t, Config{Kind: "dleft", Blacklist: prefixes("7.0.0.0/8")})
	var err error
	n := 0
	for err == nil && n < 100_000 {
		err = e.Pardon(v4(7<<24 + uint32(n)))
		n++
	}
	if !errors.Is(err, filter.ErrFull) || n-1 != e.pardoned.most {
		t.Errorf("%d pardons, then %v; want %d", n-1, err, e.pardoned.most)
	}
	if v := e.Step(v4(7<<24+uint32(n)), 'q', 0); v.Action != Reject {
		t.Errorf("who could not be pardoned is %v", v.Action)
	}
}

// TestConfirmedHitsRejectNobodyByMistake has bad sets that err often.
func TestConfirmedHitsRejectNobodyByMistake(t *testing.T) {
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
	for _, b := range backings {
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
	if s := e.Stats(); s.Networks != 3 || s.Bad.Keys != 1 {
		t.Errorf("%d networks, %d bad users", s.Networks, s.Bad.Keys)
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

// TestRefusedPardonsChangeNothing has far more bans than the table of bans has room
// for, so that a delete is not enough for a pardon, and more pardons than exceptions.
func TestRefusedPardonsChangeNothing(t *testing.T) {
	const banned, pardons = 5000, 2000
	e := gate(t, Config{Kind: "counting", Confirm: ConfirmAlways, Users: 1000, Banned: 2000, Memory: 42_000})
	for i := range uint32(banned) {
		e.Blacklist(prefixes(v4(scatter(i)).String())[0])
	}
	refused := 0
	for i := range uint32(pardons) {
		keys, known := e.bad.keys, e.bans.count
		err := e.Pardon(v4(scatter(i)))
		if err == nil {
			continue
		}
		refused++
		if v := e.Step(v4(scatter(i)), 'q', 0); !errors.Is(err, filter.ErrFull) || v.Action != Reject {
			t.Fatalf("pardon %d: %v, and then the address is %v", i, err, v.Action)
		}
		if e.bad.keys != keys || e.bans.count != known {
			t.Fatalf("pardon %d was refused: %d bad keys, %d known, before %d and %d", i, e.bad.keys, e.bans.count, keys, known)
		}
	}
	for i := uint32(pardons); i < banned; i++ {
		if v := e.Step(v4(scatter(i)), 'q', 0); v.Action != Reject {
			t.Fatalf("ban %d, which nobody spoke of, is forgotten", i)
		}
	}
	if refused == 0 {
		t.Errorf("all %d were pardoned, the test shows nothing", pardons)
	}
}

// TestPardonsOfSpareBansTakeNothingFromTheBadSet has a bad set that is full before the
// table of bans is: what it refused was never there to be deleted.
func TestPardonsOfSpareBansTakeNothingFromTheBadSet(t *testing.T) {
	e := gate(t, Config{Kind: "dleft", Confirm: ConfirmAlways, Banned: 5000, BitsPerUser: 26})
	e.bad.most = 300
	for i := range uint32(400) {
		e.Blacklist(prefixes(v4(scatter(i)).String())[0])
	}
	if e.bans.count != 300 || e.spares != 100 || e.Lost().Exact {
		t.Fatalf("%d bans in the table, %d in the spare filter, lost %+v", e.bans.count, e.spares, e.Lost())
	}
	for i := uint32(300); i < 400; i++ {
		if err := e.Pardon(v4(scatter(i))); err != nil {
			t.Fatal(err)
		}
		if v := e.Step(v4(scatter(i)), 'q', 0); !v.Passed() {
			t.Errorf("%d was pardoned and is %v", i, v.Action)
		}
	}
	if e.bad.keys != 300 || e.pardoned.count != 100 {
		t.Errorf("%d keys left in the bad set, %d exceptions", e.bad.keys, e.pardoned.count)
	}
}
