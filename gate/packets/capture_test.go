package packets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
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
		want  string // empty if it is passed over
	}{
		{"udp", layers.LinkTypeEthernet, parts(ether(etherIPv4), ip4("1.2.3.4", ipUDP, 0, udp(words))), "1.2.3.4 41424344 45464748"},
		{"rest of a word", layers.LinkTypeEthernet, parts(ether(etherIPv4), ip4("1.2.3.4", ipUDP, 0, udp(words+"IJK"))), "1.2.3.4 41424344 45464748"},
		{"padding behind the packet", layers.LinkTypeEthernet, parts(ether(etherIPv4), ip4("1.2.3.4", ipUDP, 0, udp("ABCD")), words), "1.2.3.4 41424344"},
		{"udp shorter than ip", layers.LinkTypeRaw, ip4("1.2.3.4", ipUDP, 0, append(udp("ABCD"), words...)), "1.2.3.4 41424344"},
		{"no payload", layers.LinkTypeRaw, ip4("1.2.3.4", ipUDP, 0, udp("")), "1.2.3.4"},
		{"tcp", layers.LinkTypeRaw, ip4("1.2.3.4", ipTCP, 0, tcp(1, 0, words)), "1.2.3.4 41424344 45464748"},
		{"tcp cut off", layers.LinkTypeRaw, ip4("1.2.3.4", ipTCP, 0, tcp(1, 0, words)[:12]), "1.2.3.4"},
		{"icmp", layers.LinkTypeRaw, ip4("1.2.3.4", ipICMP, 0, parts("........", "ABCD")), "1.2.3.4 41424344"},
		{"other transport", layers.LinkTypeRaw, ip4("1.2.3.4", 89, 0, udp(words)), "1.2.3.4"},
		{"first fragment", layers.LinkTypeRaw, ip4("1.2.3.4", ipUDP, 0x2000, udp(words)), "1.2.3.4 41424344 45464748"},
		{"later fragment", layers.LinkTypeRaw, ip4("1.2.3.4", ipUDP, 0x2003, udp(words)), "1.2.3.4"},
		{"vlan", layers.LinkTypeEthernet, parts(ether(etherVLAN), "\x00\x01\x08\x00", ip4("1.2.3.4", ipUDP, 0, udp("ABCD"))), "1.2.3.4 41424344"},
		{"two vlans", layers.LinkTypeEthernet, parts(ether(etherQinQ), "\x00\x01\x81\x00\x00\x02\x86\xdd", ip6("::5", ipUDP, udp("ABCD"))), "::5 41424344"},
		{"linux cooked", layers.LinkTypeLinuxSLL, parts(make([]byte, 14), "\x08\x00", ip4("1.2.3.4", ipUDP, 0, udp("ABCD"))), "1.2.3.4 41424344"},
		{"linux cooked 2", layers.LinkTypeLinuxSLL2, parts("\x86\xdd", make([]byte, 18), ip6("::5", ipUDP, udp("ABCD"))), "::5 41424344"},
		{"null", layers.LinkTypeNull, parts("\x02\x00\x00\x00", ip4("1.2.3.4", ipUDP, 0, udp("ABCD"))), "1.2.3.4 41424344"},
		{"ipv6", layers.LinkTypeRaw, ip6("2001:db8::1", ipTCP, tcp(1, 0, "ABCD")), "2001:db8::1 41424344"},
		{"mapped", layers.LinkTypeRaw, ip6("::ffff:1.2.3.4", ipUDP, udp("ABCD")), "1.2.3.4 41424344"},
		{"extensions", layers.LinkTypeRaw, ip6("::5", ipHopByHop, parts("\x3c\x00......", "\x33\x01", make([]byte, 14), "\x11\x01", make([]byte, 10), udp("ABCD"))), "::5 41424344"},
		{"fragment 6, first", layers.LinkTypeRaw, ip6("::5", ipFragment, parts("\x11\x00\x00\x01....", udp("ABCD"))), "::5 41424344"},
		{"fragment 6, later", layers.LinkTypeRaw, ip6("::5", ipFragment, parts("\x11\x00\x00\x09....", udp("ABCD"))), "::5"},
		{"extension without end", layers.LinkTypeRaw, ip6("::5", ipHopByHop, parts("\x00\xff......")), "::5"},
		{"arp", layers.LinkTypeEthernet, parts(ether(0x0806), make([]byte, 28)), ""},
		{"short", layers.LinkTypeEthernet, []byte("short"), ""},
		{"empty", layers.LinkTypeEthernet, nil, ""},
		{"short ip", layers.LinkTypeRaw, []byte("\x45\x00\x00"), ""},
		{"short ipv6", layers.LinkTypeRaw, []byte("\x60\x00\x00"), ""},
		{"bad header length", layers.LinkTypeRaw, append([]byte{0x44}, make([]byte, 40)...), ""},
		{"ip version 5", layers.LinkTypeRaw, append([]byte{0x50}, make([]byte, 40)...), ""},
	} {
		reader := mustOpen(t, bytes.NewReader(pcapOf(t, c.link, c.frame)), Options{})
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

// start is when the captures of the tests begin.
var start = time.Unix(1_700_000_000, 123_000)

func pcapOf(tb testing.TB, link layers.LinkType, frames ...[]byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := pcapgo.NewWriter(&b)
	if err := w.WriteFileHeader(65535, link); err != nil {
		tb.Fatal(err)
	}
	for i, f := range frames {
		if err := w.WritePacket(info(i, f), f); err != nil {
			tb.Fatal(err)
		}
	}
	return b.Bytes()
}

func pcapngOf(tb testing.TB, link layers.LinkType, frames ...[]byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := pcapgo.NewNgWriter(&b, link)
	if err != nil {
		tb.Fatal(err)
	}
	for i, f := range frames {
		if err := w.WritePacket(info(i, f), f); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func info(i int, frame []byte) gopacket.CaptureInfo {
	return gopacket.CaptureInfo{
		Timestamp: start.Add(time.Duration(i) * time.Second), CaptureLength: len(frame), Length: len(frame),
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
		"1 10.0.0.1", "2 10.0.0.1 41424344", "4 10.0.0.1 4d4e4f50", "5 2001:db8::1 61626364 65666768",
		"6 10.0.0.1 46474849", "7 10.0.0.1 46474849", "8 10.0.0.1 6c6f7374 20626566",
	}
	reassembled = []string{
		"1 10.0.0.1", "2 10.0.0.1 41424344", "4 10.0.0.1", "5 2001:db8::1 61626364 65666768",
		"6 10.0.0.1 45464748 494a4b4c 4d4e4f50", "7 10.0.0.1", "8 10.0.0.1", "8 10.0.0.1 6c6f7374 20626566",
	}
)

// TestSmallCapturesAreRead reads the captures that are kept in testdata.
func TestSmallCapturesAreRead(t *testing.T) {
	for name, data := range map[string][]byte{
		"small.pcap":   pcapOf(t, layers.LinkTypeEthernet, someFrames()...),
		"small.pcapng": pcapngOf(t, layers.LinkTypeEthernet, someFrames()...),
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
		for form, data := range map[string][]byte{"kept": kept, "new": data, "compressed": squeeze(kept)} {
			got, err := readAll(mustOpen(t, bytes.NewReader(data), Options{}))
			want(t, name+" "+form, got, segments)
			if !errors.Is(err, io.EOF) {
				t.Errorf("%s %s: %v", name, form, err)
			}
			got, err = readAll(mustOpen(t, bytes.NewReader(data), Options{Reassemble: true}))
			want(t, name+" "+form+" reassembled", got, reassembled)
			if !errors.Is(err, io.EOF) {
				t.Errorf("%s %s: %v", name, form, err)
			}
		}
	}
}

func TestCapturesHaveTimes(t *testing.T) {
	for _, data := range [][]byte{pcapOf(t, layers.LinkTypeEthernet, someFrames()...), pcapngOf(t, layers.LinkTypeEthernet, someFrames()...)} {
		r := mustOpen(t, bytes.NewReader(data), Options{})
		var p Packet
		for _, second := range []int64{0, 1, 3, 4} {
			if err := r.Read(&p); err != nil || p.At != start.UnixNano()+second*1e9 {
				t.Errorf("%d, %v; want %d", p.At, err, start.UnixNano()+second*1e9)
			}
		}
	}
}

// TestCutCapturesKeepWhatWasRead cuts captures at every place: what is there as a
// whole is read, and then there is an error that names the packet, unless the cut is
// between two.
func TestCutCapturesKeepWhatWasRead(t *testing.T) {
	for name, data := range map[string][]byte{
		"pcap":   pcapOf(t, layers.LinkTypeEthernet, someFrames()...),
		"pcapng": pcapngOf(t, layers.LinkTypeEthernet, someFrames()...),
	} {
		clean := 0
		for n := 4; n < len(data); n++ {
			r, err := Open(bytes.NewReader(data[:n]), Options{})
			if err != nil {
				continue
			}
			got, err := readAll(r)
			if len(got) > len(segments) || !slices.Equal(got, segments[:len(got)]) {
				t.Fatalf("%s cut at %d: %v", name, n, got)
			}
			if errors.Is(err, io.EOF) {
				clean++
				continue
			}
			// The third frame is not IP: behind it the number is one more.
			number := fmt.Sprintf("packets: packet [%d%d]: ", len(got)+1, len(got)+2)
			if ok, _ := regexp.MatchString(number, err.Error()); !ok || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s cut at %d, after %d packets: %v", name, n, len(got), err)
			}
		}
		// The end of the header, and of every packet but the last.
		if most := len(someFrames()) + 1; clean > most {
			t.Errorf("%s: %d cuts were taken for the end, at most %d are", name, clean, most)
		}
	}
}

func TestDamagedCapturesAreErrors(t *testing.T) {
	good := pcapOf(t, layers.LinkTypeEthernet, someFrames()...)
	goodNG := pcapngOf(t, layers.LinkTypeEthernet, someFrames()...)
	change := func(data []byte, at int, bytes ...byte) []byte {
		data = slices.Clone(data)
		copy(data[at:], bytes)
		return data
	}
	second := bytes.Index(goodNG, []byte("ABCDE")) - 54 - 28 // the block of the second packet
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"packet longer than any", change(good, 24+8, 0, 0, 0, 0xff), "packet 1: "},
		{"packet longer than it was", change(good, 24+8, 60), "packet 1: capture length exceeds original packet length: 60 > 54"},
		{"strange link", change(good, 20, 147), "capture: link type 147"},
		{"strange version", change(good, 4, 9), "capture: Unknown major version 9"},
		{"block longer than any", change(goodNG, second+4, 0, 0, 0, 0xff), "packet 2: offset"},
		{"block of odd length", change(goodNG, second+4, 33), "block of 33 bytes, must be a multiple of 4"},
		{"packet longer than its block", change(goodNG, second+20, 0xff), "too short for what is in it"},
		{"ends that disagree", change(goodNG, second+4, 88), "says"},
		{"strange interface", change(goodNG, second+8, 7), "packet 2: Interface id 7 not present"},
		{"strange order", change(goodNG, 8, 1), "capture: offset 0: byte order"},
	} {
		r, err := Open(bytes.NewReader(c.data), Options{})
		if err == nil {
			_, err = readAll(r)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := Open(strings.NewReader("text"), Options{Format: Capture}); err == nil {
		t.Error("text is opened as a capture")
	}
}

// TestRealCapturesAreReadWithoutError goes through the captures of the collection of
// real data, and counts what its description counts.
func TestRealCapturesAreReadWithoutError(t *testing.T) {
	data := os.Getenv("EVERBLOOM_DATA")
	if data == "" {
		t.Skip("EVERBLOOM_DATA does not say where the real data is")
	}
	files, err := filepath.Glob(filepath.Join(data, "pcap", "*.gz"))
	if err != nil || len(files) == 0 {
		t.Skipf("no captures in %s", data)
	}
	sources := map[string]int{
		"zeek-echo-connections.pcap.gz": 1, "zeek-dhcp_flood.pcap.gz": 500, "zeek-igmp-many-sources.pcap.gz": 150,
		"pcpp-example.pcap.gz": 26, "pcpp-example2.pcap.gz": 63, "suricata-defrag-spray-4096src.pcap.gz": 4096,
		"suricata-dhcp-request-flood.pcap.gz": 1, "tcpdump-pim-packet-assortment.pcap.gz": 5,
	}
	for _, path := range files {
		for _, reassemble := range []bool{false, true} {
			n, words, v4 := count(t, path, reassemble)
			name := filepath.Base(path)
			if w, ok := sources[name]; ok && len(v4) != w {
				t.Errorf("%s: %d IPv4 sources, want %d", name, len(v4), w)
			}
			t.Logf("%s, reassemble %t: %d packets, %d words, %d IPv4 sources", name, reassemble, n, words, len(v4))
		}
	}
}

func count(t *testing.T, path string, reassemble bool) (packets, words int, v4 map[netip.Addr]bool) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := mustOpen(t, file, Options{Reassemble: reassemble})
	v4 = map[netip.Addr]bool{}
	for {
		var p Packet
		err := r.Read(&p)
		if errors.Is(err, io.EOF) {
			return packets, words, v4
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		packets++
		words += len(p.Words)
		if p.Src.Is4() {
			v4[p.Src] = true
		}
	}
}

// FuzzOpen holds that no input makes a reader panic, go on for ever or take more
// memory than there are bytes.
func FuzzOpen(f *testing.F) {
	f.Add(pcapOf(f, layers.LinkTypeEthernet, someFrames()...), uint8(0))
	f.Add(pcapngOf(f, layers.LinkTypeEthernet, someFrames()...), uint8(1))
	f.Add(pcapngOf(f, layers.LinkTypeRaw, ip4("1.2.3.4", ipUDP, 0, udp("ABCD"))), uint8(0))
	f.Add([]byte("1.2.3.4 deadbeef\n? 1.2.3.4"), uint8(0))
	f.Add([]byte("\x01\x02\x03\x04\x00\x00\x00\x01\x02"), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, options uint8) {
		r, err := Open(bytes.NewReader(data), Options{Reassemble: options&1 != 0, Format: Format(options >> 1 & 3)})
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
		"pcap":   pcapOf(b, layers.LinkTypeEthernet, frames...),
		"pcapng": pcapngOf(b, layers.LinkTypeEthernet, frames...),
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

func BenchmarkBinary(b *testing.B) {
	data := bytes.Repeat(AppendBinary(nil, addr("1.2.3.4"), 5), 100_000)
	var r Reader
	var p Packet
	for b.Loop() {
		if r == nil || r.Read(&p) != nil {
			r = NewBinaryReader(bytes.NewReader(data))
		}
	}
}
