package keeper

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

var noon = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)

// clock is a time that tests move.
type clock struct{ time.Time }

func (c *clock) now() time.Time { return c.Time }

// enforced remembers what an enforcer was told.
type enforced map[string]string

func (e enforced) Ban(user netip.Prefix, until time.Time) error {
	e[user.String()] = until.Format(time.TimeOnly)
	return nil
}

func (e enforced) Unban(user netip.Prefix) error {
	delete(e, user.String())
	return nil
}

func (e enforced) Except(user netip.Prefix) error {
	e["except "+user.String()] = ""
	return nil
}

// open makes a keeper that finds "evil", and the sequence of words 1, 2.
func open(t *testing.T, c Config) *Keeper {
	t.Helper()
	return openWithin(t, c, 0)
}

// openWithin has a limit of memory.
func openWithin(t *testing.T, c Config, memory uint64) *Keeper {
	t.Helper()
	a, err := pattern.Compile([]pattern.Pattern{{Name: "evil", Bytes: []byte("evil")}, {Name: "words", Words: []uint32{1, 2}}})
	if err != nil {
		t.Fatal(err)
	}
	k, err := Open(c, gate.Config{Users: 1000, Patterns: a, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func addr(text string) netip.Addr { return netip.MustParseAddr(text) }

// evil sends so many packets with the pattern.
func evil(k *Keeper, src string, n int, at time.Time) (last gate.Verdict) {
	for range n {
		last, _ = k.Judge(&packets.Packet{Src: addr(src), Payload: []byte("evil"), At: at.UnixNano()}, "in")
	}
	return last
}

// lasts returns how long each ban lasts, by user.
func lasts(k *Keeper) string {
	var list []string
	for _, b := range k.Bans() {
		long := "for ever"
		if b.Until != nil {
			long = b.Until.Sub(b.Since).String()
		}
		list = append(list, fmt.Sprintf("%v %s ×%d %s", b.User, long, b.Times, b.Reason))
	}
	return strings.Join(list, ", ")
}

// TestBansEndAndGrow holds for the clock, for enforcers, and for users that come again.
func TestBansEndAndGrow(t *testing.T) {
	c, kernel := &clock{noon}, enforced{}
	k := open(t, Config{BanFor: 10 * time.Minute, Growth: 3, BanMax: time.Hour, Enforcer: kernel, Now: c.now})
	for i, want := range []string{"10m0s ×1", "30m0s ×2", "1h0m0s ×3", "1h0m0s ×4"} {
		if v := evil(k, "2001:db8::7", 3, c.Time); v.Action != gate.Ban {
			t.Fatalf("ban %d: %+v", i, v)
		}
		if got := lasts(k); got != "2001:db8::/64 "+want+" evil" || len(kernel) != 1 {
			t.Errorf("ban %d: %s, want %s; enforced %v", i, got, want, kernel)
		}
		next := k.Expire()
		c.Time = next.Add(-time.Second)
		if k.Expire(); len(k.Bans()) != 1 {
			t.Error("a ban ended too soon")
		}
		c.Time = next
		if !k.Expire().IsZero() || len(k.Bans()) != 0 || len(kernel) != 0 {
			t.Errorf("ban %d did not end: %s, enforced %v", i, lasts(k), kernel)
		}
	}
	c.Time = c.Add(3 * time.Hour)
	evil(k, "2001:db8::7", 3, c.Time)
	if got := lasts(k); !strings.Contains(got, " 10m0s ") {
		t.Errorf("after a long time: %s", got)
	}
}

// TestBansEndByThePacketsTime has no clock that could be wrong: a capture has its own.
func TestBansEndByThePacketsTime(t *testing.T) {
	k := open(t, Config{BanFor: time.Minute})
	evil(k, "1.2.3.4", 3, noon)
	for after, want := range map[time.Duration]gate.Action{-time.Hour: gate.Reject, 59 * time.Second: gate.Reject} {
		if v := evil(k, "1.2.3.4", 1, noon.Add(after)); v.Action != want {
			t.Errorf("%v later: %v", after, v.Action)
		}
	}
	evil(k, "5.6.7.8", 1, noon.Add(100*365*24*time.Hour)) // from the future
	if v := evil(k, "1.2.3.4", 1, noon.Add(30*time.Second)); v.Action != gate.Reject {
		t.Errorf("after a packet from the future: %v", v.Action)
	}
	if v := evil(k, "1.2.3.4", 1, noon.Add(time.Minute)); v.Action != gate.Pass || v.Strikes != 1 {
		t.Errorf("a minute later: %+v", v)
	}
}

// TestBansBesideTheSetEndToo has more bans than the banned set has room for.
func TestBansBesideTheSetEndToo(t *testing.T) {
	a, err := pattern.Compile([]pattern.Pattern{{Name: "evil", Bytes: []byte("evil")}})
	if err != nil {
		t.Fatal(err)
	}
	k, err := Open(Config{BanFor: time.Minute}, gate.Config{Kind: "dleft", Users: 1000, Banned: 1, Patterns: a})
	if err != nil {
		t.Fatal(err)
	}
	const bans = 2000
	source := func(i int) string { return fmt.Sprintf("10.0.%d.%d", i>>8, i&255) }
	for i := range bans {
		evil(k, source(i), 3, noon)
	}
	if n := k.Status().Gate.Overflow.Bans; n == 0 {
		t.Fatal("all bans fit: the test shows nothing")
	}
	for i := range bans {
		if v := evil(k, source(i), 1, noon.Add(time.Minute)); v.Strikes != 1 {
			t.Fatalf("ban %d does not end: %+v", i, v)
		}
	}
}

func TestBansByHand(t *testing.T) {
	c := &clock{noon}
	k := open(t, Config{BanFor: time.Minute, Now: c.now})
	events, stop := k.Listen()
	k.Ban(addr("1.2.3.4"), -1, "usual")
	k.Ban(addr("1.2.3.5"), 0, "for ever")
	k.Ban(addr("1.2.3.6"), time.Hour, "an hour")
	if got, want := lasts(k), "1.2.3.4/32 1m0s ×1 usual, 1.2.3.5/32 for ever ×1 for ever, 1.2.3.6/32 1h0m0s ×1 an hour"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if v := evil(k, "1.2.3.6", 1, noon); v.Reason != gate.Banned {
		t.Errorf("%+v", v)
	}
	if err := errors.Join(k.Unban(addr("1.2.3.5"), "mercy"), k.Unban(addr("::ffff:1.2.3.4"), "mercy")); err != nil {
		t.Error(err)
	}
	if err := k.Unban(addr("1.2.3.5"), "again"); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("twice: %v", err)
	}
	c.Time = noon.Add(2 * time.Minute)
	k.Expire() // the end of a ban that was ended
	if len(k.Bans()) != 1 {
		t.Error(lasts(k))
	}
	stop()
	var kinds []event.Kind
	for len(events) > 0 {
		kinds = append(kinds, (<-events).Kind)
	}
	if fmt.Sprint(kinds) != "[ban ban ban unban unban]" {
		t.Errorf("events: %v", kinds)
	}
}

// TestStateOutlivesTheProcess has bans, strikes, chains of users and flows, and tracked
// users; and patterns that have changed meanwhile.
func TestStateOutlivesTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	c := Config{State: path, BanFor: time.Hour, Now: func() time.Time { return noon }}
	k := open(t, c)
	evil(k, "1.1.1.1", 3, noon)
	evil(k, "2.2.2.2", 2, noon)
	k.Ban(addr("2001:db8::1"), 0, "by hand")
	if err := k.Unban(addr("1.1.1.1"), ""); err != nil {
		t.Fatal(err)
	}
	evil(k, "1.1.1.1", 3, noon)
	flow := packets.Packet{Src: addr("3.3.3.3"), Payload: []byte("ev")}
	k.Judge(&flow, "")
	k.Judge(&packets.Packet{Src: addr("4.4.4.4"), Words: []uint32{1}}, "")
	if err := errors.Join(k.Save(t.Context()), k.Close()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has a secret: %v, %v", info, err)
	}
	again := open(t, c)
	if got, want := lasts(again), lasts(k); got != want || !strings.Contains(got, "1.1.1.1/32 1h0m0s ×2 evil") {
		t.Errorf("%s, want %s", got, want)
	}
	flow.Payload = []byte("il")
	_, chain := again.Judge(&flow, "")
	_, words := again.Judge(&packets.Packet{Src: addr("4.4.4.4"), Words: []uint32{2}}, "")
	if v := evil(again, "2.2.2.2", 1, noon); v.Action != gate.Ban || chain == nil || words == nil {
		t.Errorf("the third strike: %+v, chains %v, %v", v, chain, words)
	}
	again.Engine(func(e *gate.Engine) {
		for src, want := range map[string]gate.Standing{"3.3.3.3": gate.Good, "2001:db8::9": gate.Bad, "9.9.9.9": gate.None} {
			if got := e.Query(addr(src)).Standing; got != want {
				t.Errorf("%s is %v, want %v", src, got, want)
			}
		}
	})
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := Open(c, gate.Config{}) // without patterns: chains mean nothing
	if err != nil || len(other.Bans()) != 2 {
		t.Errorf("%v", err)
	}
}

// copyFiles copies a folder as a killed process leaves it.
func copyFiles(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestNothingThatWasSyncedIsLost kills a gate at random times: between events, before and
// after the state is saved, and inside the last line of the journal.
func TestNothingThatWasSyncedIsLost(t *testing.T) {
	for seed := range effort.PickVariant[uint64](5, 20, 100) {
		r := rand.New(rand.NewPCG(seed, 0))
		folder := t.TempDir()
		c := Config{State: filepath.Join(folder, "state"), Sync: true, Now: func() time.Time { return noon }}
		k := open(t, c)
		strikes, banned := map[string]int{}, map[string]bool{}
		for range 3 { // lives
			for range r.IntN(30) {
				src := fmt.Sprintf("10.0.0.%d", r.IntN(8))
				switch {
				case r.IntN(8) == 0 && banned[src]:
					if err := k.Unban(addr(src), ""); err != nil {
						t.Fatal(err)
					}
					delete(banned, src)
				case banned[src]:
				default:
					v := evil(k, src, 1, noon)
					if strikes[src]++; v.Action == gate.Ban {
						banned[src] = true
						delete(strikes, src)
					}
				}
				if r.IntN(10) == 0 {
					if err := k.Save(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			folder = copyFiles(t, folder)
			c.State = filepath.Join(folder, "state")
			if file, err := os.OpenFile(c.State+".log", os.O_APPEND|os.O_WRONLY, 0); err == nil {
				_, _ = file.WriteString("0badf00d {\"seq\":99,\"eve"[:r.IntN(20)])
				_ = file.Close()
			}
			if err := k.Close(); err != nil {
				t.Fatal(err)
			}
			k = open(t, c)
			got := map[string]bool{}
			for _, b := range k.Bans() {
				got[b.User.Addr().String()] = true
			}
			if !maps.Equal(got, banned) {
				t.Fatalf("seed %d: banned %v, want %v", seed, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(banned)))
			}
		}
		for src, n := range strikes {
			if v := evil(k, src, 1, noon); int(v.Strikes) != n+1 {
				t.Fatalf("seed %d: %s has %d strikes, want %d", seed, src, v.Strikes, n+1)
			}
		}
	}
}

// TestStatesThatCannotBeReadAreErrors has every cut and many damaged bytes, with checksums
// that are right: the payload is read as if it came from an enemy.
func TestStatesThatCannotBeReadAreErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	k := open(t, Config{State: path, BanFor: time.Hour})
	evil(k, "1.1.1.1", 3, noon)
	evil(k, "2.2.2.2", 2, noon)
	data := k.appendState(nil)
	for n := range data {
		fresh := open(t, Config{})
		if err := fresh.restore(&saved{fresh.engine.Hash(), data[:n]}); err == nil && n != len(data)-4 { // positions came later
			t.Fatalf("cut at %d of %d: read", n, len(data))
		}
	}
	r := rand.New(rand.NewPCG(1, 0))
	for range effort.PickVariant(200, 500, 20_000) {
		bad := slices.Clone(data)
		for range 1 + r.IntN(3) {
			bad[r.IntN(len(bad))] = byte(r.Uint32())
		}
		if r.IntN(4) == 0 {
			binary.LittleEndian.PutUint64(bad[r.IntN(len(bad)-8):], r.Uint64())
		}
		fresh := open(t, Config{})
		if fresh.restore(&saved{fresh.engine.Hash(), bad}) == nil {
			evil(fresh, "2.2.2.2", 1, noon)
			_ = fresh.appendState(nil)
		}
	}
	if err := os.WriteFile(path, []byte("not a state"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{State: path}, gate.Config{}); !errors.Is(err, filter.ErrNotFilter) {
		t.Errorf("%v", err)
	}
}

// list returns a list with those entries.
func list(t *testing.T, entries string) *packets.List {
	t.Helper()
	l := new(packets.List)
	if err := l.Read(strings.NewReader(strings.ReplaceAll(entries, " ", "\n"))); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestStateBelongsToOneGate has a second one refused, until the first has ended.
func TestStateBelongsToOneGate(t *testing.T) {
	c := Config{State: filepath.Join(t.TempDir(), "state")}
	k := open(t, c)
	if _, err := Open(c, gate.Config{}); err == nil || !strings.Contains(err.Error(), "another gate keeps its state there") {
		t.Errorf("%v", err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, c).Close(); err != nil {
		t.Error(err)
	}
}

// TestListedUsersStayRejectedWhenABanEnds holds for entries that are one user and for
// networks, by the clock and by the packet's time; only Unban makes an exception, which the
// next reading of the list ends.
func TestListedUsersStayRejectedWhenABanEnds(t *testing.T) {
	c, kernel := &clock{noon}, enforced{}
	k := open(t, Config{Enforcer: kernel, Now: c.now})
	k.Relist(list(t, "1.1.1.1 2.2.2.0/24 2001:db8::/64"), list(t, "3.3.3.3"))
	sources := []string{"1.1.1.1", "2.2.2.2", "2001:db8::7"}
	for _, src := range sources {
		if _, err := k.Ban(addr(src), time.Minute, "x"); err != nil {
			t.Fatal(err)
		}
	}
	evil(k, "1.1.1.1", 1, noon.Add(2*time.Minute))
	c.Time = noon.Add(time.Hour)
	k.Expire()
	for _, src := range sources {
		if v := evil(k, src, 1, c.Time); v.Action != gate.Reject || len(k.Bans()) != 0 || len(kernel) != 0 {
			t.Errorf("%s: %+v, bans %s, enforced %v", src, v, lasts(k), kernel)
		}
		if err := k.Unban(addr(src), ""); err != nil {
			t.Error(err)
		}
		if v := evil(k, src, 1, c.Time); v.Action != gate.Pass || len(kernel) != 1 {
			t.Errorf("%s is an exception: %+v, enforced %v", src, v, kernel)
		}
		if _, err := k.Ban(addr(src), time.Minute, "x"); err != nil {
			t.Fatal(err)
		}
		c.Time = c.Add(time.Hour)
		if k.Expire(); evil(k, src, 1, c.Time).Action != gate.Pass {
			t.Errorf("%s: the exception does not outlive a ban", src)
		}
		clear(kernel)
	}
	k.Relist(list(t, "1.1.1.1 2.2.2.0/24 2001:db8::/64"), list(t, "3.3.3.3"))
	for _, src := range sources {
		if v := evil(k, src, 1, c.Time); v.Action != gate.Reject {
			t.Errorf("%s, after the list was read again: %+v", src, v)
		}
	}
	if _, err := k.Ban(addr("3.3.3.3"), 0, ""); err == nil || !strings.Contains(err.Error(), "white list") {
		t.Errorf("a ban that does nothing: %v", err)
	}
}

// TestEntriesThatStayRejectedAreTold has a kind of filter that cannot delete what it may not hold,
// and more entries that leave the black list than there is room for exceptions.
func TestEntriesThatStayRejectedAreTold(t *testing.T) {
	k, err := Open(Config{}, gate.Config{Kind: "deletable", Users: 1000})
	if err != nil {
		t.Fatal(err)
	}
	k.Relist(list(t, "10.0.0.0-10.0.1.255 10.1.0.0/16"), list(t, ""))
	k.Relist(list(t, "10.0.0.0/24"), list(t, ""))
	if err := k.Failure(); err != nil {
		t.Errorf("a network: %v", err)
	}
	var entries strings.Builder
	for i := range 600 {
		fmt.Fprintf(&entries, "10.2.%d.%d\n", i>>8, i&255)
	}
	k.Relist(list(t, entries.String()), list(t, ""))
	k.Relist(list(t, ""), list(t, ""))
	if err := k.Failure(); !errors.Is(err, filter.ErrFull) {
		t.Errorf("%v", err)
	}
}

// TestQueuesMissNothing has more events than a listener has places for.
func TestQueuesMissNothing(t *testing.T) {
	k := open(t, Config{})
	q := k.Queue()
	_, stop := k.Listen()
	defer stop()
	for i := range 3000 {
		evil(k, fmt.Sprintf("10.0.%d.%d", i>>8, i&255), 1, noon)
	}
	if events := q.Take(); len(events) != 3000 || k.Status().Missed != 3000-1024 {
		t.Errorf("%d events; missed %d", len(events), k.Status().Missed)
	}
	q.most = 1
	evil(k, "1.1.1.1", 2, noon)
	if k.Status().Missed != 3002-1024+1 {
		t.Errorf("missed %d", k.Status().Missed)
	}
}

// TestDamageCostsTheDamagedLinesOnly has a bad line between good ones, and one that is cut
// off at the end.
func TestDamageCostsTheDamagedLinesOnly(t *testing.T) {
	c := Config{State: filepath.Join(t.TempDir(), "state"), Sync: true, Now: func() time.Time { return noon }}
	k := open(t, c)
	for _, src := range []string{"1.1.1.1", "2.2.2.2", "3.3.3.3"} {
		if _, err := k.Ban(addr(src), 0, "x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	path := c.State + ".log"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = append([]byte(strings.Replace(string(text), "2.2.2.2", "9.2.2.2", 1)), "0123"...)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	again := open(t, c)
	if got := lasts(again); got != "1.1.1.1/32 for ever ×1 x, 3.3.3.3/32 for ever ×1 x" {
		t.Error(got)
	}
	if err := again.Failure(); err == nil || !strings.Contains(err.Error(), "1 damaged lines") {
		t.Errorf("told: %v", err)
	}
	if aside, err := os.ReadFile(path + ".damaged.1"); err != nil || string(aside) != string(text) {
		t.Errorf("%v: kept %q", err, aside)
	}
	again.Ban(addr("4.4.4.4"), 0, "x")
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if last := open(t, c); len(last.Bans()) != 3 {
		t.Error(lasts(last))
	}
}

// TestStatesThatCannotBeSavedLoseNothing fails to save twice, so that the journal that is
// aside is continued.
func TestStatesThatCannotBeSavedLoseNothing(t *testing.T) {
	folder := t.TempDir()
	c := Config{State: filepath.Join(folder, "state"), Sync: true, Now: func() time.Time { return noon }}
	k := open(t, c)
	if err := os.Mkdir(c.State, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := k.Ban(addr(fmt.Sprintf("1.1.1.%d", i)), 0, "x"); err != nil {
			t.Fatal(err)
		}
		if k.Save(t.Context()) == nil {
			t.Fatal("saved over a folder")
		}
	}
	if err := errors.Join(k.Close(), os.Remove(c.State)); err != nil {
		t.Fatal(err)
	}
	if again := open(t, c); len(again.Bans()) != 3 || again.Failure() != nil {
		t.Error(lasts(again))
	}
}

// TestOtherPrefixesAreRefused keeps bans from becoming void.
func TestOtherPrefixesAreRefused(t *testing.T) {
	c := Config{State: filepath.Join(t.TempDir(), "state")}
	k := open(t, c)
	k.Ban(addr("2001:db8::1"), 0, "x")
	if err := errors.Join(k.Save(t.Context()), k.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(c, gate.Config{IPv6Prefix: 48}); err == nil || !strings.Contains(err.Error(), "--ipv6-prefix as before") || !strings.Contains(err.Error(), c.State) {
		t.Errorf("%v", err)
	}
}

// TestPastBansAreForgotten keeps the memory of bans that have ended from growing for ever.
func TestPastBansAreForgotten(t *testing.T) {
	c := &clock{noon}
	k := open(t, Config{BanFor: time.Minute, BanMax: time.Hour, Now: c.now})
	for i := range 3 * minPruned {
		k.Ban(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), -1, "x")
		c.Time = c.Add(time.Minute)
		k.Expire()
	}
	if len(k.past) > 2*minPruned {
		t.Errorf("%d past bans are kept", len(k.past))
	}
}

// TestBansThatCannotEndAreTriedAgain has a kind of filter that cannot delete what it may not
// hold, and more bans that end than there is room for exceptions: what is rejected is listed.
func TestBansThatCannotEndAreTriedAgain(t *testing.T) {
	const bans = 400
	c := &clock{noon}
	k, err := Open(Config{BanFor: time.Minute, Now: c.now}, gate.Config{Kind: "deletable", Users: 1000})
	if err != nil {
		t.Fatal(err)
	}
	source := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}) }
	for i := range bans {
		if _, err := k.Ban(source(i), -1, "x"); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		c.Time = c.Add(time.Hour)
		k.Expire()
		listed := len(k.Bans())
		for i := range bans {
			if a, b := k.Query(source(i)); (a.Standing == gate.Bad) != (b != nil) {
				t.Fatalf("%v is %v, and listed %t", source(i), a.Standing, b != nil)
			}
		}
		if err := k.Failure(); listed == 0 || !errors.Is(err, filter.ErrFull) {
			t.Errorf("%d are left: %v", listed, err)
		}
	}
}
