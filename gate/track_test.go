package gate

import (
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// TestTrackedUsersAreNeverDenied has a tracked set that errs often, so that asking it
// who is new would leave out one user in a hundred, and bans every third user. With
// kinds that ignore duplicates exactly every other user stays good.
func TestTrackedUsersAreNeverDenied(t *testing.T) {
	const seed, users = 4, 30_000
	for kind, bits := range map[string]float64{"evergreen": 106, "elastic": 8000} {
		if effort.UnderRace && kind == "elastic" {
			continue // see heavyKinds
		}
		e := gate(t, Config{Kind: kind, Users: users, Banned: users / 3, BitsPerUser: bits})
		if e.tracked.planned < 0.001 && kind == "evergreen" {
			t.Fatalf("%s: a rate of %g shows nothing", kind, e.tracked.planned)
		}
		flood(e, rand.New(rand.NewPCG(seed, 0)), users, 10*users, func() {})
		for u := range uint32(users) {
			if u%3 == 0 {
				continue
			}
			if v := e.Step(v4(scatter(u)), 'q', 0); v.Action == Reject {
				continue // by mistake
			}
		}
		for u := range uint32(users) { // the rest of the evil users
			if u%3 == 0 {
				for range 3 {
					e.Step(v4(scatter(u)), 'x', 0)
				}
			}
		}
		for u := range uint32(users) {
			if got := e.Query(v4(scatter(u))).Standing; got == None {
				t.Fatalf("%s, seed %d: user %d is not known", kind, seed, u)
			}
		}
	}
}

// TestRecentKeysDoNotHideThatAUserWasBanned bans and unbans a user whose key is
// remembered: the user has to enter the tracked set again.
func TestRecentKeysDoNotHideThatAUserWasBanned(t *testing.T) {
	e := gate(t, Config{})
	play(e, "1q 1q 1x 1x 1x")
	if err := e.Unban(v4('1')); err != nil {
		t.Fatal(err)
	}
	if got := e.Query(v4('1')).Standing; got != None {
		t.Errorf("after the unban: %v", got)
	}
	play(e, "1q")
	if got := e.Query(v4('1')).Standing; got != Good {
		t.Errorf("after the next packet: %v", got)
	}
}
