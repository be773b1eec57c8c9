// Package record encodes what a partition writes to its log.
//
// A record holds the effects of one commit, in order:
//
//	magic 2 | version 1 | flags 1 | epoch 4 | number 8 | time 8 | previous 4 | effects 4 | crc32c 4 | effects …
//
//	effect:  code 1 | entry uvarint | …
//	keys:    count 2 | 8 bytes each
//	bytes:   length uvarint | bytes
//
// All numbers are little endian. The number counts records without a gap, and previous is
// the checksum of the record before: a log that lost a record, or has one twice, is found
// out ([Chain]). The checksum covers everything but itself.
//
// An effect is complete: no default, formula or clock is asked when it is applied, so a
// later release reads old logs alike. Codes and layouts never change; new ones are of a new
// level.
//
// # Levels
//
// The version of a record is the lowest level that has all its effects. A release reads
// all levels up to [Highest], and refuses records above it ([ErrNewer]) before it applies
// anything of them. Level 1 is what a server alone writes. Level 2 adds the effects of nodes that
// share a log: [Claim], [Beat], [HandOver], [Level].
//
// Nodes of several releases may share a log while they are upgraded one after the other. The
// leader uses no effect above the level of the log, which is 2 at first. When every node
// reads a higher one, the leader raises it with the effect [Level]. A node of an older
// release that comes back later is refused at that record.
package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

const (
	magic      = "eR"
	headerSize = 36
	sumAt      = 32
)

// Highest is the highest level that this release reads and writes.
const Highest = 2

// MaxSize is the largest record. A log must be able to hold one.
const MaxSize = 4 << 20

// ErrDamaged is matched by errors about bytes that are no record, or not the next one.
var ErrDamaged = errors.New("damaged log")

// ErrNewer is matched by errors about records that a newer release wrote.
var ErrNewer = errors.New("record of a newer release")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Header says where a record belongs.
type Header struct {
	Level    uint8  // the lowest that has all effects, filled in
	Epoch    uint32 // of the writer
	Number   uint64 // from 1
	Time     int64  // milliseconds since 1970, by the writer's clock
	Previous uint32 // checksum of the record before
	Effects  uint32 // how many follow; a run of keys is one
}

// Open checks the bytes of a record and returns its header and effects.
func Open(b []byte) (h Header, effects Effects, err error) {
	if len(b) < headerSize || string(b[:2]) != magic {
		return h, effects, fmt.Errorf("record: %d bytes do not begin as a record does: %w", len(b), ErrDamaged)
	}
	if b[2] == 0 || b[2] > Highest || b[3] != 0 {
		return h, effects, fmt.Errorf("record: level %d, flags %d, this release reads up to level %d: upgrade it: %w", b[2], b[3], Highest, ErrNewer)
	}
	if sum := checksum(b); sum != binary.LittleEndian.Uint32(b[sumAt:]) {
		return h, effects, fmt.Errorf("record: checksum %08x, computed %08x: %w", binary.LittleEndian.Uint32(b[sumAt:]), sum, ErrDamaged)
	}
	h = Header{
		Level:    b[2],
		Epoch:    binary.LittleEndian.Uint32(b[4:]),
		Number:   binary.LittleEndian.Uint64(b[8:]),
		Time:     int64(binary.LittleEndian.Uint64(b[16:])),
		Previous: binary.LittleEndian.Uint32(b[24:]),
		Effects:  binary.LittleEndian.Uint32(b[28:]),
	}
	return h, Effects{b[headerSize:], h.Effects}, nil
}

// checksum returns the checksum of everything but itself.
func checksum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:sumAt], castagnoli), castagnoli, b[headerSize:])
}

// A Chain is the place behind a record: its number, checksum and epoch. The zero Chain is the
// beginning.
type Chain struct {
	Number uint64
	Sum    uint32
	Epoch  uint32
}

// Next checks that b is the record behind c, and returns the place behind b. Epochs never go
// back.
func (c Chain) Next(b []byte) (Chain, Header, Effects, error) {
	h, effects, err := Open(b)
	if err != nil {
		return c, h, effects, err
	}
	if h.Number != c.Number+1 || h.Previous != c.Sum {
		return c, h, effects, fmt.Errorf("record: number %d after %08x where %d after %08x should be: %w",
			h.Number, h.Previous, c.Number+1, c.Sum, ErrDamaged)
	}
	if h.Epoch < c.Epoch {
		return c, h, effects, fmt.Errorf("record: number %d has epoch %d, the one before has %d: %w", h.Number, h.Epoch, c.Epoch, ErrDamaged)
	}
	return Of(b), h, effects, nil
}

// Of returns the place behind a record that Open has checked.
func Of(b []byte) Chain {
	return Chain{binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint32(b[sumAt:]), binary.LittleEndian.Uint32(b[4:])}
}
