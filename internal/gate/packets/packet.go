package packets

import (
	"fmt"
	"net/netip"
	"strings"
)

// A Packet is one packet, or a query between packets.
type Packet struct {
	Src    netip.Addr
	Words  []uint32 // good until the next Read
	At     int64    // nanoseconds since 1970, 0 if the form has no times
	Number uint64   // its place in the input, from 1
	Query  bool     // it asks about Src, and has no words
}

// A Reader gives one packet after the other. Read fills in p, or returns an error
// that says at which packet it stopped; [io.EOF] is the end.
type Reader interface {
	Read(p *Packet) error
}

// Format is how packets are written down.
type Format uint8

// The formats.
const (
	Auto    Format = iota // find out
	Binary                // records of 8 bytes, as they are: not compressed
	Text                  // lines
	Capture               // pcap or pcapng

	formats = iota
)

var formatNames = [formats]string{"auto", "binary", "text", "capture"}

// String returns "auto", "binary", "text" or "capture".
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return fmt.Sprintf("Format(%d)", uint8(f))
}

// ParseFormat returns the format of that name.
func ParseFormat(name string) (Format, error) {
	for i, n := range formatNames {
		if n == name {
			return Format(i), nil
		}
	}
	return Auto, fmt.Errorf("packets: format %q: take %s", name, strings.Join(formatNames[:], ", "))
}

// Options change how packets are read. The zero value is the default.
type Options struct {
	Format Format

	// Reassemble puts the segments of TCP together before they are cut into words.
	Reassemble bool
}
