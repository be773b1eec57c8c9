package gate

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

// strikeFrom sends one forbidden sequence from each of so many addresses.
func strikeFrom(e *Engine, n uint32, address func(uint32) netip.Addr) {
	for i := range n {
		e.Step(address(i), 'x', 0)
	}
}

// evil returns how many of a thousand new users, from many networks, are banned at their
// third strike.
func evil(e *Engine) (bans int) {
	for i := range uint32(1000) {
		src := source(1<<20 + i)
		for range 3 {
			if e.Step(src, 'x', 0).Action == Ban {
				bans++
			}
		}
	}
	return bans
}

// TestFloodOfOneNetworkDoesNotSwitchStrikesOff has an attacker with a /64, a /32 and a
// /16 that sends as many strikes as fill all states, several times. A limit of memory is
// given, and without one nothing is lost at all.
func TestFloodOfOneNetworkDoesNotSwitchStrikesOff(t *testing.T) {
	effort.OneGoroutine(t)
	const packets = 100_000
	for name, address := range map[string]func(i uint32) netip.Addr{
		"2001:db8:0:7::/64": func(i uint32) netip.Addr { return six(7, uint64(i)) },
		"2001:db8::/32":     func(i uint32) netip.Addr { return six(uint64(i), 1) },
		"10.1.0.0/16":       func(i uint32) netip.Addr { return v4(10<<24 | 1<<16 | i%65536) },
	} {
		e := gate(t, Config{Users: 10_000, Memory: 1 << 20})
		room := e.states.room()
		strikeFrom(e, packets, address)
		if got := evil(e); got < 990 {
			t.Errorf("%s: after %d strikes on %d states %d of 1000 are banned", name, packets, room, got)
		}
		e = gate(t, Config{Users: 10_000})
		strikeFrom(e, packets, address)
		if got := evil(e); got != 1000 || e.Lost().Any() {
			t.Errorf("%s: without a limit %d of 1000 are banned, lost %+v", name, got, e.Lost())
		}
	}
}

// six returns an address of 2001:db8::/32.
func six(network, host uint64) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], 0x20010db8<<32|network)
	binary.BigEndian.PutUint64(b[8:], host)
	return netip.AddrFrom16(b)
}

// chosen returns addresses whose key by the public hash satisfies a condition.
func chosen(n int, good func(filter.Key) bool) (list []netip.Addr) {
	for i := uint32(0); len(list) < n; i++ {
		a := v4(i)
		b := a.As4()
		if good(filter.KeyOf(b[:])) {
			list = append(list, a)
		}
	}
	return list
}

// TestChosenAddressesDoNotHideAVictim has addresses that would share the home of a victim,
// were the hash known.
func TestChosenAddressesDoNotHideAVictim(t *testing.T) {
	effort.OneGoroutine(t)
	c := Config{Users: 1000, Patterns: testPatterns(t), Memory: 300_000}
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	victim := addr("192.0.2.66")
	b := victim.As4()
	home := e.states.home(filter.KeyOf(b[:]))
	for _, a := range chosen(200, func(k filter.Key) bool { return e.states.home(k) == home }) {
		e.Step(a, 'x', 0)
	}
	e.Step(victim, 'x', 0)
	e.Step(victim, 'x', 0)
	if v := e.Step(victim, 'x', 0); v.Action != Ban {
		t.Errorf("the third strike: %+v", v)
	}
	other, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if !e.config.Hash.Secret() || e.identify(victim) == other.identify(victim) {
		t.Error("the hash of two gates is the same, or has no secret")
	}
}

// TestChosenBansDoNotRejectAVictim covers the bits of victims in the banned set with bans,
// as an attacker does that knows the hash: hits are confirmed, whatever the hash is.
func TestChosenBansDoNotRejectAVictim(t *testing.T) {
	effort.OneGoroutine(t)
	const banned = 20_000
	e := gate(t, Config{Banned: banned, FPR: 0.1})
	for i := range uint32(banned) {
		e.Ban(source(i))
	}
	covered := 0
	for i := uint32(banned); i < 2*banned; i++ {
		if e.banned.MayContain(e.identify(source(i)).key) {
			covered++
		}
		if v := e.Step(source(i), 'q', 0); v.Action != Pass {
			t.Fatalf("%+v", v)
		}
	}
	if covered < banned/20 {
		t.Errorf("%d victims: the test shows nothing", covered)
	}
}

// TestAPacketFromTheFutureChangesNothingForOthers has strikes an hour apart, a window of
// ten minutes, and a packet of another user dated seventy years ahead.
func TestAPacketFromTheFutureChangesNothingForOthers(t *testing.T) {
	effort.OneGoroutine(t)
	e := gate(t, Config{Window: 10 * time.Minute})
	const now = int64(1_700_000_000_000_000_000)
	e.Step(v4('2'), 'x', now+70*365*24*int64(time.Hour))
	for i := range int64(5) {
		if v := e.Step(v4('1'), 'x', now+i*int64(time.Hour)); v.Action != Pass || v.Strikes != 1 {
			t.Errorf("strike %d: %+v", i, v)
		}
	}
}
