package packets

import (
	"encoding/binary"
	"net/netip"
)

// Numbers of protocols above IP.
const (
	ipHopByHop = 0
	ipICMP     = 1
	ipInIP     = 4
	ipTCP      = 6
	ipUDP      = 17
	ipDCCP     = 33
	ip6InIP    = 41
	ipRouting  = 43
	ipFragment = 44
	ipGRE      = 47
	ipESP      = 50
	ipAuth     = 51
	ipICMPv6   = 58
	ipNothing  = 59
	ipOptions  = 60
	ipSCTP     = 132
	ipUDPLite  = 136
	tcpHeader  = 20 // bytes at least
)

// Ports of packets inside UDP.
const (
	portVXLAN  = 4789
	portVXLAN0 = 8472 // of Linux, before the standard
	portGeneve = 6081
	portGTP    = 2152
	portTeredo = 3544
)

// A datagram is what is inside an IP packet.
type datagram struct {
	src, dst  netip.Addr
	transport uint8  // a number of a protocol
	body      []byte // its header and payload
	piece     *piece // nil if it is whole
}

// A piece is the part of a datagram that a fragment has.
type piece struct {
	id     uint32
	offset int
	more   bool // others follow
}

// dissect decodes an IP packet. It reports whether it is one.
func dissect(packet []byte) (d datagram, ok bool) {
	if len(packet) == 0 {
		return d, false
	}
	switch packet[0] >> 4 {
	case 4:
		ok = d.dissect4(packet)
	case 6:
		ok = d.dissect6(packet)
	}
	return d, ok
}

func (d *datagram) dissect4(p []byte) bool {
	const least = 20
	if len(p) < least {
		return false
	}
	header := int(p[0]&15) * 4
	if header < least {
		return false
	}
	// Network cards that segment packets themselves leave a length of 0.
	if total := int(binary.BigEndian.Uint16(p[2:])); total >= header {
		p = p[:min(total, len(p))]
	}
	*d = datagram{
		src: netip.AddrFrom4([4]byte(p[12:16])), dst: netip.AddrFrom4([4]byte(p[16:20])),
		transport: p[9], body: behind(p, header),
	}
	const moreFragments, offsets = 0x2000, 0x1fff
	if flags := binary.BigEndian.Uint16(p[6:]); flags&(moreFragments|offsets) != 0 {
		d.piece = &piece{uint32(binary.BigEndian.Uint16(p[4:])), int(flags&offsets) * 8, flags&moreFragments != 0}
		return true
	}
	d.skipHeaders(ipAuth)
	return true
}

func (d *datagram) dissect6(p []byte) bool {
	const header = 40
	if len(p) < header {
		return false
	}
	if length := int(binary.BigEndian.Uint16(p[4:])); length > 0 {
		p = p[:min(header+length, len(p))]
	}
	*d = datagram{src: mapped([16]byte(p[8:24])), dst: mapped([16]byte(p[24:40])), transport: p[6], body: p[header:]}
	d.skipHeaders(ipHopByHop, ipRouting, ipOptions, ipAuth, ipFragment)
	return true
}

// skipHeaders skips the headers between IP and the transport that may be there.
func (d *datagram) skipHeaders(known ...uint8) {
	for len(d.body) >= 8 {
		found := false
		for _, n := range known {
			found = found || n == d.transport
		}
		if !found {
			return
		}
		length := 8 + 8*int(d.body[1])
		switch d.transport {
		case ipAuth:
			length = 8 + 4*int(d.body[1])
		case ipFragment:
			flags := binary.BigEndian.Uint16(d.body[2:])
			if flags&^6 != 0 { // else it is the only one
				d.piece = &piece{binary.BigEndian.Uint32(d.body[4:]), int(flags &^ 7), flags&1 != 0}
			}
			d.transport, d.body = d.body[0], d.body[8:]
			if d.piece != nil {
				return
			}
			continue
		}
		d.transport, d.body = d.body[0], behind(d.body, length)
	}
}

