package packets

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// sniffed is how much of the input is looked at to tell its format.
const sniffed = 512

// Open returns a reader for the input.
func Open(r io.Reader, o Options) (Reader, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	if start, _ := b.Peek(2); len(start) == 2 && start[0] == 0x1f && start[1] == 0x8b {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("packets: %w", err)
		}
		b = bufio.NewReaderSize(z, 1<<16)
	}
	start, err := b.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("packets: packet 1: %w", err)
	}
	format := o.Format
	if format == Auto {
		format = sniff(start)
	}
	switch format {
	case Binary:
		return NewBinaryReader(b), nil
	case Text:
		return NewTextReader(b), nil
	case Capture:
		return newCapture(b, captureMagic(start), o.Reassemble)
	}
	return nil, fmt.Errorf("packets: %v: no such format", format)
}

// sniff tells the format by the beginning. Text has nothing but printable
// characters; a binary input that has such addresses and words only, of which
// there is one in 2^100, has to be told to be one.
func sniff(start []byte) Format {
	if captureMagic(start) != notCapture {
		return Capture
	}
	for _, c := range start {
		if c != '\t' && c != '\n' && c != '\r' && (c < ' ' || c > '~') {
			return Binary
		}
	}
	return Text
}

// A kind of capture file.
type captureKind uint8

const (
	notCapture captureKind = iota
	pcap
	pcapng
)

// captureMagic tells what kind of capture begins so.
func captureMagic(start []byte) captureKind {
	if len(start) < 4 {
		return notCapture
	}
	switch binary.BigEndian.Uint32(start) {
	case 0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d, 0x4d3cb2a1:
		return pcap
	case 0x0a0d0d0a:
		return pcapng
	}
	return notCapture
}
