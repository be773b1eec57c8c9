package packets

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/everbloom-go/everbloom/internal/capture"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// sniffed is how many bytes tell the format of an input, at most.
const sniffed = 512

// Open returns a reader for the input.
func Open(r io.Reader, o Options) (Reader, error) {
	if o.Format == Binary {
		return newBinary(r), nil // also if the first source looks like gzip
	}
	b, err := capture.Unpack(r)
	if err != nil {
		return nil, fault.In("packets", "%w", err)
	}
	start, err := peek(b)
	if err != nil {
		return nil, fault.In("packets", "packet 1: %w", err)
	}
	format := o.Format
	if format == Auto || format == "" {
		if format, err = sniff(start); err != nil {
			return nil, err
		}
	}
	switch format {
	case Text:
		if bytes.HasPrefix(start, byteOrderMark) {
			_, _ = b.Discard(len(byteOrderMark)) // it was peeked at
		}
		return newText(b), nil
	case Capture:
		return newCapture(b, o)
	}
	return nil, fault.In("packets", "format %q is unknown", format)
}

// peek returns what can be known of the first bytes without waiting for more than are
// needed: a slow input is judged as it comes.
func peek(b *bufio.Reader) ([]byte, error) {
	for _, n := range []int{4, 12} {
		start, err := b.Peek(n)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if err != nil || !capture.May(start) {
			break
		}
	}
	return b.Peek(min(sniffed, b.Buffered()))
}

// byteOrderMark is put in front of text by some editors.
var byteOrderMark = []byte("\xef\xbb\xbf")

// sniff tells the format by the first bytes. Text is UTF-8 without control characters.
func sniff(start []byte) (Format, error) {
	if capture.Is(start) {
		return Capture, nil
	}
	for rest := start; len(rest) > 0; {
		c, n := utf8.DecodeRune(rest)
		cut := c == utf8.RuneError && n == 1 && !utf8.FullRune(rest)
		if c == utf8.RuneError && n == 1 && !cut || c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			return "", fault.In("packets", "neither a capture (pcap, pcapng) nor text: take format %s if it is records of %d bytes", Binary, recordBytes)
		}
		rest = rest[n:]
	}
	return Text, nil
}