// header returns the bytes of the transport's header.
func (d *datagram) header() int {
	switch d.transport {
	case ipTCP:
		if len(d.body) < tcpHeader {
			return len(d.body)
		}
		return max(tcpHeader, int(d.body[12]>>4)*4)
	case ipUDP, ipUDPLite, ipICMP, ipICMPv6:
		return 8
	case ipSCTP:
		return 12
	case ipESP, ipNothing:
		return len(d.body) // encrypted, or nothing at all
	}
	return 0
}

// payload returns the payload of the transport.
func (d *datagram) payload() []byte {
	if d.transport == ipUDP && len(d.body) >= 8 {
		if length := int(binary.BigEndian.Uint16(d.body[4:])); length >= 8 {
			d.body = d.body[:min(length, len(d.body))]
		}
	}
	return behind(d.body, d.header())
}

// ports returns those of the transport, or none.
func (d *datagram) ports() (ports [2]uint16) {
	switch d.transport {
	case ipTCP, ipUDP, ipUDPLite, ipSCTP, ipDCCP:
		if len(d.body) >= 4 {
			return [2]uint16{binary.BigEndian.Uint16(d.body), binary.BigEndian.Uint16(d.body[2:])}
		}
	}
	return ports
}

// inside returns the IP packet that a datagram carries, or nil.
func (d *datagram) inside() []byte {
	var packet []byte
	var what string
	switch d.transport {
	case ipInIP, ip6InIP:
		packet, what = isIP(d.body)
	case ipGRE:
		packet, what = gre(d.body)
	case ipUDP:
		packet, what = insideUDP(d.ports()[1], d.payload())
	default:
		return nil
	}
	if what != "" {
		return nil
	}
	return packet
}

// gre skips a header with the fields that its flags name.
func gre(b []byte) ([]byte, string) {
	const checksum, routing, key, sequence, acknowledged = 0x80, 0x40, 0x20, 0x10, 0x80
	if len(b) < 4 {
		return nil, tooShort
	}
	number, header := binary.BigEndian.Uint16(b[2:]), 4
	for _, flag := range []byte{checksum | routing, key, sequence} {
		if b[0]&flag != 0 {
			header += 4
		}
	}
	if b[1]&7 == 1 && b[1]&acknowledged != 0 { // as PPTP has it
		header += 4
	}
	if number == etherERSPAN && b[0]&sequence == 0 {
		number = etherBridge // the first version has no header of its own
	}
	return protocol(number, behind(b, header))
}

// insideUDP tells packets in UDP by the port that they are sent to.
func insideUDP(port uint16, b []byte) ([]byte, string) {
	const header = 8
	if len(b) < header {
		return nil, tooShort
	}
	switch port {
	case portVXLAN, portVXLAN0:
		if b[0]&8 != 0 {
			return ethernet(b[header:])
		}
	case portGeneve:
		if b[0]>>6 == 0 {
			return protocol(binary.BigEndian.Uint16(b[2:]), behind(b, header+4*int(b[0]&0x3f)))
		}
	case portGTP:
		return gtp(b)
	case portTeredo:
		return teredo(b)
	}
	return nil, "not known"
}

// gtp skips the header of a packet of a mobile phone.
func gtp(b []byte) ([]byte, string) {
	const version, user, optional, extension = 0x30, 255, 7, 4
	if b[0]&0xf0 != version || b[1] != user {
		return nil, "GTP without a packet"
	}
	if b[0]&optional == 0 {
		return isIP(b[8:])
	}
	if len(b) < 12 {
		return nil, tooShort
	}
	next, rest := b[11], b[12:]
	for b[0]&extension != 0 && next != 0 {
		n := 0
		if len(rest) > 0 {
			n = 4 * int(rest[0])
		}
		if n == 0 || n > len(rest) {
			return nil, tooShort
		}
		next, rest = rest[n-1], rest[n:]
	}
	return isIP(rest)
}

// teredo skips authentication and origin.
func teredo(b []byte) ([]byte, string) {
	if len(b) >= 4 && b[0] == 0 && b[1] == 1 {
		b = behind(b, 13+int(b[2])+int(b[3]))
	}
	if len(b) >= 8 && b[0] == 0 && b[1] == 0 {
		b = b[8:]
	}
	if len(b) < 40 || b[0]>>4 != 6 {
		return nil, "Teredo without a packet"
	}
	return b, ""
}
