package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/internal/frame"
)

// A Type is what an entry is to a client. The numbers are in logs.
type Type uint8

// The types.
const (
	Bloom  Type = 1 // keys are added
	Cuckoo Type = 2 // keys are added and deleted
	Text   Type = 3 // a string
)

// String returns the name that TYPE answers.
func (t Type) String() string {
	switch t {
	case Bloom:
		return "MBbloom--"
	case Cuckoo:
		return "MBbloomCF"
	}
	return "string"
}

// A Spec says what an entry is: everything that is needed to make it anew, and what was
// asked for.
type Spec struct {
	Type  Type
	Kind  frame.Kind  // 0 for a Text
	Shape frame.Shape // of the filter

	Capacity   uint64 // that was asked for
	FPR        float64
	Expansion  uint32
	BucketSize uint16
	Iterations uint16
	Fixed      bool   // it does not grow
	Limit      uint64 // most items; 0 means no limit
	Expiry     int64  // milliseconds since 1970; 0 means never

	// Items and Deletes are what an entry with content begins with; if both are 0, the
	// filter tells.
	Items, Deletes uint64

	Part Part // of a set that is spread over partitions, else zero
}

const (
	specVersion = 1 // of what is no part
	partVersion = 2 // a Part follows the fields of the shape
	specSize    = 2 + 2 + 8 + 8 + 4 + 2 + 2 + 1 + 8 + 8 + 8 + 8 + 1
	maxFields   = 32
)

var errSpec = errors.New("store: invalid description of an entry")

// AppendTo appends the stored form.
func (s *Spec) AppendTo(b []byte) []byte {
	version := byte(specVersion)
	if s.Part.Count > 0 {
		version = partVersion
	}
	b = append(b, version, byte(s.Type))
	b = binary.LittleEndian.AppendUint16(b, uint16(s.Kind))
	b = binary.LittleEndian.AppendUint64(b, s.Capacity)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.FPR))
	b = binary.LittleEndian.AppendUint32(b, s.Expansion)
	b = binary.LittleEndian.AppendUint16(b, s.BucketSize)
	b = binary.LittleEndian.AppendUint16(b, s.Iterations)
	fixed := byte(0)
	if s.Fixed {
		fixed = 1
	}
	b = append(b, fixed)
	b = binary.LittleEndian.AppendUint64(b, s.Limit)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Expiry))
	b = binary.LittleEndian.AppendUint64(b, s.Items)
	b = binary.LittleEndian.AppendUint64(b, s.Deletes)
	b = append(b, byte(len(s.Shape)))
	for _, f := range s.Shape {
		b = append(b, byte(len(f.Name)))
		b = append(b, f.Name...)
		if x, ok := f.Value.Float(); ok {
			b = append(b, 'f')
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		} else {
			n, _ := f.Value.Uint()
			b = append(b, 'u')
			b = binary.LittleEndian.AppendUint64(b, n)
		}
	}
	if version == partVersion {
		b = s.Part.appendTo(b)
	}
	return b
}

// ReadSpec takes a Spec from the front of b and returns the rest.
func ReadSpec(b []byte) (s Spec, rest []byte, err error) {
	if len(b) < specSize {
		return s, nil, errSpec
	}
	if b[0] != specVersion && b[0] != partVersion {
		return s, nil, fmt.Errorf("store: an entry of version %d: a newer release wrote it", b[0])
	}
	s = Spec{
		Type:       Type(b[1]),
		Kind:       frame.Kind(binary.LittleEndian.Uint16(b[2:])),
		Capacity:   binary.LittleEndian.Uint64(b[4:]),
		FPR:        math.Float64frombits(binary.LittleEndian.Uint64(b[12:])),
		Expansion:  binary.LittleEndian.Uint32(b[20:]),
		BucketSize: binary.LittleEndian.Uint16(b[24:]),
		Iterations: binary.LittleEndian.Uint16(b[26:]),
		Fixed:      b[28] != 0,
		Limit:      binary.LittleEndian.Uint64(b[29:]),
		Expiry:     int64(binary.LittleEndian.Uint64(b[37:])),
		Items:      binary.LittleEndian.Uint64(b[45:]),
		Deletes:    binary.LittleEndian.Uint64(b[53:]),
	}
	if !s.valid() || b[specSize-1] > maxFields {
		return s, nil, errSpec
	}
	rest = b[specSize:]
	for range b[specSize-1] {
		var f frame.Field
		if f, rest, err = readField(rest); err != nil {
			return s, nil, err
		}
		s.Shape = append(s.Shape, f)
	}
	if b[0] == partVersion {
		if s.Part, rest, err = readPart(rest); err != nil || s.Type == Text {
			return s, nil, errSpec
		}
	}
	return s, rest, nil
}

// valid reports whether the numbers are such as a server writes. They may come from a dump.
func (s *Spec) valid() bool {
	if s.Type < Bloom || s.Type > Text || max(s.Capacity, s.Limit, s.Items, s.Deletes) > math.MaxInt64 || s.Expiry < 0 {
		return false
	}
	if s.Type == Text {
		return s.Kind == 0
	}
	return s.Capacity > 0 && s.FPR <= 1 // false for what is not a number
}

func readField(b []byte) (f frame.Field, rest []byte, err error) {
	if len(b) == 0 || len(b) < int(b[0])+10 {
		return f, nil, errSpec
	}
	n := int(b[0]) + 1
	f.Name = string(b[1:n])
	bits := binary.LittleEndian.Uint64(b[n+1:])
	switch b[n] {
	case 'f':
		f.Value = frame.Float(math.Float64frombits(bits))
	case 'u':
		f.Value = frame.Uint(bits)
	default:
		return f, nil, errSpec
	}
	return f, b[n+9:], nil
}

func appendUint64(b []byte, n uint64) []byte { return binary.LittleEndian.AppendUint64(b, n) }

// uint64At returns the i-th number of b.
func uint64At(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
