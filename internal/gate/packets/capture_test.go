package packets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/everbloom-go/everbloom/internal/capture/capturetest"
)

var update = flag.Bool("update", false, "rewrite the captures in testdata")

// parts joins byte strings and layers, from the outermost inwards.
func parts(list ...any) (out []byte) {
	for _, p := range list {
		switch p := p.(type) {
		case string:
			out = append(out, p...)
		case []byte:
			out = append(out, p...)
		default:
			panic(p)
		}
	}
	return out
}

func ether(kind uint16) []byte { return binary.BigEndian.AppendUint16(make([]byte, 12), kind) }

// ip4 returns a header and its body; flags and offset of fragments in one.
func ip4(src string, transport uint8, fragment uint16, body []byte) []byte {
	h := make([]byte, 20)
	h[0], h[9] = 0x45, transport
	binary.BigEndian.PutUint16(h[2:], uint16(20+len(body)))
	binary.BigEndian.PutUint16(h[6:], fragment)
	a := addr(src).As4()
	copy(h[12:], a[:])
	return append(h, body...)
}

func ip6(src string, next uint8, body []byte) []byte {
	h := make([]byte, 40)
	h[0], h[6] = 0x60, next
	binary.BigEndian.PutUint16(h[4:], uint16(len(body)))
	a := addr(src).As16()
	copy(h[8:], a[:])
	return append(h, body...)
}

func udp(payload string) []byte {
	h := make([]byte, 8)
	binary.BigEndian.PutUint16(h[4:], uint16(8+len(payload)))
	return append(h, payload...)
}

// tcp returns a segment between fixed ports.
func tcp(seq uint32, flags uint8, payload string) []byte {
	h := make([]byte, 20)
	h[1], h[3] = 1, 2
	binary.BigEndian.PutUint32(h[4:], seq)
	h[12], h[13] = 5<<4, flags
	return append(h, payload...)
}

