package live

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/capture"
)

var spared = []pattern.Pattern{
	{Name: "a", Bytes: []byte("/bin/sh")}, {Name: "b", Bytes: []byte("eVil"), NoCase: true}, {Name: "c", Bytes: []byte("\xde\xad\xbe\xef\x00")},
}

func openSparing(t *testing.T) *XDP {
	t.Helper()
	o := Options{Spare: true}
	for _, p := range spared {
		o.Patterns = append(o.Patterns, p.Bytes)
	}
	x := openXDP(t, o)
	if ok, err := x.Sparing(); !ok {
		t.Fatalf("nothing is spared: %v", err)
	}
	return x
}

// arrived returns the sources of frames of IPv4 that reached the gate before one of the source
// that ends them, which has not sent any yet.
func arrived(t *testing.T, w *wire, x *XDP, end string) map[string]int {
	t.Helper()
	w.send(frame(end, 0, "the end"))
	x.ring.SetDeadline(time.Now().Add(time.Minute))
	all := map[string]int{}
	for {
		var f capture.Frame
		if err := x.Read(&f); err != nil {
			t.Fatalf("%v: %v", err, x.Counters())
		}
		at := 14
		if f.Data[12] == 0x81 {
			at = 18
		}
		if f.Data[at]>>4 != 4 {
			continue // the kernel's own
		}
		src := netip.AddrFrom4([4]byte(f.Data[at+12 : at+16])).String()
		if src == end {
			return all
		}
		all[src]++
	}
}

// TestCleanDatagramsAreSpared has a datagram of each source, after its first one: it must
// reach the gate if it begins or completes a pattern, and most others must not.
func TestCleanDatagramsAreSpared(t *testing.T) {
	list, err := pattern.Compile(spared)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := list.Stream()
	if err != nil {
		t.Fatal(err)
	}
	w := newWire(t)
	x := openSparing(t)
	r := rand.New(rand.NewPCG(3, 0))
	const sources = 600
	source := func(i int) string { return fmt.Sprintf("10.1.%d.%d", i/250, i%250) }
	sent := make([]string, sources)
	for i := range sent {
		b := make([]byte, r.IntN(40))
		if i == 0 {
			b = make([]byte, 1400) // the longest that a frame has
		}
		for j := range b {
			b[j] = "abcxyz. \x00\xdeE"[r.IntN(11)]
		}
		if part := spared[r.IntN(3)].Bytes; i%2 == 0 { // a piece of a pattern, often at the end
			b = append(append(b, part[:1+r.IntN(len(part))]...), "zzzz"[:r.IntN(2)*r.IntN(4)]...)
		}
		sent[i] = string(b)
		w.send(frame(source(i), 0, "first"))
	}
	if all := arrived(t, w, x, "10.9.9.1"); len(all) != sources {
		t.Fatalf("%d first frames of %d", len(all), sources)
	}
	for i, payload := range sent {
		w.send(frame(source(i), i%2, payload))
	}
	all := arrived(t, w, x, "10.9.9.2")
	clean := 0
	for i, payload := range sent {
		node, match := stream.Find(0, []byte(payload))
		switch must := node != 0 || match >= 0; {
		case must && all[source(i)] != 1:
			t.Errorf("%q did not reach the gate", payload)
		case !must && all[source(i)] == 0:
			clean++
		}
	}
	if clean < sources/4 || x.Counters()[Clean] != uint64(clean) {
		t.Errorf("%d datagrams of %d are spared: %v", clean, sources, x.Counters())
	}
	for i := range sources { // those that began a pattern are watched for good
		w.send(frame(source(i), 0, "zzzz"))
	}
	for i := range sources {
		all[source(i)] *= 2
	}
	again := arrived(t, w, x, "10.9.9.3")
	for i := range sources {
		if again[source(i)]*2 != all[source(i)] {
			t.Fatalf("%q: %d frames before, %d after", sent[i], all[source(i)]/2, again[source(i)])
		}
	}
}

// TestOnlyWhatIsUnderstoodIsSpared has the same clean payload in several forms.
func TestOnlyWhatIsUnderstoodIsSpared(t *testing.T) {
	w := newWire(t)
	x := openSparing(t)
	change := func(do func(ip []byte)) []byte {
		f := frame("10.1.1.1", 0, "clean and long enough for TCP")
		do(f[14:])
		return f
	}
	tcp := func(flags byte, length uint16) func([]byte) {
		return func(ip []byte) {
			ip[9], ip[20+12], ip[20+13] = 6, 5<<4, flags
			binary.BigEndian.PutUint16(ip[2:], length)
		}
	}
	forms := []struct {
		name  string
		clean bool
		frame []byte
	}{
		{"a datagram", true, change(func([]byte) {})},
		{"an acknowledgement", true, change(tcp(0x10, 40))},
		{"a segment with data", false, change(tcp(0x10, 45))},
		{"the end of a stream", false, change(tcp(0x11, 40))},
		{"ICMP", false, change(func(ip []byte) { ip[9] = 1 })},
		{"a fragment", false, change(func(ip []byte) { ip[6] = 0x20 })},
		{"the last fragment", false, change(func(ip []byte) { ip[7] = 9 })},
		{"options", false, change(func(ip []byte) { ip[0] = 0x46 })},
		{"a tunnel", false, change(func(ip []byte) { binary.BigEndian.PutUint16(ip[22:], 4789) })},
		{"GRE", false, change(func(ip []byte) { ip[9] = 47 })},
		{"a short length", false, change(func(ip []byte) { ip[25]-- })},
		{"a length beyond the frame", false, change(func(ip []byte) { ip[3]++; ip[25]++ })},
	}
	for i, form := range forms {
		src := fmt.Sprintf("10.2.0.%d", i+1)
		copy(form.frame[26:], netip.MustParseAddr(src).AsSlice())
		w.send(frame(src, 0, "first"), form.frame)
		if n := arrived(t, w, x, fmt.Sprintf("10.3.0.%d", i))[src]; n != 2 != form.clean {
			t.Errorf("%s: %d frames reach the gate, of two", form.name, n)
		}
	}
	six := frame("2001:db8::1", 0, strings.Repeat("x", 100))
	before := x.Counters()[Clean]
	w.send(six, six, frame("2001:db8::2", 0, "/bin"), six) // one user, which is watched then
	arrived(t, w, x, "10.4.0.1")
	if n := x.Counters()[Clean] - before; n != 1 {
		t.Errorf("%d datagrams of IPv6 are spared", n)
	}
	if err := x.Unban(prefix("10.2.0.1/32")); err != nil {
		t.Fatal(err)
	}
	w.send(frame("10.2.0.1", 0, "clean"))
	if n := arrived(t, w, x, "10.4.0.2")["10.2.0.1"]; n != 1 {
		t.Error("a user whose ban has ended is not seen by the gate")
	}
}

func TestShortPatternsSpareNothing(t *testing.T) {
	if wordsOf([][]byte{[]byte("long"), []byte("sho")}) != nil || wordsOf(nil) == nil {
		t.Error("a pattern without a word")
	}
}
