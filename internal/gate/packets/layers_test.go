package packets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"github.com/everbloom-go/everbloom/internal/capture/capturetest"
)

// udpTo returns a datagram to a port.
func udpTo(port uint16, payload []byte) []byte {
	b := udp(string(payload))
	binary.BigEndian.PutUint16(b[2:], port)
	return b
}

// inner is the packet that all layers below carry.
func inner() []byte { return ip4("9.9.9.9", ipUDP, 0, udp("EVIL")) }

func snap(kind uint16) []byte {
	return binary.BigEndian.AppendUint16([]byte("\xaa\xaa\x03\x00\x00\x00"), kind)
}

// TestLayersAreOpened has every way in which a packet is wrapped.
func TestLayersAreOpened(t *testing.T) {
	frame := parts(ether(etherIPv4), inner())
	outer := func(transport uint8, body ...any) []byte { return ip4("1.1.1.1", transport, 0, parts(body...)) }
	for name, c := range map[string]struct {
		link  layers.LinkType
		frame []byte
	}{
		"0x9100":           {1, parts(ether(etherOld), "\x00\x01\x81\x00\x00\x02\x08\x00", inner())},
		"MPLS":             {1, parts(ether(etherMPLS), "\x00\x01\x00\xff\x00\x02\x01\xff", inner())},
		"MPLS, Ethernet":   {1, parts(ether(etherMPLS), "\x00\x02\x01\xff", "\x00\x00\x00\x00", frame)},
		"PPPoE":            {1, parts(ether(etherPPPoE), "\x11\x00\x00\x01\x00\x22\x00\x21", inner())},
		"PPPoE in QinQ":    {1, parts(ether(etherQinQ), "\x00\x01\x88\x64", "\x11\x00\x00\x01\x00\x22\x21", inner())},
		"802.1ah":          {1, parts(ether(etherMAC), "....", frame)},
		"VNTag":            {1, parts(ether(etherVNTag), "....\x08\x00", inner())},
		"E-Tag":            {1, parts(ether(etherETag), "......\x08\x00", inner())},
		"802.1CB":          {1, parts(ether(etherRTag), "....\x08\x00", inner())},
		"FabricPath":       {1, parts(ether(etherFabric), "..", frame)},
		"NSH":              {1, parts(ether(etherNSH), "\x00\x02\x01\x01....", inner())},
		"NSH, Ethernet":    {1, parts(ether(etherNSH), "\x00\x02\x01\x03....", frame)},
		"SNAP":             {1, parts(ether(60), snap(etherIPv4), inner())},
		"FDDI":             {10, parts(make([]byte, 13), snap(etherIPv4), inner())},
		"token ring":       {6, parts(make([]byte, 14), snap(etherIPv4), inner())},
		"token ring route": {6, parts(make([]byte, 8), "\x80.....", "\x06.....", snap(etherIPv4), inner())},
		"PPP":              {9, parts("\xff\x03\x00\x21", inner())},
		"PPP, short":       {9, parts("\x21", inner())},
		"PPP, MPLS":        {9, parts("\x02\x81\x00\x02\x01\xff", inner())},
		"Cisco HDLC":       {104, parts("\x0f\x00\x08\x00", inner())},
		"NFLOG":            {239, parts("\x02\x00\x00\x00", "\x05\x00\x0a\x00x\x00\x00\x00", "\x24\x00\x09\x00", inner())},
		"NFLOG, big":       {239, parts("\x02\x00\x00\x00", "\x00\x05\x00\x0ax\x00\x00\x00", "\x00\x24\x00\x09", inner())},
		"802.11":           {105, parts("\x08\x01", make([]byte, 22), snap(etherIPv4), inner())},
		"802.11 QoS, WDS":  {105, parts("\x88\x03", make([]byte, 30), snap(etherIPv4), inner())},
		"radiotap":         {127, parts("\x00\x00\x08\x00....", "\x08\x02", make([]byte, 22), snap(etherIPv4), inner())},
		"IP in IP":         {101, outer(ipInIP, inner())},
		"IPv6 in IP":       {101, outer(ip6InIP, ip6("::9", ipUDP, udp("EVIL")))},
		"GRE":              {101, outer(ipGRE, "\x00\x00\x08\x00", inner())},
		"GRE, all fields":  {101, outer(ipGRE, "\xb0\x00\x08\x00............", inner())},
		"GRE, Ethernet":    {101, outer(ipGRE, "\x00\x00\x65\x58", frame)},
		"ERSPAN":           {101, outer(ipGRE, "\x10\x00\x88\xbe....", "........", frame)},
		"PPTP":             {101, outer(ipGRE, "\x30\x81\x88\x0b............", "\xff\x03\x00\x21", inner())},
		"VXLAN":            {101, outer(ipUDP, udpTo(portVXLAN, parts("\x08\x00\x00\x00....", frame)))},
		"Geneve":           {101, outer(ipUDP, udpTo(portGeneve, parts("\x01\x00\x65\x58........", frame)))},
		"GTP":              {101, outer(ipUDP, udpTo(portGTP, parts("\x30\xff......", inner())))},
		"GTP, extended":    {101, outer(ipUDP, udpTo(portGTP, parts("\x34\xff......", "...\x85", "\x01..\x00", inner())))},
		"Teredo":           {101, outer(ipUDP, udpTo(portTeredo, parts("\x00\x00......", ip6("::9", ipUDP, udp("EVIL")))))},
		"authenticated":    {101, outer(ipAuth, "\x11\x04", make([]byte, 22), udp("EVIL"))},
		"SCTP":             {101, outer(ipSCTP, make([]byte, 12), "EVIL")},
		"three of them":    {101, outer(ipInIP, outer(ipGRE, "\x00\x00\x08\x00", outer(ipUDP, udpTo(portVXLAN, parts("\x08\x00\x00\x00....", frame)))))},
	} {
		for _, innermost := range []bool{false, true} {
			r := mustOpen(t, bytes.NewReader(capturetest.Pcap(t, c.link, c.frame)), Options{Inner: innermost})
			var p Packet
			if err := r.Read(&p); err != nil || !strings.HasSuffix(string(p.Payload), "EVIL") {
				t.Errorf("%s: %v, %v, skipped %v", name, record(p), err, Skipped(r))
			}
			if c.link == 101 && !innermost && p.Src != addr("1.1.1.1") {
				t.Errorf("%s: the source is %v", name, p.Src)
			}
			if innermost && p.Src != p.From {
				t.Errorf("%s: the source is %v, inside is %v", name, p.Src, p.From)
			}
		}
	}
}

