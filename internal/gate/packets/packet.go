package packets

import (
	"encoding/binary"
	"net/netip"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/fault"
)

// A Packet is one packet, or a query between packets. Slices are valid until the next
// Read.
type Packet struct {
	Src     netip.Addr
	Words   []uint32 // of records and lines
	Payload []byte   // of captures
	At      int64    // nanoseconds since 1970, 0 if the format has no times
	Number  uint64   // in the input, from 1
	Query   bool     // it asks about Src, and has no words

	Conversation
}

// A Conversation is what packets of one direction have in common. It is known of captures
// only.
type Conversation struct {
	From, To netip.Addr // the innermost, where one packet is inside another
	Ports    [2]uint16  // of From and To, 0 if the protocol has none
	Protocol uint8      // above IP
}

// Judge has an engine judge the packet.
func (p *Packet) Judge(e *gate.Engine) gate.Verdict {
	if p.Payload == nil {
		return e.StepWords(p.Src, p.Words, p.At)
	}
	flow := p.Flow()
	return e.StepPayload(p.Src, flow[:], p.Payload, p.At)
}

// A Flow is a number that packets of one conversation share and no others.
type Flow [37]byte

// Flow returns that of the conversation.
func (c *Conversation) Flow() (f Flow) {
	from, to := c.From.As16(), c.To.As16()
	copy(f[:], from[:])
	copy(f[16:], to[:])
	binary.BigEndian.PutUint16(f[32:], c.Ports[0])
	binary.BigEndian.PutUint16(f[34:], c.Ports[1])
	f[36] = c.Protocol
	return f
}

// A Reader returns one packet after the other. Read fills in p, or returns an error that
// names the packet at which it stopped; [io.EOF] is the end.
type Reader interface {
	Read(p *Packet) error
}

// Format is how packets are encoded. The empty Format is Auto.
type Format string

// The formats.
const (
	Auto    Format = "auto"    // text or capture, by the first bytes
	Binary  Format = "binary"  // records of 8 bytes, not compressed
	Text    Format = "text"    // lines
	Capture Format = "capture" // pcap or pcapng
)

// ParseFormat returns the format of that name.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case Auto, Binary, Text, Capture:
		return f, nil
	}
	return Auto, fault.In("packets", "format %q: take %s, %s, %s, %s", name, Auto, Binary, Text, Capture)
}

// Options change how packets are read. The zero value is the default.
type Options struct {
	Format Format

	// Segments takes the payload of TCP as it comes: not in order, and repeated where
	// segments were sent again.
	Segments bool

	// Inner counts packets inside others for the source of the inner one, which its sender
	// may have made up. The default is that of the outer one, which can be rejected.
	Inner bool
}
