package packets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"
)

// ng writes pcapng blocks by hand, in either byte order.
type ng struct {
	order binary.AppendByteOrder
	bytes.Buffer
}

// block writes a block with a body, padded to whole words.
func (n *ng) block(kind uint32, body ...[]byte) {
	data := bytes.Join(body, nil)
	for len(data)%4 != 0 {
		data = append(data, 0)
	}
	length := uint32(len(data) + 12)
	n.Write(n.order.AppendUint32(n.order.AppendUint32(nil, kind), length))
	n.Write(data)
	n.Write(n.order.AppendUint32(nil, length))
}

func (n *ng) u32(values ...uint32) (out []byte) {
	for _, v := range values {
		out = n.order.AppendUint32(out, v)
	}
	return out
}

func (n *ng) u16(values ...uint16) (out []byte) {
	for _, v := range values {
		out = n.order.AppendUint16(out, v)
	}
	return out
}

// begin writes a section and an interface of raw IP, whose times are in
// milliseconds.
func (n *ng) begin() {
	n.block(blockSection, n.u32(byteOrderMagic), n.u16(1, 0), bytes.Repeat([]byte{0xff}, 8), n.u16(2, 3), []byte("pc\x00\x00"), n.u32(0))
	n.block(blockInterface, n.u16(uint16(layers.LinkTypeRaw), 0), n.u32(1<<31), n.u16(9, 1), []byte{3, 0, 0, 0}, n.u32(0))
}

func (n *ng) packet(milliseconds uint64, data []byte, options ...[]byte) {
	padded := append(bytes.Clone(data), make([]byte, (4-len(data)%4)%4)...)
	n.block(blockPacket, n.u32(0, uint32(milliseconds>>32), uint32(milliseconds), uint32(len(data)), uint32(len(data))), padded, bytes.Join(options, nil))
}

// TestAllSortsOfBlocksAreRead has blocks of every kind, in both byte orders, some of
// which a reader may well not know.
func TestAllSortsOfBlocksAreRead(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		n := &ng{order: order}
		n.begin()
		data := ip4("1.2.3.4", ipUDP, 0, udp("ABCD"))
		n.packet(1_700_000_000_123, data, n.u16(1, 5), []byte("hello\x00\x00\x00"), n.u16(2, 1), []byte{1, 0, 0, 0}) // flags too short
		n.block(4, n.u16(1, 300), []byte("a name record that is cut off"))
		n.block(0x0bad, []byte("nobody knows"))
		n.block(blockSimple, n.u32(uint32(len(data))), data)
		n.block(blockSimple, n.u32(9000), data) // cut off when it was captured
		n.block(blockOldPacket, n.u16(0, 0), n.u32(0, 5000, uint32(len(data)), uint32(len(data))), data)
		n.block(5, n.u32(0, 0, 0), n.u16(4, 1), []byte{9, 0, 0, 0}) // statistics
		n.begin()                                                   // another section
		n.packet(1_700_000_000_456, ip6("::5", ipUDP, udp("EFGH")))
		got, err := readAll(mustOpen(t, bytes.NewReader(n.Bytes()), Options{}))
		want(t, "blocks", got, []string{
			"1 1.2.3.4 41424344", "2 1.2.3.4 41424344", "3 1.2.3.4 41424344", "4 1.2.3.4 41424344", "5 ::5 45464748",
		})
		if !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		r := mustOpen(t, bytes.NewReader(n.Bytes()), Options{})
		var p Packet
		if err := r.Read(&p); err != nil || p.At != 1_700_000_000_123_000_000 {
			t.Errorf("time %d, %v", p.At, err)
		}
	}
}

func TestBlocksThatLieAreErrors(t *testing.T) {
	for name, write := range map[string]func(n *ng){
		"options longer than the block": func(n *ng) {
			n.block(blockInterface, n.u16(1, 0), n.u32(0), n.u16(2, 60_000), []byte("x..."))
		},
		"interface without fields":     func(n *ng) { n.block(blockInterface, n.u16(1, 0)) },
		"packet without fields":        func(n *ng) { n.block(blockPacket, n.u32(0, 0)) },
		"simple packet without length": func(n *ng) { n.block(blockSimple) },
		"section without version":      func(n *ng) { n.block(blockSection, n.u32(byteOrderMagic)) },
		"section of another version":   func(n *ng) { n.block(blockSection, n.u32(byteOrderMagic), n.u16(7, 7), make([]byte, 8)) },
		"clock that divides by zero": func(n *ng) {
			n.block(blockSection, n.u32(byteOrderMagic), n.u16(1, 0), make([]byte, 8))
			n.block(blockInterface, n.u16(101, 0), n.u32(0), n.u16(9, 1), []byte{0xff, 0, 0, 0})
			n.packet(1, ip4("1.2.3.4", ipUDP, 0, udp("ABCD")))
		},
	} {
		n := &ng{order: binary.LittleEndian}
		n.begin()
		n.packet(1, ip4("1.2.3.4", ipUDP, 0, udp("ABCD")))
		write(n)
		got, err := readAll(mustOpen(t, bytes.NewReader(n.Bytes()), Options{}))
		if len(got) != 1 || errors.Is(err, io.EOF) || !strings.HasPrefix(err.Error(), "packets: packet 2: ") {
			t.Errorf("%s: %d packets, then %v", name, len(got), err)
		}
	}
	if _, err := Open(strings.NewReader("\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x00\x00\x00\x00"), Options{}); err == nil {
		t.Error("a section without byte order is opened")
	}
}

