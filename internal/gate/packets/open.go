package packets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/everbloom-go/everbloom/internal/capture"
)

// sniffed is how much of the input is looked at to tell its format.
const sniffed = 512

// Open returns a reader for the input.
func Open(r io.Reader, o Options) (Reader, error) {
	if o.Format == Binary {
		return NewBinaryReader(r), nil // also if the first source looks like gzip
	}
	b, err := capture.Unpack(r)
	if err != nil {
		return nil, fmt.Errorf("packets: %w", err)
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
		if bytes.HasPrefix(start, byteOrderMark) {
			_, _ = b.Discard(len(byteOrderMark)) // it was peeked at
		}
		return NewTextReader(b), nil
	case Capture:
		return newCapture(b, o.Reassemble)
	}
	return nil, fmt.Errorf("packets: %v: no such format", format)
}

// byteOrderMark is what some editors put in front of text.
var byteOrderMark = []byte("\xef\xbb\xbf")

// sniff tells the format by the beginning. Text is UTF-8 without control characters.
// Of 64 records that are drawn at random, a binary input has those or bytes that are no
// UTF-8, all but surely; one of few records, or of chosen ones, may have to be told to
// be binary.
func sniff(start []byte) Format {
	if capture.Is(start) {
		return Capture
	}
	for rest := start; len(rest) > 0; {
		c, n := utf8.DecodeRune(rest)
		if c == utf8.RuneError && n == 1 && (len(start) < sniffed || utf8.FullRune(rest)) {
			return Binary
		}
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			return Binary
		}
		rest = rest[n:]
	}
	return Text
}
