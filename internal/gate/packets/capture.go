package packets

import (
	"bufio"
	"io"

	"github.com/gopacket/gopacket/layers"

	"github.com/everbloom-go/everbloom/internal/capture"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// captureReader reads pcap and pcapng files.
type captureReader struct {
	frames  *capture.Reader
	frame   capture.Frame // the present one
	words   []uint32
	streams *streams // nil unless TCP is put together
	flushed bool     // the streams have returned all that waits
	skipped uint64   // frames that are no packets
	strange layers.LinkType
	known   bool // there was a link that can be read
}

// newCapture reads the header of a capture file.
func newCapture(b *bufio.Reader, reassemble bool) (*captureReader, error) {
	frames, err := capture.NewReader(b)
	if err != nil {
		return nil, fault.In("packets", "%w", err)
	}
	if link, all := frames.Link(); all && !supported(link) {
		return nil, fault.In("packets", "capture: link type %d (%v) is not supported", link, link)
	}
	c := &captureReader{frames: frames}
	if reassemble {
		c.streams = newStreams()
	}
	return c, nil
}

// Read fills in the next IP packet. At the end of the frames, for whatever reason, the
// streams return what waits.
func (c *captureReader) Read(p *Packet) error {
	for c.streams == nil || !c.streams.next(p) {
		err := c.frames.Read(&c.frame)
		switch {
		case err == nil:
			if c.decode(p) {
				return nil
			}
		case c.streams != nil && !c.flushed:
			c.streams.flush()
			c.flushed = true
		case err == io.EOF && c.skipped > 0 && !c.known: //nolint:errorlint // only the bare one is the end
			return fault.In("packets", "capture: none of %d frames can be read: link type %d (%v) is not supported", c.skipped, c.strange, c.strange)
		case err == io.EOF: //nolint:errorlint // only the bare one is the end
			return err
		default:
			return fault.In("packets", "%w", err)
		}
	}
	return nil
}

// decode reports whether the present frame is a packet to return now: segments of TCP
// that are reassembled come from the streams.
func (c *captureReader) decode(p *Packet) bool {
	f := &c.frame
	if !supported(f.Link) {
		c.strange = f.Link
		c.skipped++
		return false
	}
	c.known = true
	d, ok := dissect(network(f.Link, f.Data))
	if !ok {
		c.skipped++
		return false
	}
	*p = Packet{Src: d.src.Unmap(), Number: f.Number}
	if !f.At.IsZero() {
		p.At = f.At.UnixNano()
	}
	if c.streams != nil && d.transport == ipTCP {
		c.streams.add(&d, *p)
		return false
	}
	c.words = appendWords(c.words[:0], d.payload())
	p.Words = c.words
	return true
}

// Skipped returns how many frames of a capture were skipped so far: not IP, or of a link
// that is not supported. Other formats have none.
func Skipped(r Reader) uint64 {
	if c, ok := r.(*captureReader); ok {
		return c.skipped
	}
	return 0
}
