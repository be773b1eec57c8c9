package packets

import (
	"encoding/binary"
	"net/netip"

	"github.com/gopacket/gopacket/layers"
)

// Numbers of protocols.
const (
	etherIPv4 = 0x0800
	etherIPv6 = 0x86dd
	etherVLAN = 0x8100
	etherQinQ = 0x88a8

	ipHopByHop  = 0
	ipICMP      = 1
	ipTCP       = 6
	ipUDP       = 17
	ipRouting   = 43
	ipFragment  = 44
	ipAuth      = 51
	ipICMPv6    = 58
	ipOptions   = 60
	ipUDPLite   = 136
	tcpHeader   = 20  // bytes at least
	ipNoPayload = 255 // reserved: stands for fragments other than the first
)

// A datagram is what is inside an IP packet.
type datagram struct {
	src, dst  netip.Addr
	transport uint8  // a number of a protocol
	body      []byte // its header and payload
}

// supported reports whether packets of a link can be read.
func supported(link layers.LinkType) bool {
	switch link {
	case layers.LinkTypeEthernet, layers.LinkTypeNull, layers.LinkTypeLoop, layers.LinkTypeLinuxSLL, layers.LinkTypeLinuxSLL2,
		layers.LinkTypeRaw, rawBSD, rawOpenBSD, layers.LinkTypeIPv4, layers.LinkTypeIPv6:
		return true
	}
	return false
}

// Raw IP has other numbers on some systems.
const (
	rawBSD     layers.LinkType = 12
	rawOpenBSD layers.LinkType = 14
)

// network returns the payload of a frame, which is an IP packet if its version is valid.
func network(link layers.LinkType, frame []byte) []byte {
	switch link {
	case layers.LinkTypeEthernet:
		return ethernet(frame)
	case layers.LinkTypeNull, layers.LinkTypeLoop:
		return behind(frame, 4)
	case layers.LinkTypeLinuxSLL:
		return tagged(frame, 14, 16)
	case layers.LinkTypeLinuxSLL2:
		return tagged(frame, 0, 20)
	}
	return frame
}

func behind(b []byte, n int) []byte { return b[min(n, len(b)):] }

// ethernet skips the addresses and the tags of virtual networks.
func ethernet(frame []byte) []byte {
	const addresses = 12
	for at := addresses; len(frame) >= at+2; at += 4 {
		switch binary.BigEndian.Uint16(frame[at:]) {
		case etherVLAN, etherQinQ:
			continue
		case etherIPv4, etherIPv6:
			return frame[at+2:]
		}
		return nil
	}
	return nil
}

// tagged returns the payload behind a header that has the protocol at some offset.
func tagged(frame []byte, at, header int) []byte {
	if len(frame) < header {
		return nil
	}
	switch binary.BigEndian.Uint16(frame[at:]) {
	case etherIPv4, etherIPv6:
		return frame[header:]
	}
	return nil
}

// dissect decodes an IP packet. It reports whether it is one.
func dissect(packet []byte) (datagram, bool) {
	if len(packet) == 0 {
		return datagram{}, false
	}
	switch packet[0] >> 4 {
	case 4:
		return dissect4(packet)
	case 6:
		return dissect6(packet)
	}
	return datagram{}, false
}

func dissect4(p []byte) (datagram, bool) {
	const least = 20
	if len(p) < least {
		return datagram{}, false
	}
	header := int(p[0]&15) * 4
	if header < least {
		return datagram{}, false
	}
	// Network cards that segment packets themselves leave a length of 0.
	if total := int(binary.BigEndian.Uint16(p[2:])); total >= header {
		p = p[:min(total, len(p))]
	}
	d := datagram{
		src: netip.AddrFrom4([4]byte(p[12:16])), dst: netip.AddrFrom4([4]byte(p[16:20])),
		transport: p[9], body: behind(p, header),
	}
	if offset := binary.BigEndian.Uint16(p[6:]) & 0x1fff; offset != 0 {
		d.transport = ipNoPayload
	}
	return d, true
}

func dissect6(p []byte) (datagram, bool) {
	const header = 40
	if len(p) < header {
		return datagram{}, false
	}
	if length := int(binary.BigEndian.Uint16(p[4:])); length > 0 {
		p = p[:min(header+length, len(p))]
	}
	d := datagram{
		src: netip.AddrFrom16([16]byte(p[8:24])), dst: netip.AddrFrom16([16]byte(p[24:40])),
		transport: p[6], body: p[header:],
	}
	d.skipExtensions()
	return d, true
}

// skipExtensions skips the headers between IPv6 and the transport.
func (d *datagram) skipExtensions() {
	for len(d.body) >= 8 {
		length := 8 + 8*int(d.body[1])
		switch d.transport {
		case ipHopByHop, ipRouting, ipOptions:
		case ipAuth:
			length = 8 + 4*int(d.body[1])
		case ipFragment:
			length = 8
			if binary.BigEndian.Uint16(d.body[2:])>>3 != 0 {
				d.transport = ipNoPayload
				return
			}
		default:
			return
		}
		d.transport, d.body = d.body[0], behind(d.body, length)
	}
}

// payload returns the payload of the transport.
func (d *datagram) payload() []byte {
	header := 8
	switch d.transport {
	case ipTCP:
		if len(d.body) < tcpHeader {
			return nil
		}
		header = max(tcpHeader, int(d.body[12]>>4)*4)
	case ipUDP:
		if len(d.body) >= header {
			if length := int(binary.BigEndian.Uint16(d.body[4:])); length >= header {
				d.body = d.body[:min(length, len(d.body))]
			}
		}
	case ipICMP, ipICMPv6, ipUDPLite:
	default:
		return nil
	}
	return behind(d.body, header)
}

// appendWords appends the whole words of a payload.
func appendWords(to []uint32, payload []byte) []uint32 {
	for ; len(payload) >= 4; payload = payload[4:] {
		to = append(to, binary.BigEndian.Uint32(payload))
	}
	return to
}
