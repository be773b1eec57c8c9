package packets

import (
	"errors"
	"fmt"
	"io"

	"github.com/everbloom-go/everbloom/internal/capture"
)

// sniffed is how much of the input is looked at to tell its format.
const sniffed = 512

// Open returns a reader for the input.
func Open(r io.Reader, o Options) (Reader, error) {
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
		return NewTextReader(b), nil
	case Capture:
		return newCapture(b, o.Reassemble)
	}
	return nil, fmt.Errorf("packets: %v: no such format", format)
}

// sniff tells the format by the beginning. Text has nothing but printable
// characters; a binary input that has such addresses and words only, of which
// there is one in 2^100, has to be told to be one.
func sniff(start []byte) Format {
	if capture.Is(start) {
		return Capture
	}
	for _, c := range start {
		if c != '\t' && c != '\n' && c != '\r' && (c < ' ' || c > '~') {
			return Binary
		}
	}
	return Text
}