func TestFramesAreTakenApart(t *testing.T) {
	const words = "ABCDEFGH" // 41424344 45464748
	for _, c := range []struct {
		name  string
		link  layers.LinkType
		frame []byte
		want  string // empty if it is skipped
	}{
		{"udp", layers.LinkTypeEthernet, parts(ether(etherIPv4), ip4("1.2.3.4", ipUDP, 0, udp(words))), "1.2.3.4 ABCDEFGH"},
		{"rest of a word", layers.LinkTypeEthernet, parts(ether(etherIPv4), ip4("1.2.3.4", ipUDP, 0, udp(words+"IJK"))), "1.2.3.4 ABCDEFGHIJK"},
		{"padding behind the packet", layers.LinkTypeEthernet, parts(ether(etherIPv4), ip4("1.2.3.4", ipUDP, 0, udp("ABCD")), words), "1.2.3.4 ABCD"},
		{"udp shorter than ip", layers.LinkTypeRaw, ip4("1.2.3.4", ipUDP, 0, append(udp("ABCD"), words...)), "1.2.3.4 ABCD"},
		{"no payload", layers.LinkTypeRaw, ip4("1.2.3.4", ipUDP, 0, udp("")), "1.2.3.4"},
		{"tcp", layers.LinkTypeRaw, ip4("1.2.3.4", ipTCP, 0, tcp(1, 0, words)), "1.2.3.4 ABCDEFGH"},
		{"tcp cut off", layers.LinkTypeRaw, ip4("1.2.3.4", ipTCP, 0, tcp(1, 0, words)[:12]), "1.2.3.4"},
		{"icmp", layers.LinkTypeRaw, ip4("1.2.3.4", ipICMP, 0, parts("........", "ABCD")), "1.2.3.4 ABCD"},
		{"other transport", layers.LinkTypeRaw, ip4("1.2.3.4", 89, 0, []byte(words)), "1.2.3.4 ABCDEFGH"},
		{"first fragment", layers.LinkTypeRaw, ip4("1.2.3.4", ipUDP, 0x2000, udp(words)), "1.2.3.4"},
		{"later fragment", layers.LinkTypeRaw, ip4("1.2.3.4", ipUDP, 0x2003, udp(words)), "1.2.3.4"},
		{"vlan", layers.LinkTypeEthernet, parts(ether(etherVLAN), "\x00\x01\x08\x00", ip4("1.2.3.4", ipUDP, 0, udp("ABCD"))), "1.2.3.4 ABCD"},
		{"two vlans", layers.LinkTypeEthernet, parts(ether(etherQinQ), "\x00\x01\x81\x00\x00\x02\x86\xdd", ip6("::5", ipUDP, udp("ABCD"))), "::5 ABCD"},
		{"linux cooked", layers.LinkTypeLinuxSLL, parts(make([]byte, 14), "\x08\x00", ip4("1.2.3.4", ipUDP, 0, udp("ABCD"))), "1.2.3.4 ABCD"},
		{"linux cooked 2", layers.LinkTypeLinuxSLL2, parts("\x86\xdd", make([]byte, 18), ip6("::5", ipUDP, udp("ABCD"))), "::5 ABCD"},
		{"null", layers.LinkTypeNull, parts("\x02\x00\x00\x00", ip4("1.2.3.4", ipUDP, 0, udp("ABCD"))), "1.2.3.4 ABCD"},
		{"ipv6", layers.LinkTypeRaw, ip6("2001:db8::1", ipTCP, tcp(1, 0, "ABCD")), "2001:db8::1 ABCD"},
		{"mapped", layers.LinkTypeRaw, ip6("::ffff:1.2.3.4", ipUDP, udp("ABCD")), "1.2.3.4 ABCD"},
		{"extensions", layers.LinkTypeRaw, ip6("::5", ipHopByHop, parts("\x3c\x00......", "\x33\x01", make([]byte, 14), "\x11\x01", make([]byte, 10), udp("ABCD"))), "::5 ABCD"},
		{"fragment 6, first", layers.LinkTypeRaw, ip6("::5", ipFragment, parts("\x11\x00\x00\x01....", udp("ABCD"))), "::5"},
		{"fragment 6, only", layers.LinkTypeRaw, ip6("::5", ipFragment, parts("\x11\x00\x00\x00....", udp("ABCD"))), "::5 ABCD"},
		{"fragment 6, later", layers.LinkTypeRaw, ip6("::5", ipFragment, parts("\x11\x00\x00\x09....", udp("ABCD"))), "::5"},
		{"extension without end", layers.LinkTypeRaw, ip6("::5", ipHopByHop, parts("\x3b\xff......")), "::5"},
		{"arp", layers.LinkTypeEthernet, parts(ether(0x0806), make([]byte, 28)), ""},
		{"cooked arp", layers.LinkTypeLinuxSLL, parts(make([]byte, 14), "\x08\x06", make([]byte, 28)), ""},
		{"short cooked", layers.LinkTypeLinuxSLL, []byte("short"), ""},
		{"short null", layers.LinkTypeNull, []byte("ab"), ""},
		{"only vlans", layers.LinkTypeEthernet, parts(ether(etherVLAN), "\x00\x01\x81\x00\x00\x02"), ""},
		{"short", layers.LinkTypeEthernet, []byte("short"), ""},
		{"empty", layers.LinkTypeEthernet, nil, ""},
		{"short ip", layers.LinkTypeRaw, []byte("\x45\x00\x00"), ""},
		{"short ipv6", layers.LinkTypeRaw, []byte("\x60\x00\x00"), ""},
		{"bad header length", layers.LinkTypeRaw, append([]byte{0x44}, make([]byte, 40)...), ""},
		{"ip version 5", layers.LinkTypeRaw, append([]byte{0x50}, make([]byte, 40)...), ""},
	} {
		reader := mustOpen(t, bytes.NewReader(capturetest.Pcap(t, c.link, c.frame)), Options{})
		got, err := readAll(reader)
		var list []string
		if c.want != "" {
			list = []string{"1 " + c.want}
		}
		want(t, c.name, got, list)
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// someFrames are a conversation, an unrelated packet, and one that is not IP.
func someFrames() [][]byte {
	return [][]byte{
		parts(ether(etherIPv4), ip4("10.0.0.1", ipTCP, 0, tcp(99, 2, ""))),
		parts(ether(etherIPv4), ip4("10.0.0.1", ipTCP, 0, tcp(100, 0, "ABCDE"))),
		parts(ether(0x0806), make([]byte, 28)),
		parts(ether(etherIPv4), ip4("10.0.0.1", ipTCP, 0, tcp(112, 0, "MNOP"))),
		parts(ether(etherIPv6), ip6("2001:db8::1", ipUDP, udp("abcdefgh"))),
		parts(ether(etherIPv4), ip4("10.0.0.1", ipTCP, 0, tcp(105, 0, "FGHIJKL"))),
		parts(ether(etherIPv4), ip4("10.0.0.1", ipTCP, 0, tcp(105, 0, "FGHIJKL"))), // sent again
		parts(ether(etherIPv4), ip4("10.0.0.1", ipTCP, 0, tcp(200, 0, "lost before"))),
	}
}

var (
	segments = []string{
		"1 10.0.0.1", "2 10.0.0.1 ABCDE", "4 10.0.0.1 MNOP", "5 2001:db8::1 abcdefgh",
		"6 10.0.0.1 FGHIJKL", "7 10.0.0.1 FGHIJKL", "8 10.0.0.1 lost before",
	}
	reassembled = []string{
		"1 10.0.0.1", "2 10.0.0.1 ABCDE", "5 2001:db8::1 abcdefgh",
		"6 10.0.0.1 FGHIJKL", "4 10.0.0.1 MNOP", "7 10.0.0.1", "8 10.0.0.1 lost before",
	}
)

// TestSmallCapturesAreRead reads the captures that are kept in testdata.
func TestSmallCapturesAreRead(t *testing.T) {
	for name, data := range map[string][]byte{
		"small.pcap":   capturetest.Pcap(t, layers.LinkTypeEthernet, someFrames()...),
		"small.pcapng": capturetest.Pcapng(t, layers.LinkTypeEthernet, someFrames()...),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for form, data := range map[string][]byte{"kept": kept, "new": data, "compressed": capturetest.Gzip(t, kept)} {
			var p Packet
			if err := mustOpen(t, bytes.NewReader(data), Options{}).Read(&p); err != nil || p.At != capturetest.Start.UnixNano() {
				t.Errorf("%s %s: the first packet at %d, %v", name, form, p.At, err)
			}
			got, err := readAll(mustOpen(t, bytes.NewReader(data), Options{Segments: true}))
			want(t, name+" "+form, got, segments)
			if !errors.Is(err, io.EOF) {
				t.Errorf("%s %s: %v", name, form, err)
			}
			got, err = readAll(mustOpen(t, bytes.NewReader(data), Options{}))
			want(t, name+" "+form+" reassembled", got, reassembled)
			if !errors.Is(err, io.EOF) {
				t.Errorf("%s %s: %v", name, form, err)
			}
		}
	}
}

// TestOldCapturesAreRead has the version of the captures of the nineties.
func TestOldCapturesAreRead(t *testing.T) {
	data := capturetest.Pcap(t, layers.LinkTypeEthernet, someFrames()...)
	data[6] = 1
	got, err := readAll(mustOpen(t, bytes.NewReader(data), Options{}))
	want(t, "version 2.1", got, reassembled)
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestErrorsOfCapturesNameThePacket has a capture that is cut off in its sixth packet,
// the fifth that is IP: what was read stays, and streams give what they hold.
func TestErrorsOfCapturesNameThePacket(t *testing.T) {
	frames := someFrames()
	whole := capturetest.Pcap(t, layers.LinkTypeEthernet, frames[:5]...)
	data := append(whole, capturetest.Pcap(t, layers.LinkTypeEthernet, frames[5])[24:50]...)
	const problem = "packets: capture: packet 6: unexpected EOF"
	for reassemble, packets := range map[bool][]string{
		false: segments[:4],
		true:  append(slices.Clone(reassembled[:3]), "4 10.0.0.1 MNOP"),
	} {
		r := mustOpen(t, bytes.NewReader(data), Options{Segments: !reassemble})
		got, err := readAll(r)
		want(t, "cut", got, packets)
		if !errors.Is(err, io.ErrUnexpectedEOF) || err.Error() != problem {
			t.Errorf("reassemble %t: %v, want %s", reassemble, err, problem)
		}
		if again := r.Read(&Packet{}); again == nil || again.Error() != problem {
			t.Errorf("reassemble %t: read again, %v", reassemble, again)
		}
	}
}

func TestCapturesThatCannotBeOpenedAreErrors(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"text":         {"text", "packets: capture: the first bytes are not"},
		"nothing":      {"", "packets: capture: the first bytes are not"},
		"not gzip":     {"\x1f\x8b\xff not at all", "packets: capture: the first bytes are not"},
		"cut off gzip": {"\x1f\x8b\x08\x00", "packets: unexpected EOF"},
	} {
		if _, err := Open(strings.NewReader(c.data), Options{Format: Capture}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestUnknownLinksAreSkipped has an interface of another sort beside one of raw IP.
func TestUnknownLinksAreSkipped(t *testing.T) {
	var b bytes.Buffer
	w, err := pcapgo.NewNgWriter(&b, layers.LinkTypeRaw)
	if err != nil {
		t.Fatal(err)
	}
	other, err := w.AddInterface(pcapgo.NgInterface{LinkType: 147})
	if err != nil {
		t.Fatal(err)
	}
	frame := ip4("1.2.3.4", ipUDP, 0, udp("ABCD"))
	for _, link := range []int{other, 0} {
		info := gopacket.CaptureInfo{InterfaceIndex: link, CaptureLength: len(frame), Length: len(frame)}
		if err := w.WritePacket(info, frame); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, &b, Options{})
	got, err := readAll(r)
	want(t, "mixed links", got, []string{"2 1.2.3.4 ABCD"})
	if !errors.Is(err, io.EOF) || fmt.Sprint(Skipped(r)) != "map[link 147 (UnknownLinkType):1]" {
		t.Errorf("%v, skipped %v", err, Skipped(r))
	}
}

// FuzzOpen holds that no input makes a reader panic, go on for ever or take more
// memory than there are bytes.
func FuzzOpen(f *testing.F) {
	f.Add(capturetest.Pcap(f, layers.LinkTypeEthernet, someFrames()...), uint8(0))
	f.Add(capturetest.Pcapng(f, layers.LinkTypeEthernet, someFrames()...), uint8(1))
	f.Add(capturetest.Pcapng(f, layers.LinkTypeRaw, ip4("1.2.3.4", ipUDP, 0, udp("ABCD"))), uint8(0))
	f.Add([]byte("1.2.3.4 deadbeef\n? 1.2.3.4"), uint8(0))
	f.Add([]byte("\x01\x02\x03\x04\x00\x00\x00\x01\x02"), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, options uint8) {
		r, err := Open(bytes.NewReader(data), Options{Segments: options&1 != 0, Inner: options&8 != 0, Format: []Format{Auto, Binary, Text, Capture}[options>>1&3]})
		if err != nil {
			return
		}
		var p Packet
		for n := 0; r.Read(&p) == nil; n++ {
			if n > len(data) {
				t.Fatalf("%d packets in %d bytes", n, len(data))
			}
			if !p.Src.IsValid() || p.Number == 0 {
				t.Fatalf("packet %+v", p)
			}
		}
	})
}

func BenchmarkCapture(b *testing.B) {
	frames := make([][]byte, 1000)
	for i := range frames {
		frames[i] = parts(ether(etherIPv4), ip4(fmt.Sprintf("10.0.%d.%d", i/256, i%256), ipTCP, 0, tcp(1, 0, strings.Repeat("payload.", 8))))
	}
	for name, data := range map[string][]byte{
		"pcap":   capturetest.Pcap(b, layers.LinkTypeEthernet, frames...),
		"pcapng": capturetest.Pcapng(b, layers.LinkTypeEthernet, frames...),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var r Reader
			var p Packet
			for b.Loop() {
				if r == nil || r.Read(&p) != nil {
					r, _ = Open(bytes.NewReader(data), Options{})
				}
			}
		})
	}
}
