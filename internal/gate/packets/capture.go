package packets

import (
	"bufio"
	"fmt"
	"io"

	"github.com/gopacket/gopacket/layers"

	"github.com/everbloom-go/everbloom/internal/capture"
)

// captureReader reads pcap and pcapng files.
type captureReader struct {
	frames  *capture.Reader
	frame   capture.Frame // the present one
	words   []uint32
	streams *streams // nil unless TCP is put together
	flushed bool     // the streams have given all they hold
	over    uint64   // frames that were passed over
	strange layers.LinkType
	known   bool // there was a link that can be read
}

// newCapture reads the header of a capture file.
func newCapture(b *bufio.Reader, reassemble bool) (*captureReader, error) {
	frames, err := capture.NewReader(b)
	if err != nil {
		return nil, fmt.Errorf("packets: %w", err)
	}
	if link, all := frames.Link(); all && !supported(link) {
		return nil, fmt.Errorf("packets: capture: link type %d (%v) is not supported", link, link)
	}
	c := &captureReader{frames: frames}
	if reassemble {
		c.streams = newStreams()
	}
	return c, nil
}

// Read fills in the next packet that is IP. When there is nothing more, for whatever
// reason, the streams give what they hold.
func (c *captureReader) Read(p *Packet) error {
	for c.streams == nil || !c.streams.next(p) {
		err := c.frames.Read(&c.frame)
		switch {
		case err == nil:
			if c.understand(p) {
				return nil
			}
		case c.streams != nil && !c.flushed:
			c.streams.flush()
			c.flushed = true
		case err == io.EOF && c.over > 0 && !c.known: //nolint:errorlint // only the bare one is the end
			return fmt.Errorf("packets: capture: none of %d frames can be read: link type %d (%v) is not supported", c.over, c.strange, c.strange)
		case err == io.EOF: //nolint:errorlint // only the bare one is the end
			return err
		default:
			return fmt.Errorf("packets: %w", err)
		}
	}
	return nil
}

// understand reports whether the present frame is a packet to be judged now: segments
// of TCP that are put together come from the streams.
func (c *captureReader) understand(p *Packet) bool {
	f := &c.frame
	if !supported(f.Link) {
		c.strange = f.Link
		c.over++
		return false
	}
	c.known = true
	d, ok := dissect(network(f.Link, f.Data))
	if !ok {
		c.over++
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

// PassedOver returns how many frames of a capture were no packets to be judged, so
// far: not IP, or of a link that cannot be read. Other forms have none.
func PassedOver(r Reader) uint64 {
	if c, ok := r.(*captureReader); ok {
		return c.over
	}
	return 0
}
