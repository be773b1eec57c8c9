package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// maxPacket is the length of the longest packet that is read, the limit of tcpdump.
const maxPacket = 1 << 18

// A Frame is a packet as it was on its link.
type Frame struct {
	Data   []byte // valid until the next Read
	Link   layers.LinkType
	At     time.Time // zero if the file has no time for it
	Number uint64    // in the file, from 1
}

// A Reader returns the frames of a capture.
type Reader struct {
	source source
	link   layers.LinkType
	mixed  bool // the link comes with each packet
	number uint64
	err    error // that ended it
}

// source is what both readers of pcapgo have in common.
type source interface {
	ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

// NewReader reads the header of a capture that is not compressed.
func NewReader(b *bufio.Reader) (*Reader, error) {
	r := &Reader{}
	if err := r.open(b); err != nil {
		return nil, fmt.Errorf("capture: %w", unexpected(err))
	}
	return r, nil
}

func (r *Reader) open(b *bufio.Reader) (err error) {
	defer orPanic(&err)
	start, err := b.Peek(4)
	switch {
	case isPcap(start):
		return r.openPcap(b)
	case isPcapng(start):
		return r.openPcapng(b)
	case err != nil && !errors.Is(err, io.EOF):
		return err
	}
	return errors.New("the first bytes are not those of a pcap or pcapng file")
}

func (r *Reader) openPcap(b io.Reader) error {
	head := make([]byte, 24)
	if _, err := io.ReadFull(b, head); err != nil {
		return err
	}
	p, err := pcapgo.NewReader(io.MultiReader(bytes.NewReader(newerPcap(head)), b))
	if err != nil {
		return err
	}
	// Files exist with longer packets than they announce, and files that announce
	// gigabytes, which the reader would allocate.
	p.SetSnaplen(maxPacket)
	r.source, r.link = p, p.LinkType()
	return nil
}

// newerPcap makes the header of an old file that of a new one: packets are the same since
// version 2.1, in files of which all were kept whole.
func newerPcap(head []byte) []byte {
	var order binary.ByteOrder = binary.BigEndian
	if head[0] == 0xd4 || head[0] == 0x4d {
		order = binary.LittleEndian
	}
	if minor := head[6:8]; order.Uint16(head[4:]) == 2 && order.Uint16(minor) < 4 {
		order.PutUint16(minor, 4)
	}
	return head
}

func (r *Reader) openPcapng(b io.Reader) error {
	options := pcapgo.DefaultNgReaderOptions
	options.WantMixedLinkType = true
	p, err := pcapgo.NewNgReader(&blocks{r: b}, options)
	if err != nil {
		return err
	}
	r.source, r.mixed = p, true
	return nil
}

// Link returns the link of all frames. It reports false for pcapng, where each frame has
// its own.
func (r *Reader) Link() (layers.LinkType, bool) { return r.link, !r.mixed }

// Read fills in the next frame, or returns an error with the number of the packet and
// leaves f as it was; a bare [io.EOF] is the end. An error stays: where the next packet
// begins is unknown.
func (r *Reader) Read(f *Frame) error {
	if r.err != nil {
		return r.err
	}
	err := r.next(f)
	if err != nil && err != io.EOF { //nolint:errorlint // only the bare one is the end
		err = fmt.Errorf("capture: packet %d: %w", r.number+1, err)
	}
	r.err = err
	return err
}

// next fills in field by field: copying the whole Frame takes a tenth of the time.
func (r *Reader) next(f *Frame) (err error) {
	defer orPanic(&err)
	data, info, err := r.source.ZeroCopyReadPacketData()
	if err != nil {
		if !r.mixed && info.CaptureLength > 0 {
			err = unexpected(err) // behind the header of a packet
		}
		return err
	}
	r.number++
	f.Data, f.At, f.Number, f.Link = data, info.Timestamp, r.number, r.link
	if r.mixed {
		f.Link, _ = info.AncillaryData[0].(layers.LinkType)
	}
	return nil
}

// orPanic makes an error of a panic. pcapgo trusts lengths that it reads.
func orPanic(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged: %v", p)
	}
}
