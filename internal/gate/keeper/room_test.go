package keeper

import (
	"errors"
	"net/netip"
	"path/filepath"
	"slices"
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

// watcher is an enforcer that knows which users may be inside a chain.
type watcher struct {
	enforced
	users []netip.Prefix
	all   bool
}

func (w *watcher) Watched() ([]netip.Prefix, bool) { return w.users, w.all }

// TestWatchedUsersAreKept has states with and without a chain, of gates that know which users
// may be inside one, or do not.
func TestWatchedUsersAreKept(t *testing.T) {
	users := []netip.Prefix{netip.MustParsePrefix("1.2.3.4/32"), netip.MustParsePrefix("2001:db8::/64")}
	for _, c := range []struct {
		payload string
		by      Enforcer
		users   int
		all     bool
	}{
		{"ev", &watcher{users: users, all: true}, 2, true},
		{"ev", &watcher{users: users}, 0, false},
		{"ev", enforced{}, 0, false},
		{"ev", nil, 0, false},
		{"good", nil, 0, true},
	} {
		path := filepath.Join(t.TempDir(), "state")
		k := open(t, Config{State: path, Enforcer: c.by})
		k.Judge(&packets.Packet{Src: addr("1.2.3.4"), Payload: []byte(c.payload)}, "in")
		if err := errors.Join(k.Save(t.Context()), k.Close()); err != nil {
			t.Fatal(err)
		}
		k = open(t, Config{State: path})
		if got, all := k.Watched(); all != c.all || !slices.Equal(got, users[:c.users]) {
			t.Errorf("%q by %T: %v, all %t", c.payload, c.by, got, all)
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLessMemoryLosesNoEvent has a state with more bans than the next gate has room for, and
// strikes that only the journal has.
func TestLessMemoryLosesNoEvent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	config := Config{State: path, Sync: true, BanFor: time.Hour, Now: (&clock{noon}).now}
	k := open(t, config)
	for i := range 600 {
		if _, err := k.Ban(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), time.Minute, "test"); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		evil(k, netip.AddrFrom4([4]byte{10, 1, 0, byte(i)}).String(), 3, noon)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	k = openWithin(t, config, 1<<20)
	for i := range 20 {
		if a, _ := k.Query(netip.AddrFrom4([4]byte{10, 1, 0, byte(i)})); a.Standing != gate.Bad {
			t.Errorf("ban %d of the journal: %v", i, a.Standing)
		}
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestWhatIsCalledEnoughIsEnough asks a gate that is refused for its limit.
func TestWhatIsCalledEnoughIsEnough(t *testing.T) {
	low := new(gate.LimitError)
	if _, err := Open(Config{}, gate.Config{Memory: 1000}); !errors.As(err, &low) || low.Memory != 1000 {
		t.Fatal(err)
	}
	enough := low.Enough
	if _, err := Open(Config{}, gate.Config{Memory: enough}); err != nil {
		t.Error(err)
	}
	if _, err := Open(Config{}, gate.Config{Memory: enough - 1}); !errors.As(err, &low) || low.Enough != enough {
		t.Error(err)
	}
}
