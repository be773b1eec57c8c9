package packets

import (
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/gopacket/gopacket/layers"
)

// Numbers of protocols above a link.
const (
	etherIPv4   = 0x0800
	etherIPv6   = 0x86dd
	etherVLAN   = 0x8100
	etherQinQ   = 0x88a8
	etherOld    = 0x9100 // and 0x9200: tags of before the standard
	etherOlder  = 0x9200
	etherMPLS   = 0x8847
	etherMPLSUp = 0x8848
	etherPPPoE  = 0x8864
	etherPPP    = 0x880b
	etherBridge = 0x6558 // a whole frame of Ethernet
	etherMAC    = 0x88e7 // 802.1ah
	etherVNTag  = 0x8926
	etherETag   = 0x893f
	etherRTag   = 0xf1c1 // 802.1CB
	etherFabric = 0x8903 // FabricPath
	etherNSH    = 0x894f
	etherERSPAN = 0x88be
	etherERSPA3 = 0x22eb
	maxLength   = 1500 // a smaller number is the length of an LLC frame
)

// Links that gopacket has no name for.
const (
	rawBSD     layers.LinkType = 12
	rawOpenBSD layers.LinkType = 14
	tokenRing  layers.LinkType = 6
	cHDLC      layers.LinkType = 104
	pppEther   layers.LinkType = 51
	nflog      layers.LinkType = 239
)

// network returns the IP packet of a frame, or nil and what the frame is instead. A link
// that is not known is an error of its own.
func network(link layers.LinkType, frame []byte) (packet []byte, what string) {
	switch link {
	case layers.LinkTypeEthernet:
		return ethernet(frame)
	case layers.LinkTypeNull, layers.LinkTypeLoop:
		return isIP(behind(frame, 4))
	case layers.LinkTypeLinuxSLL:
		return typed(frame, 14, 16)
	case layers.LinkTypeLinuxSLL2:
		return typed(frame, 0, 20)
	case cHDLC:
		return typed(frame, 2, 4)
	case layers.LinkTypeRaw, rawBSD, rawOpenBSD, layers.LinkTypeIPv4, layers.LinkTypeIPv6:
		return isIP(frame)
	case layers.LinkTypePPP, layers.LinkTypePPP_HDLC:
		return ppp(frame)
	case pppEther:
		return ppp(behind(frame, 6))
	}
	return rareLink(link, frame)
}

const tooShort = "too short"

func behind(b []byte, n int) []byte { return b[min(n, len(b)):] }

// isIP returns a packet whose version is one of IP.
func isIP(packet []byte) ([]byte, string) {
	switch {
	case len(packet) == 0:
		return nil, tooShort
	case packet[0]>>4 == 4 || packet[0]>>4 == 6:
		return packet, ""
	}
	return nil, "not IP"
}

// typed returns what is behind a header that has the protocol at some offset.
func typed(frame []byte, at, header int) ([]byte, string) {
	if len(frame) < header || len(frame) < at+2 {
		return nil, tooShort
	}
	return protocol(binary.BigEndian.Uint16(frame[at:]), frame[header:])
}

func ethernet(frame []byte) ([]byte, string) { return typed(frame, 12, 14) }

// tags are protocols that are followed by others: the number of the next lies at an
// offset, or there is a whole frame of Ethernet.
var tags = map[uint16]struct {
	bytes int
	frame bool
}{
	etherVLAN: {4, false}, etherQinQ: {4, false}, etherOld: {4, false}, etherOlder: {4, false},
	etherVNTag: {6, false}, etherETag: {8, false}, etherRTag: {6, false},
	etherBridge: {0, true}, etherMAC: {4, true}, etherFabric: {2, true},
}

// protocol returns the IP packet inside of what follows a link, of which the number is
// known.
func protocol(number uint16, b []byte) ([]byte, string) {
	for {
		switch {
		case number == etherIPv4 || number == etherIPv6:
			return isIP(b)
		case number <= maxLength:
			return llc(b)
		}
		tag, ok := tags[number]
		switch {
		case !ok:
			return layered(number, b)
		case tag.frame:
			b = behind(b, tag.bytes+12)
			tag.bytes = 2
		}
		if len(b) < tag.bytes {
			return nil, tooShort
		}
		number, b = binary.BigEndian.Uint16(b[tag.bytes-2:]), b[tag.bytes:]
	}
}

// Wrappers returns the numbers of the protocols above Ethernet in which IP is looked for.
func Wrappers() []uint16 {
	list := []uint16{etherMPLS, etherMPLSUp, etherPPPoE, etherPPP, etherERSPAN, etherERSPA3, etherNSH} // as layered has them
	return append(list, slices.Sorted(maps.Keys(tags))...)
}

// layered is protocol for those that are more than a tag.
func layered(number uint16, b []byte) ([]byte, string) {
	switch number {
	case etherMPLS, etherMPLSUp:
		return mpls(b)
	case etherPPPoE:
		return ppp(behind(b, 6))
	case etherPPP:
		return ppp(b)
	case etherERSPAN:
		return ethernet(behind(b, 8))
	case etherERSPA3:
		return ethernet(behind(b, 12))
	case etherNSH:
		return chained(b)
	case 0x0806:
		return nil, "ARP"
	case 0x88cc:
		return nil, "LLDP"
	}
	return nil, fmt.Sprintf("protocol 0x%04x", number)
}

// llc returns what is in an LLC frame: with SNAP the number of a protocol follows.
func llc(b []byte) ([]byte, string) {
	const snap = 0xaa
	if len(b) < 8 {
		return nil, tooShort
	}
	if b[0] != snap || b[1] != snap {
		return nil, fmt.Sprintf("LLC 0x%02x", b[0])
	}
	return typed(b, 6, 8)
}

// mpls skips labels. What follows is IP, or Ethernet behind a control word.
func mpls(b []byte) ([]byte, string) {
	for len(b) >= 4 {
		last := b[2]&1 != 0
		if b = b[4:]; !last {
			continue
		}
		if packet, what := isIP(b); what == "" {
			return packet, ""
		}
		if len(b) >= 4 && b[0]>>4 == 0 {
			return ethernet(b[4:])
		}
		return nil, "MPLS without IP"
	}
	return nil, tooShort
}

// ppp skips the address and control of HDLC, if they are there.
func ppp(b []byte) ([]byte, string) {
	if len(b) >= 2 && b[0] == 0xff && b[1] == 3 {
		b = b[2:]
	}
	if len(b) < 2 {
		return nil, tooShort
	}
	number, header := uint16(b[0]), 1 // odd numbers may be cut to a byte
	if b[0]&1 == 0 {
		number, header = binary.BigEndian.Uint16(b), 2
	}
	switch number {
	case 0x21, 0x57:
		return isIP(b[header:])
	case 0x281:
		return mpls(b[header:])
	}
	return nil, fmt.Sprintf("PPP 0x%04x", number)
}

// chained skips the header of a service chain.
func chained(b []byte) ([]byte, string) {
	if len(b) < 8 {
		return nil, tooShort
	}
	next, b := b[3], behind(b, 4*int(b[1]&0x3f))
	switch next {
	case 1, 2:
		return isIP(b)
	case 3:
		return ethernet(b)
	}
	return nil, fmt.Sprintf("NSH %d", next)
}

// mapped returns an address as IPv4 if it is one.
func mapped(b [16]byte) netip.Addr { return netip.AddrFrom16(b).Unmap() }
