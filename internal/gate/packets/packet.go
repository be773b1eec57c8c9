package packets

import (
	"net/netip"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// A Packet is one packet, or a query between packets.
type Packet struct {
	Src    netip.Addr
	Words  []uint32 // valid until the next Read
	At     int64    // nanoseconds since 1970, 0 if the format has no times
	Number uint64   // in the input, from 1
	Query  bool     // it asks about Src, and has no words
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
	Auto    Format = "auto"    // by the first bytes
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

	// Reassemble cuts the streams of TCP into words, not each segment.
	Reassemble bool
}
