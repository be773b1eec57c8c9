package packets

import (
	"bufio"
	"io"

	"github.com/everbloom-go/everbloom/internal/capture"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// captureReader reads pcap and pcapng files.
type captureReader struct {
	frames    Frames
	frame     capture.Frame // the present one
	inner     bool          // the source of a packet inside another counts
	fragments *fragments
	streams   *streams // nil unless TCP is put together
	flushed   bool     // the streams have returned all that waits
	skipped   map[string]uint64
}

// Frames are where frames come from: a capture or an interface.
type Frames interface {
	Read(f *capture.Frame) error
}

// NewFrames returns a reader of the packets in frames. The format of the Options does not
// matter.
func NewFrames(f Frames, o Options) Reader {
	c := &captureReader{frames: f, inner: o.Inner, fragments: newFragments(), skipped: map[string]uint64{}}
	if !o.Segments {
		c.streams = newStreams()
	}
	return c
}

// newCapture reads the header of a capture file.
func newCapture(b *bufio.Reader, o Options) (Reader, error) {
	frames, err := capture.NewReader(b)
	if err != nil {
		return nil, fault.In("packets", "%w", err)
	}
	return NewFrames(frames, o), nil
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
	packet, what := network(f.Link, f.Data)
	var d datagram
	ok := what == ""
	if ok {
		d, ok = dissect(packet)
		what = tooShort
	}
	if !ok {
		c.skipped[what]++
		return false
	}
	*p = Packet{Src: d.src, Number: f.Number}
	if !f.At.IsZero() {
		p.At = f.At.UnixNano()
	}
	whole := c.unwrap(&d)
	if c.inner {
		p.Src = d.src
	}
	p.Conversation = Conversation{From: d.src, To: d.dst, Protocol: d.transport}
	if !whole {
		return true // its payload comes with the last fragment
	}
	p.Ports = d.ports()
	if c.streams != nil && d.transport == ipTCP {
		return c.streams.add(&d, p)
	}
	p.Payload = d.payload()
	return true
}

// maxDepth is how many packets may be inside each other.
const maxDepth = 8

// unwrap finds the innermost datagram, and reports whether it is whole.
func (c *captureReader) unwrap(d *datagram) bool {
	for range maxDepth {
		if d.piece != nil {
			if d.body = c.fragments.add(d); d.body == nil {
				return false
			}
			d.piece = nil
		}
		packet := d.inside()
		if packet == nil {
			return true // as most
		}
		next, ok := dissect(packet)
		if !ok {
			return true
		}
		*d = next
	}
	return true
}

// Skipped returns how many frames of a capture were skipped so far, by what they are.
// Other formats have none.
func Skipped(r Reader) map[string]uint64 {
	if c, ok := r.(*captureReader); ok {
		return c.skipped
	}
	return nil
}
