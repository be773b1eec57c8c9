package record

import (
	"encoding/binary"
	"fmt"
	"time"
)

// A Lease is what Claim and Beat say about the node that leads.
type Lease struct {
	Node    string        // its name
	Address string        // where commands are sent to it
	Lasts   time.Duration // how long each record of the node lets it lead, from when it was sent; whole milliseconds
}

// AppendTo appends the stored form: milliseconds uvarint | node | address, both as length
// uvarint | bytes.
func (l Lease) AppendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(l.Lasts.Milliseconds()))
	for _, s := range []string{l.Node, l.Address} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

// maxLease is the longest lease that is believed.
const maxLease = 24 * time.Hour

// ReadLease reads the stored form.
func ReadLease(data []byte) (l Lease, err error) {
	e := Effects{rest: data}
	ms, one := e.uvarint()
	node, two := e.bytes()
	address, three := e.bytes()
	if !one || !two || !three || len(e.rest) > 0 || len(node) == 0 || ms == 0 || ms > uint64(maxLease.Milliseconds()) {
		return l, fmt.Errorf("record: %d bytes are no lease: %w", len(data), ErrDamaged)
	}
	return Lease{string(node), string(address), time.Duration(ms) * time.Millisecond}, nil
}