// TestLinksThatAreNotKnownArePassedOver has an interface of another sort among
// others; a whole pcap file of it is an error.
func TestLinksThatAreNotKnownArePassedOver(t *testing.T) {
	n := &ng{order: binary.BigEndian}
	n.begin()
	n.block(blockInterface, n.u16(147, 0), n.u32(0))
	data := ip4("1.2.3.4", ipUDP, 0, udp("ABCD"))
	n.block(blockPacket, n.u32(1, 0, 0, uint32(len(data)), uint32(len(data))), data)
	n.packet(1, data)
	got, _ := readAll(mustOpen(t, bytes.NewReader(n.Bytes()), Options{}))
	want(t, "mixed links", got, []string{"2 1.2.3.4 41424344"})
}

// TestStreamsEndAndBeginAgain has a connection that is closed, one that nobody saw
// begin, and one whose segment is damaged.
func TestStreamsEndAndBeginAgain(t *testing.T) {
	frames := [][]byte{
		ip4("10.0.0.1", ipTCP, 0, tcp(1, 2, "")),
		ip4("10.0.0.1", ipTCP, 0, tcp(2, 1, "ABCDEF")), // and the end: EF is lost
		ip4("10.0.0.1", ipTCP, 0, tcp(900, 2, "")),
		ip4("10.0.0.1", ipTCP, 0, tcp(901, 0, "GHIJ")),
		ip4("10.0.0.2", ipTCP, 0, tcp(500, 0, "never began")),
		ip4("10.0.0.3", ipTCP, 0, tcp(1, 0, "cut")[:10]),
		ip6("2001:db8::9", ipTCP, tcp(7, 2, "")),
		ip6("2001:db8::9", ipTCP, tcp(8, 0, "K")),
		ip6("2001:db8::9", ipTCP, tcp(9, 0, "LMN")),
	}
	got, err := readAll(mustOpen(t, bytes.NewReader(pcapOf(t, layers.LinkTypeRaw, frames...)), Options{Reassemble: true}))
	want(t, "streams", got, []string{
		"1 10.0.0.1", "2 10.0.0.1 41424344", "3 10.0.0.1", "4 10.0.0.1 4748494a", "5 10.0.0.2", "6 10.0.0.3",
		"7 2001:db8::9", "8 2001:db8::9", "9 2001:db8::9 4b4c4d4e", "9 10.0.0.2 6e657665 72206265",
	})
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestFramesThatAreNotIPArePassedOver(t *testing.T) {
	for name, c := range map[string]struct {
		link  layers.LinkType
		frame []byte
	}{
		"cooked arp":   {layers.LinkTypeLinuxSLL, parts(make([]byte, 14), "\x08\x06", make([]byte, 28))},
		"short cooked": {layers.LinkTypeLinuxSLL, []byte("short")},
		"short null":   {layers.LinkTypeNull, []byte("ab")},
		"only vlans":   {layers.LinkTypeEthernet, parts(ether(etherVLAN), "\x00\x01\x81\x00\x00\x02")},
	} {
		got, err := readAll(mustOpen(t, bytes.NewReader(pcapOf(t, c.link, c.frame)), Options{}))
		if len(got) != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestRealListsAreRead reads block lists of the collection of real data.
func TestRealListsAreRead(t *testing.T) {
	data := os.Getenv("EVERBLOOM_DATA")
	if data == "" {
		t.Skip("EVERBLOOM_DATA does not say where the real data is")
	}
	file, err := os.Open(filepath.Join(data, "ip", "ipsum.txt.gz"))
	if err != nil {
		t.Skip(err)
	}
	defer file.Close()
	list, err := ReadPrefixes(plainReader(t, file))
	if err != nil || len(list) < 100_000 {
		t.Errorf("%d entries, %v", len(list), err)
	}
}
