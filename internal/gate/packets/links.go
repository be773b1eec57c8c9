package packets

import (
	"encoding/binary"
	"fmt"

	"github.com/gopacket/gopacket/layers"
)

func rareLink(link layers.LinkType, frame []byte) ([]byte, string) {
	switch link {
	case layers.LinkTypeFDDI:
		return llc(behind(frame, 13))
	case tokenRing:
		return ring(frame)
	case nflog:
		return logged(frame)
	case layers.LinkTypeIEEE802_11:
		return wireless(frame)
	case layers.LinkTypeIEEE80211Radio:
		if len(frame) < 4 {
			return nil, tooShort
		}
		return wireless(behind(frame, int(binary.LittleEndian.Uint16(frame[2:]))))
	}
	return nil, fmt.Sprintf("link %d (%v)", link, link)
}

// ring skips the header of a token ring, with its route if there is one.
func ring(b []byte) ([]byte, string) {
	const header, source = 14, 8
	if len(b) <= header {
		return nil, tooShort
	}
	if b[source]&0x80 != 0 {
		return llc(behind(b, header+int(b[header]&0x1f)))
	}
	return llc(b[header:])
}

// logged finds the packet among the fields of Linux's netfilter log. Their order of bytes
// is that of the machine, and the length of the first one shows it.
func logged(b []byte) ([]byte, string) {
	const packet = 9
	b = behind(b, 4)
	if len(b) < 4 {
		return nil, tooShort
	}
	var order binary.ByteOrder = binary.LittleEndian
	if int(order.Uint16(b)) > len(b) {
		order = binary.BigEndian
	}
	for len(b) >= 4 {
		length := int(order.Uint16(b))
		if length < 4 || length > len(b) {
			break
		}
		if order.Uint16(b[2:])&0x7fff == packet {
			return isIP(b[4:length])
		}
		b = behind(b, (length+3)&^3)
	}
	return nil, "NFLOG without a packet"
}

// wireless skips the header of 802.11. Only data that is not encrypted can be read.
func wireless(b []byte) ([]byte, string) {
	if len(b) < 24 {
		return nil, tooShort
	}
	const typeMask, data, noData = 0x0c, 0x08, 0x40
	if b[0]&typeMask != data || b[0]&noData != 0 {
		return nil, "802.11 without data"
	}
	if b[1]&0x40 != 0 {
		return nil, "802.11, encrypted"
	}
	header := 24
	if b[1]&3 == 3 { // from one access point to another
		header += 6
	}
	if b[0]&0x80 != 0 { // quality of service
		header += 2
		if b[1]&0x80 != 0 {
			header += 4
		}
	}
	return llc(behind(b, header))
}