// TestWhatIsSkippedIsNamed counts frames that are not IP.
func TestWhatIsSkippedIsNamed(t *testing.T) {
	for _, c := range []struct {
		link  layers.LinkType
		frame string
		want  string
	}{
		{1, string(ether(0x0806)), "ARP"},
		{1, string(ether(0x88cc)), "LLDP"},
		{1, string(ether(0x1234)), "protocol 0x1234"},
		{1, string(parts(ether(60), "\x42\x42\x03.....")), "LLC 0x42"},
		{1, string(parts(ether(etherIPv4), "\x50")), "not IP"},
		{1, "", tooShort},
		{9, "\xc0\x21", "PPP 0xc021"},
		{105, "\x80\x00" + strings.Repeat(".", 30), "802.11 without data"},
		{105, "\x08\x40" + strings.Repeat(".", 30), "802.11, encrypted"},
		{239, "\x02\x00\x00\x00\x04\x00\x0a\x00", "NFLOG without a packet"},
		{147, "x", "link 147 (UnknownLinkType)"},
	} {
		r := mustOpen(t, bytes.NewReader(capturetest.Pcap(t, c.link, []byte(c.frame))), Options{})
		if got, err := readAll(r); len(got) != 0 || !errors.Is(err, io.EOF) || fmt.Sprint(Skipped(r)) != fmt.Sprintf("map[%s:1]", c.want) {
			t.Errorf("%q: %v, %v, skipped %v, want %s", c.frame, got, err, Skipped(r), c.want)
		}
	}
}

// TestRandomFramesAreHarmless has frames of bytes that mean something, in any order.
func TestRandomFramesAreHarmless(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for _, link := range []layers.LinkType{0, 1, 6, 9, 10, 51, 101, 104, 105, 113, 127, 239, 276} {
		for range 3000 {
			b := make([]byte, r.IntN(90))
			for i := range b {
				b[i] = "\x00\x01\x08\x45\x60\x11\x2f\x04\x29\x81\x88\x47\x64\x21\xaa\x03\xff\x09\x2c"[r.IntN(19)]
			}
			packet, what := network(link, b)
			if (packet == nil) == (what == "") {
				t.Fatalf("link %d, %x: %x, %q", link, b, packet, what)
			}
			if d, ok := dissect(packet); ok && d.piece == nil {
				_, _, _ = d.inside(), d.payload(), d.ports()
			}
		}
	}
}

// fragment returns a piece of a datagram.
func fragment(id uint16, offset int, more bool, body []byte) []byte {
	flags := uint16(offset / 8)
	if more {
		flags |= 0x2000
	}
	p := ip4("1.1.1.1", ipUDP, flags, body)
	binary.BigEndian.PutUint16(p[4:], id)
	return p
}

// TestFragmentsArePutTogether cuts datagrams, mixes the pieces up, and has some repeated.
func TestFragmentsArePutTogether(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 200 {
		text := make([]byte, 20+r.IntN(200))
		for i := range text {
			text[i] = 'a' + byte(r.IntN(26))
		}
		body := udp(string(text))
		var frames [][]byte
		for at := 0; at < len(body); {
			end := min(len(body), at+8*(1+r.IntN(6)))
			frames = append(frames, fragment(uint16(round), at, end < len(body), body[at:end]))
			if end-at >= 8 && r.IntN(3) == 0 {
				frames = append(frames, fragment(uint16(round), at, end < len(body), bytes.Repeat([]byte("X"), end-at))) // an attacker's, or so
			}
			at = end
		}
		if r.IntN(2) == 0 { // disorder, but the true piece of each first
			slices.Reverse(frames)
			frames = slices.DeleteFunc(frames, func(f []byte) bool { return bytes.Contains(f, []byte("XXXXXXXX")) })
		}
		got, err := readAll(mustOpen(t, bytes.NewReader(capturetest.Pcap(t, layers.LinkTypeRaw, frames...)), Options{}))
		if !errors.Is(err, io.EOF) || len(got) != len(frames) {
			t.Fatalf("seed %d, round %d: %d packets, %v", seed, round, len(got), err)
		}
		if len(frames) > 1 && !strings.Contains(strings.Join(got, "\n"), string(text)) {
			t.Fatalf("seed %d, round %d: %q not in %q", seed, round, text, got)
		}
	}
}

// TestFragmentsAreLimited sends pieces that never become whole.
func TestFragmentsAreLimited(t *testing.T) {
	f := newFragments()
	for i := range 3 * maxFragmentBytes / fragmentCost {
		d, _ := dissect(fragment(uint16(i), 8, true, []byte("waiting!")))
		d.piece.id = uint32(i)
		if f.add(&d) != nil {
			t.Fatal("whole")
		}
		if n := len(f.young) + len(f.old); n*(puzzleCost+fragmentCost) > 2*maxFragmentBytes+puzzleCost+2*fragmentCost {
			t.Fatalf("%d datagrams wait", n)
		}
	}
}
