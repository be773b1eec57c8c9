package capture

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"io"
	"slices"
)

// bufferBytes is how much is read at a time.
const bufferBytes = 1 << 16

// Unpack undoes gzip if the input begins like it, and leaves other input as it is. The
// caller can peek at 64 KiB.
func Unpack(r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, bufferBytes)
	if start, _ := b.Peek(gzipStart); !isGzip(start) {
		return b, nil // an error of the input is returned again when it is read
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, err // it says that it is of gzip
	}
	return bufio.NewReaderSize(z, bufferBytes), nil
}

// gzipStart is how many bytes tell gzip: two of its mark, the method, of which there is
// one, and flags, of which three are unused.
const gzipStart = 4

// isGzip reports whether gzip begins so. A shorter start counts if it may be that of a
// file that was cut off.
func isGzip(start []byte) bool {
	if len(start) < 2 || start[0] != 0x1f || start[1] != 0x8b {
		return false
	}
	return (len(start) < 3 || start[2] == 8) && (len(start) < gzipStart || start[3]&0xe0 == 0)
}

// Is reports whether a capture begins so. Twelve bytes are enough: the first four of
// pcapng may be an address, or line breaks, so the byte order counts, too.
func Is(start []byte) bool {
	return isPcap(start) || isPcapng(start) && len(start) >= headBytes && (&blocks{}).setOrder(start[8:]) == nil
}

// May reports whether a capture may begin so, of which four bytes are known.
func May(start []byte) bool { return isPcap(start) || isPcapng(start) }

// isPcap knows a number of its own for each precision of times, in either byte order.
func isPcap(start []byte) bool {
	return len(start) >= 4 && slices.Contains([]uint32{0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d, 0x4d3cb2a1}, binary.BigEndian.Uint32(start))
}

func isPcapng(start []byte) bool {
	return len(start) >= 4 && binary.BigEndian.Uint32(start) == blockSection
}
