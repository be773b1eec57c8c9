package store

import (
	"encoding/binary"
	"math"

	"github.com/everbloom-go/everbloom/filter"
)

// A Part says which part of a set an entry is. A set that is spread over partitions has one
// entry in each of Count partitions, all with the same name. The zero Part is a whole set.
type Part struct {
	Count uint16 // of parts; 0 if the set is whole
	Index uint16 // from 0; that one is in the partition of the name
	Set   uint64 // a number that all parts of the set have; later sets of the name have higher ones
}

// MaxParts is how many parts a set can have.
const MaxParts = math.MaxUint16

const partSize = 2 + 2 + 8

func (p Part) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, p.Count)
	b = binary.LittleEndian.AppendUint16(b, p.Index)
	return appendUint64(b, p.Set)
}

// readPart takes a Part from the front of b and returns the rest.
func readPart(b []byte) (p Part, rest []byte, err error) {
	if len(b) < partSize {
		return p, nil, errSpec
	}
	p = Part{binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:]), binary.LittleEndian.Uint64(b[4:])}
	if !p.Valid() {
		return p, nil, errSpec
	}
	return p, b[partSize:], nil
}

// Valid reports whether there can be such a part.
func (p Part) Valid() bool { return p.Count > 1 && p.Index < p.Count }

// Hidden reports whether an entry is a part that is not in the partition of its name. Commands
// that list names pass over it.
func (p Part) Hidden() bool { return p.Index > 0 }

// partHash divides items among parts. It has no secret and never changes: all nodes, and all
// releases, find an item in the same part.
var partHash = filter.XXH3(0x5eb1_00a5_9a27_50d5)

// PartOf returns the part of an item in a set of so many.
func PartOf(item []byte, count uint16) uint16 {
	return uint16(uint64(partHash.Bytes(item)) % uint64(max(count, 1)))
}

// Share returns how many items a part of a set has room for: of so many that are divided by
// chance, with three standard deviations more.
func Share(items uint64, count uint16) uint64 {
	mean := float64(items) / float64(max(count, 1))
	return uint64(math.Ceil(mean + 3*math.Sqrt(mean)))
}

// Spreads reports whether the store has, or has had, parts of sets.
func (s *Store) Spreads() bool { return s.spreads.Load() }
