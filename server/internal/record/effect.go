package record

import (
	"encoding/binary"
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
)

// A Code says what an effect does. The numbers are in logs: do not change them.
type Code uint8

// The codes. Those up to Ask have a run of keys, the others bytes. Those from Claim on are of
// level 2.
const (
	Present Code = 1 // the keys are in the set, however often they were added
	Absent  Code = 2 // they are not
	Add     Code = 3 // each is there once more
	AddNew  Code = 4 // each is there once more unless it seemed to be there
	Remove  Code = 5 // each is there once less, if it was there
	Ask     Code = 6 // nothing: the answer was to be given at this place

	Create Code = 16 // Name is that of the entry, Data what it is
	Drop   Code = 17 // Data is one byte, a Reason
	Rename Code = 18 // Name is the new one
	Expire Code = 19 // Data is a time, 8 bytes; 0 means never
	Adopt  Code = 20 // as Create, with content: see package store
	Flush  Code = 21 // all entries are dropped; the entry is 0
	Hash   Code = 22 // Data is the hash of items; the entry is 0
	Piece  Code = 23 // Data is a part of the content of an entry that is adopted later
	Copies Code = 24 // Data is a key, 8 bytes, and how often it is there, 4 bytes

	Claim    Code = 32 // a node leads from here on: Data is a Lease, the entry 0
	Beat     Code = 33 // the node still leads: as Claim
	HandOver Code = 34 // the writer does not lead any more: Data is the node that is to, or empty
	Level    Code = 35 // Data is one byte: records of that level may follow
)

// Cluster reports whether effects of the code are about the nodes that share a log. They change
// no entry.
func (c Code) Cluster() bool { return c >= Claim && c <= Level }

// level returns the lowest level that has the code.
func (c Code) level() byte {
	if c >= Claim {
		return 2
	}
	return 1
}

func (c Code) keyed() bool { return c >= Present && c <= Ask }

// named reports whether effects of the code have a name.
func (c Code) named() bool { return c == Create || c == Rename || c == Adopt }

// A Reason says why an entry was dropped.
type Reason uint8

// The reasons. The numbers are in logs.
const (
	ByCommand Reason = 1
	ByTime    Reason = 2
)

// An Effect is one change. Its bytes belong to the record.
type Effect struct {
	Code  Code
	Entry uint64
	Keys  Keys   // of keyed effects
	Name  []byte // of Create, Rename, Adopt
	Data  []byte // of the others
}

// Keys are a run of keys, 8 bytes each.
type Keys []byte

// Len returns how many keys there are.
func (k Keys) Len() int { return len(k) / 8 }

// AppendTo appends the keys to a list.
func (k Keys) AppendTo(keys []filter.Key) []filter.Key {
	for ; len(k) >= 8; k = k[8:] {
		keys = append(keys, filter.Key(binary.LittleEndian.Uint64(k)))
	}
	return keys
}

// Effects are the effects of a record, to be taken one by one.
type Effects struct {
	rest []byte
	left uint32
}

// Next returns the next effect; ok is false behind the last. Effects that cannot be
// understood are an error, though their checksum is right.
func (e *Effects) Next() (x Effect, ok bool, err error) {
	if e.left == 0 {
		if len(e.rest) > 0 {
			return x, false, damaged("bytes behind the last effect", len(e.rest))
		}
		return x, false, nil
	}
	e.left--
	if len(e.rest) == 0 {
		return x, false, damaged("effects missing", int(e.left)+1)
	}
	x.Code, e.rest = Code(e.rest[0]), e.rest[1:]
	if x.Entry, ok = e.uvarint(); !ok {
		return x, false, damaged("entry of an effect of code", int(x.Code))
	}
	switch {
	case x.Code.keyed():
		ok = e.keys(&x)
	case x.Code.named():
		x.Name, ok = e.bytes()
		if ok && x.Code != Rename {
			x.Data, ok = e.bytes()
		}
	case x.Code >= Create && x.Code <= Copies, x.Code.Cluster():
		x.Data, ok = e.bytes()
	default:
		return x, false, fmt.Errorf("record: effect of code %d: %w", x.Code, ErrNewer)
	}
	if !ok {
		return x, false, damaged("content of an effect of code", int(x.Code))
	}
	return x, true, nil
}

func damaged(what string, n int) error { return fmt.Errorf("record: %s: %d: %w", what, n, ErrDamaged) }

func (e *Effects) uvarint() (uint64, bool) {
	n, size := binary.Uvarint(e.rest)
	if size <= 0 {
		return 0, false
	}
	e.rest = e.rest[size:]
	return n, true
}

func (e *Effects) bytes() ([]byte, bool) {
	n, ok := e.uvarint()
	if !ok || n > uint64(len(e.rest)) {
		return nil, false
	}
	b := e.rest[:n:n]
	e.rest = e.rest[n:]
	return b, true
}

func (e *Effects) keys(x *Effect) bool {
	if len(e.rest) < 2 {
		return false
	}
	n := 8 * int(binary.LittleEndian.Uint16(e.rest))
	if n == 0 || n > len(e.rest)-2 {
		return false
	}
	x.Keys = Keys(e.rest[2 : 2+n : 2+n])
	e.rest = e.rest[2+n:]
	return true
}
