package live

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
)

// TestNothingIsSparedBehindOtherLayers has a source that sends plain frames and one in another
// layer, where a chain may begin that the kernel does not see.
func TestNothingIsSparedBehindOtherLayers(t *testing.T) {
	w := newWire(t)
	x := openSparing(t)
	words := make([]byte, wordsBytes)
	if err := x.maps.words.Lookup(uint32(0), words); err != nil {
		t.Fatal(err)
	}
	six := frame("2001:db8::1", 0, "/bin")
	for i, layer := range []struct {
		name  string
		opens bool   // Go looks for IP inside
		head  string // behind the addresses of Ethernet
	}{
		{"MPLS", true, "\x88\x47\x00\x00\x11\x40"},
		{"PPPoE", true, "\x88\x64\x11\x00\x00\x01\x00\x22\x00\x21"},
		{"three tags", true, "\x81\x00\x00\x07\x81\x00\x00\x07\x81\x00\x00\x07\x08\x00"},
		{"an old tag", true, "\x92\x00\x00\x07\x08\x00"},
		{"LLC", true, "\x00\x40\xaa\xaa\x03\x00\x00\x00\x08\x00"},
		{"MPLS in LLC", true, "\x00\x40\xaa\xaa\x03\x00\x00\x00\x88\x47\x00\x00\x11\x40"},
		{"LLC in LLC", true, "\x00\x40\xaa\xaa\x03\x00\x00\x00\x00\x40\xaa\xaa\x03\x00\x00\x00\x08\x00"},
		{"IPv6 as IPv4", true, string(append([]byte{8, 0}, six[14:]...))},
		{"IPv4 as IPv6", true, "\x86\xdd"},
		{"spanning tree", false, "\x00\x40\x42\x42\x03\x00\x00\x00\x08\x00"},
		{"spanning tree of Cisco", false, "\x00\x40\xaa\xaa\x03\x00\x00\x0c\x01\x0b\x00\x00"},
		{"CDP", false, "\x00\x40\xaa\xaa\x03\x00\x00\x0c\x20\x00"},
		{"802.1X", false, "\x88\x8e\x01\x00"},
	} {
		if err := x.maps.words.Put(uint32(0), words); err != nil { // spares again
			t.Fatal(err)
		}
		src := fmt.Sprintf("10.5.0.%d", i+1)
		plain := frame(src, 0, "clean")
		w.send(plain, plain)
		if n := arrived(t, w, x, fmt.Sprintf("10.6.0.%d", i))[src]; n != 1 {
			t.Fatalf("%s: %d frames reach the gate before, of two", layer.name, n)
		}
		w.send(slices.Concat(plain[:12], []byte(layer.head), frame(src, 0, "/bin")[14:]), plain)
		if n := arrived(t, w, x, fmt.Sprintf("10.7.0.%d", i))[src]; n > 0 != layer.opens {
			t.Errorf("%s: %d frames reach the gate after", layer.name, n)
		}
	}
}

// TestWatchedUsersStayWatched has users that the kernel forgets, that it has no room for, and
// that write IPv4 as IPv6.
func TestWatchedUsersStayWatched(t *testing.T) {
	w := newWire(t)
	x := openXDP(t, Options{Spare: true, Patterns: [][]byte{[]byte("/bin/sh")}, Bans: 2})
	if ok, err := x.Sparing(); !ok {
		t.Fatal(err)
	}
	begin := func(src string) { w.send(frame(src, 0, "/bi")) }
	seen := func(src, end string) int {
		w.send(frame(src, 0, "clean"))
		return arrived(t, w, x, end)[src]
	}
	begin("10.8.0.1")
	for _, src := range []string{"10.8.0.1", "10.8.0.2"} {
		k := key(prefix(src + "/32"))
		_ = x.maps.known.Delete(k[:]) // as the kernel does for others
	}
	if seen("10.8.0.1", "10.9.0.1") != 2 || seen("10.8.0.2", "10.9.0.2") != 1 {
		t.Error("a forgotten user is not new, or no longer watched")
	}
	before := x.Counters()[Clean]
	w.send(frame("::ffff:10.8.0.1", 0, "n/s"), frame("::ffff:10.8.0.1", 0, "h"))
	if arrived(t, w, x, "10.9.0.3"); x.Counters()[Clean] != before {
		t.Error("a watched user is spared as IPv6")
	}
	if seen("10.8.0.2", "10.9.0.4") != 0 {
		t.Error("a clean datagram is not spared")
	}
	if users, all := x.Watched(); !all || !slices.Equal(users, []netip.Prefix{prefix("10.8.0.1/32")}) {
		t.Errorf("watched: %v, all %t", users, all)
	}
	begin("10.8.0.3")
	begin("10.8.0.4") // there is room for two
	if seen("10.8.0.4", "10.9.0.5") != 2 || seen("10.8.0.2", "10.9.0.6") != 1 {
		t.Error("a user that cannot be watched is spared")
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if users, all := x.Watched(); all || len(users) != 2 {
		t.Errorf("watched at the end: %v, all %t", users, all)
	}
	six := prefix("2001:db8:0:1::/64")
	x = openXDP(t, Options{Spare: true, Patterns: [][]byte{[]byte("/bin/sh")}, Watched: []netip.Prefix{prefix("10.8.0.5/32"), six}})
	if seen("10.8.0.5", "10.9.0.7") != 1 || seen("10.8.0.5", "10.9.0.8") != 1 {
		t.Error("a user that was watched before is spared")
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	users, all := x.Watched()
	own := func(p netip.Prefix) bool { return p.Addr().IsLinkLocalUnicast() } // of the kernel, which looks for routers
	if users = slices.DeleteFunc(users, own); !all || len(users) != 2 || !slices.Contains(users, six) {
		t.Errorf("watched at the end: %v, all %t", users, all)
	}
}
