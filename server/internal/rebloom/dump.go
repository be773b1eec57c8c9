package rebloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrDump is matched by errors about bytes that RedisBloom does not return.
var ErrDump = errors.New("not a dump of RedisBloom")

func bad(field string, value any) error {
	return fmt.Errorf("rebloom: %s: %v: %w", field, value, ErrDump)
}

// A stored dump is magic 8 | length of the header 4 | length of the data 8 | header | data.
const (
	magic    = "EBREDIS\x01"
	headSize = 20
)

// Join returns the stored form of a dump.
func Join(header, data []byte) []byte {
	return bytes.Join([][]byte{head(header, data), header, data}, nil)
}

func head(header, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(header)))
	return binary.LittleEndian.AppendUint64(b, uint64(len(data)))
}

// Cut takes the stored form of a dump from the front of b; ok is false if there is none.
func Cut(b []byte) (header, data, rest []byte, ok bool) {
	if len(b) < headSize || string(b[:8]) != magic {
		return nil, nil, b, false
	}
	n, m := uint64(binary.LittleEndian.Uint32(b[8:])), binary.LittleEndian.Uint64(b[12:])
	rest = b[headSize:]
	if n > uint64(len(rest)) || m > uint64(len(rest))-n {
		return nil, nil, b, false
	}
	return rest[:n:n], rest[n : n+m : n+m], rest[n+m:], true
}

// maxData is how many bytes a table or a sub-filter may have.
const maxData = 1 << 40
