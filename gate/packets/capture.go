package packets

import (
	"errors"
	"fmt"
	"io"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// maxPacket is the longest packet that is believed: what tcpdump has as limit.
const maxPacket = 1 << 18

// source is what both readers of pcapgo have in common.
type source interface {
	ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

// captureReader reads pcap and pcapng files.
type captureReader struct {
	source
	link    layers.LinkType
	mixed   bool // the link comes with each packet
	number  uint64
	words   []uint32
	streams *streams // nil unless TCP is put together
	err     error    // where it has stopped
}

// newCapture reads the header of a capture file.
func newCapture(r io.Reader, kind captureKind, reassemble bool) (_ *captureReader, err error) {
	defer orPanic(&err)
	c := &captureReader{}
	switch kind {
	case pcap:
		err = c.openPcap(r)
	case pcapng:
		err = c.openPcapng(r)
	default:
		err = errors.New("the first bytes are not those of a pcap or pcapng file")
	}
	if err != nil {
		return nil, fmt.Errorf("packets: capture: %w", unexpected(err))
	}
	if reassemble {
		c.streams = newStreams()
	}
	return c, nil
}

func (c *captureReader) openPcap(r io.Reader) error {
	p, err := pcapgo.NewReader(r)
	if err != nil {
		return err
	}
	// Files exist with longer packets than they announce, and files that announce
	// gigabytes, which the reader would allocate.
	p.SetSnaplen(maxPacket)
	c.source, c.link = p, p.LinkType()
	if !supported(c.link) {
		return fmt.Errorf("link type %d (%v) is not supported", c.link, c.link)
	}
	return nil
}

func (c *captureReader) openPcapng(r io.Reader) error {
	options := pcapgo.DefaultNgReaderOptions
	options.WantMixedLinkType = true
	p, err := pcapgo.NewNgReader(&blocks{r: r}, options)
	if err != nil {
		return err
	}
	c.source, c.mixed = p, true
	return nil
}

// orPanic makes an error of a panic. pcapgo trusts lengths that it reads.
func orPanic(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("packets: damaged capture: %v", p)
	}
}

// Read fills in the next packet that is IP.
func (c *captureReader) Read(p *Packet) error {
	for c.err == nil {
		if c.streams != nil && c.streams.next(p) {
			return nil
		}
		frame, info, err := c.frame()
		if err != nil {
			c.stop(err)
			continue
		}
		c.number++
		link := c.link
		if c.mixed {
			link, _ = info.AncillaryData[0].(layers.LinkType)
		}
		if c.understand(link, frame, info, p) {
			return nil
		}
	}
	if c.streams != nil && c.streams.next(p) { // what was left in streams
		return nil
	}
	return c.err
}

// stop notes why there is nothing more, and has the streams give what they hold.
func (c *captureReader) stop(err error) {
	c.err = err
	if err != io.EOF { //nolint:errorlint // only the bare one is the end
		c.err = fmt.Errorf("packets: packet %d: %w", c.number+1, err)
	}
	if c.streams != nil {
		c.streams.flush(c.number)
	}
}

func (c *captureReader) frame() (frame []byte, info gopacket.CaptureInfo, err error) {
	defer orPanic(&err)
	frame, info, err = c.ZeroCopyReadPacketData()
	if err == io.EOF && !c.mixed && info.CaptureLength > 0 { //nolint:errorlint // as above
		err = io.ErrUnexpectedEOF // behind the header of a packet
	}
	return frame, info, err
}

// understand reports whether a frame is a packet to be judged.
func (c *captureReader) understand(link layers.LinkType, frame []byte, info gopacket.CaptureInfo, p *Packet) bool {
	if !supported(link) {
		return false
	}
	d, ok := dissect(network(link, frame))
	if !ok {
		return false
	}
	c.words = c.words[:0]
	if c.streams != nil && d.transport == ipTCP {
		c.words = c.streams.assemble(&d, info.Timestamp, c.words)
	} else {
		c.words = appendWords(c.words, d.payload())
	}
	*p = Packet{Src: d.src.Unmap(), Words: c.words, Number: c.number}
	if !info.Timestamp.IsZero() {
		p.At = info.Timestamp.UnixNano()
	}
	return true
}
