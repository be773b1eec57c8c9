package gate

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

func TestUnbanDeletesFromTheBannedSet(t *testing.T) {
	effort.OneGoroutine(t)
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

// manyFalsePositives is the memory with which sets err often. Exact kinds do not.
var manyFalsePositives = map[string]float64{"deletable": 12, "counting": 24, "dleft": 24}

// TestUnbansNeverForgetABan unbans many addresses, most of which are false positives of
// the banned set.
func TestUnbansNeverForgetABan(t *testing.T) {
	effort.OneGoroutine(t)
	const seed, users, kept = 7, 5000, 500
	for _, kind := range heavyKinds() {
		r := rand.New(rand.NewPCG(seed, 0))
		e := gate(t, Config{Kind: kind, Banned: users, BitsPerUser: manyFalsePositives[kind]})
		banned := map[uint32]bool{}
		for i := range uint32(users) {
			e.Blacklist(entry(i))
			banned[i] = true
		}
		unbans := 0
		for range 20_000 {
			i := kept + r.Uint32N(1_000_000)
			if e.Unban(source(i)) == nil {
				unbans++
				delete(banned, i)
			}
		}
		for i := range banned {
			if v := e.Step(source(i), 'q', 0); v.Action != Reject {
				t.Fatalf("%s, seed %d: after %d unbans of others a ban is forgotten", kind, seed, unbans)
			}
		}
		if unbans == 0 {
			t.Errorf("%s, seed %d: nothing was unbanned, the test shows nothing", kind, seed)
		}
	}
}

func TestUnbansEndWhenThereIsNoRoomForExceptions(t *testing.T) {
	effort.OneGoroutine(t)
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
		t.Errorf("a refused unban: %v", v.Action)
	}
}

// TestConfirmedHitsRejectNothingByMistake has banned sets that err often.
func TestConfirmedHitsRejectNothingByMistake(t *testing.T) {
	effort.OneGoroutine(t)
	effort.PlainOnly(t)
	const users = 5000
	for kind, bits := range manyFalsePositives {
		for confirm, mistakes := range map[Confirmation]bool{ConfirmNever: true, ConfirmAlways: false} {
			e := gate(t, Config{Kind: kind, Confirm: confirm, Banned: users, BitsPerUser: bits})
			for i := range uint32(users) {
				e.Blacklist(entry(i))
			}
			wrong := 0
			for i := range uint32(15_000) {
				if v := e.Step(source(i), 'q', 0); i < users && v.Action != Reject {
					t.Fatalf("%s: banned and passed", kind)
				} else if i >= users && v.Action == Reject {
					wrong++
				}
			}
			if (wrong > 0) != mistakes {
				t.Errorf("%s, confirm %d: %d rejected by mistake", kind, confirm, wrong)
			}
		}
	}
}

// TestZeroConfigConfirmsWhereThatIsFree holds that kinds that store their keys confirm
// for no memory, and the others only if asked.
func TestZeroConfigConfirmsWhereThatIsFree(t *testing.T) {
	effort.OneGoroutine(t)
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
	effort.OneGoroutine(t)
	e := gate(t, Config{Kind: "counting", Confirm: ConfirmAlways, Banned: 100, Memory: 100_000})
	for i := range uint32(300) {
		e.Blacklist(entry(i))
	}
	for i := range uint32(300) {
		if v := e.Step(source(i), 'q', 0); v.Action != Reject {
			t.Fatal("banned and passed")
		}
	}
	if !e.Lost().Exact {
		t.Error("the gate does not tell that it no longer confirms")
	}
}

// TestRefusedUnbansChangeNothing has far more bans than the table of bans has room
// for, so that a delete is not enough for an unban, and more unbans than exceptions.
func TestRefusedUnbansChangeNothing(t *testing.T) {
	effort.OneGoroutine(t)
	const banned, unbans = 5000, 2000
	e := gate(t, Config{Kind: "counting", Confirm: ConfirmAlways, Users: 1000, Banned: 2000, Memory: 42_000})
	for i := range uint32(banned) {
		e.Blacklist(entry(i))
	}
	refused := 0
	for i := range uint32(unbans) {
		keys, known := e.banned.keys, e.exactBans.count
		err := e.Unban(source(i))
		if err == nil {
			continue
		}
		refused++
		if v := e.Step(source(i), 'q', 0); !errors.Is(err, filter.ErrFull) || v.Action != Reject {
			t.Fatalf("unban %d: %v, and then the address is %v", i, err, v.Action)
		}
		if e.banned.keys != keys || e.exactBans.count != known {
			t.Fatalf("unban %d was refused: %d banned keys, %d known, before %d and %d", i, e.banned.keys, e.exactBans.count, keys, known)
		}
	}
	for i := uint32(unbans); i < banned; i++ {
		if v := e.Step(source(i), 'q', 0); v.Action != Reject {
			t.Fatalf("ban %d is forgotten", i)
		}
	}
	if refused == 0 {
		t.Errorf("all %d were unbanned, the test shows nothing", unbans)
	}
}

// TestUnbansOfOverflowedBansDeleteNothing has a banned set that is full before the
// table of bans is: what it refused was never there to be deleted.
func TestUnbansOfOverflowedBansDeleteNothing(t *testing.T) {
	effort.OneGoroutine(t)
	e := gate(t, Config{Kind: "dleft", Confirm: ConfirmAlways, Banned: 5000, BitsPerUser: 26})
	e.banned.limit = 300
	for i := range uint32(400) {
		e.Blacklist(entry(i))
	}
	e.Blacklist(entry(0)) // again: it counts once
	if e.exactBans.count != 300 || e.overflowed != 100 || e.Lost().Exact {
		t.Fatalf("%d bans in the table, %d behind it, lost %+v", e.exactBans.count, e.overflowed, e.Lost())
	}
	for i := uint32(300); i < 400; i++ {
		if v := e.Step(source(i), 'q', 0); v.Reason != OverLimit {
			t.Errorf("%d is beyond the limit and %v", i, v.Reason)
		}
		if err := e.Unban(source(i)); err != nil {
			t.Fatal(err)
		}
		if v := e.Step(source(i), 'q', 0); !v.Passed() {
			t.Errorf("%d was unbanned and is %v", i, v.Action)
		}
	}
	if e.banned.keys != 300 || e.banned.Info().Keys != 300 || e.exceptions.count != 0 {
		t.Errorf("%d keys left in the banned set, %d exceptions", e.banned.keys, e.exceptions.count)
	}
}
