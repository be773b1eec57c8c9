package keeper

import (
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/logs"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// TestTheListOfBansIsWithinTheLimit bans more users than it has room for: bans that end do so
// early, and those for ever hold all the same.
func TestTheListOfBansIsWithinTheLimit(t *testing.T) {
	for _, lasts := range []time.Duration{0, time.Hour} {
		c, kernel := &clock{noon}, enforced{}
		const limit, users = 1 << 20, 600
		k, err := Open(Config{BanFor: lasts, Now: c.now, Enforcer: kernel}, gate.Config{Users: 1000, Memory: limit})
		if err != nil {
			t.Fatal(err)
		}
		room := limit / listShare / banBytes
		for i := range users {
			c.Time = c.Add(time.Second)
			if _, err := k.Ban(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), -1, "test"); err != nil {
				t.Fatal(err)
			}
		}
		s := k.Status()
		if s.Bans != room || s.Crowded != uint64(users-room) || s.Bytes+s.Gate.Bytes > limit || s.Gate.Limit+limit/listShare > limit {
			t.Errorf("%v: %d bans, room for %d; %d crowded; %d and %d bytes", lasts, s.Bans, room, s.Crowded, s.Bytes, s.Gate.Bytes)
		}
		first, _ := k.Query(addr("10.0.0.0"))
		last, _ := k.Query(addr("10.0.2.87"))
		if want := map[bool]gate.Standing{true: gate.Bad, false: gate.None}[lasts == 0]; first.Standing != want || last.Standing != gate.Bad {
			t.Errorf("%v: the first is %v, the last %v", lasts, first.Standing, last.Standing)
		}
		if want := map[bool]int{true: users, false: room}[lasts == 0]; len(kernel) != want {
			t.Errorf("%v: %d bans are enforced, want %d", lasts, len(kernel), want)
		}
	}
}

// TestPositionsAreKept holds for the state, and for events that only the journal has.
func TestPositionsAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	line := func(k *Keeper, text string, at logs.Position) {
		k.JudgeLine(&packets.Packet{Src: addr("1.2.3.4"), Payload: []byte(text)}, "log", at)
	}
	k := open(t, Config{State: path, Sync: true})
	line(k, "evil", logs.Position{Start: 5, End: 9, Sum: 1}) // it is not followed
	k.Begin("log", logs.Position{Start: 9, End: 9, Sum: 1})
	line(k, "good", logs.Position{Start: 9, End: 14, Sum: 3})
	if err := k.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	k = open(t, Config{State: path, Sync: true})
	if got := k.Position("log"); got != (logs.Position{Start: 9, End: 14, Sum: 3}) {
		t.Errorf("%+v", got)
	}
	line(k, "evil", logs.Position{Start: 14, End: 19, Sum: 5})
	if err := k.Close(); err != nil { // and the state is not saved
		t.Fatal(err)
	}
	k = open(t, Config{State: path, Sync: true})
	if got := k.Position("log"); got.End != 19 || k.Position("other") != (logs.Position{}) {
		t.Errorf("%+v", got)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
}
