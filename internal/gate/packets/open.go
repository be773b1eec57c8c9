package packets

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/everbloom-go/everbloom/internal/capture"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// sniffed is how many bytes tell the format of an input.
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
	start, err := b.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fault.In("packets", "packet 1: %w", err)
	}
	format := o.Format
	if format == Auto || format == "" {
		format = sniff(start)
	}
	switch format {
	case Binary:
		return newBinary(b), nil
	case Text:
		if bytes.HasPrefix(start, byteOrderMark) {
			_, _ = b.Discard(len(byteOrderMark)) // it was peeked at
		}
		return newText(b), nil
	case Capture:
		return newCapture(b, o.Reassemble)
	}
	return nil, fault.In("packets", "format %q is unknown", format)
}

// byteOrderMark is put in front of text by some editors.
var byteOrderMark = []byte("\xef\xbb\xbf")

// sniff tells the format by the first bytes. Text is UTF-8 without control characters.
// 64 random records of a binary input are not, all but surely; for few or chosen records
// the caller may have to name the format.
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
