package pattern

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Lengths of the longest patterns.
const (
	MaxWords = 16
	MaxBytes = 1024
)

// A Pattern is a sequence that must not be sent: of words or of bytes.
type Pattern struct {
	Name string `json:"name"`

	// Words are found in packets of words, and as bytes in payloads.
	Words []uint32 `json:"words,omitempty"`

	// Bytes are found in payloads only, in either case if NoCase says so.
	Bytes  []byte `json:"bytes,omitempty"`
	NoCase bool   `json:"nocase,omitempty"`
}

// Payload returns the bytes to look for in payloads. Words are big endian there.
func (p Pattern) Payload() []byte {
	if len(p.Words) == 0 {
		return p.Bytes
	}
	var b []byte
	for _, w := range p.Words {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return b
}

// check reports whether the pattern has a name and a length that is allowed.
func (p Pattern) check() error {
	if p.Name == "" {
		return fault.In("pattern", "a pattern has no name")
	}
	if strings.TrimSpace(p.Name) != p.Name || strings.ContainsAny(p.Name, ":#\n\r") {
		return fault.In("pattern", "name %q: no colon, # or line break, and no space at the ends", p.Name)
	}
	switch words, bytes := len(p.Words), len(p.Bytes); {
	case words > 0 && bytes > 0:
		return fault.In("pattern", "%s: both words and bytes", p.Name)
	case bytes > MaxBytes:
		return fault.In("pattern", "%s: %d bytes, must be 1 to %d", p.Name, bytes, MaxBytes)
	case bytes == 0 && (words < 1 || words > MaxWords):
		return fault.In("pattern", "%s: %d words, must be 1 to %d", p.Name, words, MaxWords)
	}
	return nil
}

// checkAll reports all problems of a list.
func checkAll(list []Pattern) error {
	var errs []error
	seen := make(map[string]bool, len(list))
	for _, p := range list {
		if err := p.check(); err != nil {
			errs = append(errs, err)
		}
		if seen[p.Name] {
			errs = append(errs, fault.In("pattern", "%s: two patterns of that name", p.Name))
		}
		seen[p.Name] = true
	}
	return errors.Join(errs...)
}
