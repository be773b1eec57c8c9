package gate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/gate/pattern"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Hash returns the hash that makes keys of addresses, secret included. A state that is to
// be restored needs a gate with the same.
func (e *Engine) Hash() filter.Hash { return e.config.Hash }

// AppendState appends what the gate has learnt, bans aside: chains, strikes, and the
// tracked users if the kind of filter lists its keys, as evergreen does.
//
//	patterns 8 | times per user 4 | users 8 | key 8, cell 4, tag 2, times … | … | tracked 8 | key 8 | …
//
// All numbers are little endian. The first says which patterns the nodes are of.
func (e *Engine) AppendState(to []byte) []byte {
	s := e.states
	to = binary.LittleEndian.AppendUint64(to, e.fingerprint())
	to = binary.LittleEndian.AppendUint32(to, uint32(s.kept))
	to = binary.LittleEndian.AppendUint64(to, uint64(s.count))
	for b := range s.buckets {
		for i, c := range s.buckets[b].cells {
			if c == 0 {
				continue
			}
			p := place{b, i}
			to = binary.LittleEndian.AppendUint64(to, uint64(s.buckets[b].keys[i]))
			to = binary.LittleEndian.AppendUint32(to, uint32(c))
			to = binary.LittleEndian.AppendUint16(to, uint16(*s.tag(p)))
			for _, at := range s.timesOf(p) {
				to = binary.LittleEndian.AppendUint64(to, uint64(at))
			}
		}
	}
	return e.appendTracked(to)
}

func (e *Engine) appendTracked(to []byte) []byte {
	at := len(to)
	to = append(to, make([]byte, 8)...)
	n := uint64(0)
	if l, ok := e.tracked.Deleter.(filter.Lister); ok {
		for k := range l.Keys() {
			to = binary.LittleEndian.AppendUint64(to, uint64(k))
			n++
		}
	}
	binary.LittleEndian.PutUint64(to[at:], n)
	return to
}

// fingerprint returns a number for the patterns: equal ones have equal nodes.
func (e *Engine) fingerprint() uint64 {
	var text bytes.Buffer
	_ = pattern.Write(&text, e.patterns.Patterns()) // a Buffer takes everything
	return uint64(filter.KeyOf(text.Bytes()))
}

var errState = errors.New("the state is cut off, or has numbers that cannot be")

// RestoreState takes in what [Engine.AppendState] has written, for a gate with the same
// hash, and returns the bytes behind it. Where patterns have changed, chains are left out;
// where fewer strikes ban, so many less one are counted. After an error some of it may be
// there.
func (e *Engine) RestoreState(b []byte) (rest []byte, err error) {
	if len(b) < 20 {
		return nil, fault.In("gate", "%w", errState)
	}
	same := binary.LittleEndian.Uint64(b) == e.fingerprint()
	kept, users := uint64(binary.LittleEndian.Uint32(b[8:])), binary.LittleEndian.Uint64(b[12:])
	b = b[20:]
	size := 14 + 8*kept
	if kept > maxStrikes || users > uint64(len(b))/size {
		return nil, fault.In("gate", "%w", errState)
	}
	for range users {
		if err := e.restoreUser(b[:size], same); err != nil {
			return nil, err
		}
		b = b[size:]
	}
	return e.restoreTracked(b)
}

func (e *Engine) restoreUser(b []byte, same bool) error {
	k := filter.Key(binary.LittleEndian.Uint64(b))
	c, t := cell(binary.LittleEndian.Uint32(b[8:])), tag(binary.LittleEndian.Uint16(b[12:]))
	node, strikes := c.node(), min(c.strikes(), e.config.Strikes-1)
	if same && node >= e.nodes(t) {
		return fault.In("gate", "%w", errState)
	}
	if !same {
		node = 0
	}
	if c = newCell(node, strikes); c == 0 || e.states.find(k) != nowhere {
		return nil
	}
	p := e.states.insert(k, c, t&^((ages-1)<<originBits))
	if p == nowhere {
		e.lost.Strikes++
		return nil
	}
	for i := range e.states.timesOf(p) {
		if at := 14 + 8*i; at+8 <= len(b) {
			e.states.timesOf(p)[i] = int64(binary.LittleEndian.Uint64(b[at:]))
		}
	}
	return nil
}

// nodes returns how many nodes the automaton of an entry has.
func (e *Engine) nodes(t tag) uint32 {
	if t&flowTag == 0 {
		return uint32(e.patterns.Nodes())
	}
	if e.Payloads() != nil {
		return 0
	}
	return uint32(e.stream.Nodes())
}

func (e *Engine) restoreTracked(b []byte) ([]byte, error) {
	if len(b) < 8 || binary.LittleEndian.Uint64(b) > uint64(len(b)-8)/8 {
		return nil, fault.In("gate", "%w", errState)
	}
	n := binary.LittleEndian.Uint64(b)
	b = b[8:]
	for range n {
		k := filter.Key(binary.LittleEndian.Uint64(b))
		e.track(k, e.tracked.MayContain(k))
		b = b[8:]
	}
	return b, nil
}

// Flows returns how many flows are inside a chain.
func (e *Engine) Flows() (n int) {
	for b := range e.states.buckets {
		for i, c := range e.states.buckets[b].cells {
			if c != 0 && *e.states.tag(place{b, i})&flowTag != 0 {
				n++
			}
		}
	}
	return n
}

// SetStrikes gives a user so many strikes, the last of them at that time, as if earned.
func (e *Engine) SetStrikes(src netip.Addr, strikes int, at int64) {
	u := e.identify(src)
	p := e.states.find(u.key)
	live := max(0, min(strikes, e.config.Strikes-1)-1)
	var node uint32
	if p != nowhere {
		node = e.states.cell(p).node()
	}
	if e.states.strike(u.key, p, 0, node, e.origin(u.src), at) == nowhere {
		e.lost.Strikes++
		return
	}
	for range live {
		p = e.states.find(u.key)
		e.states.strike(u.key, p, e.states.cell(p).strikes(), node, 0, at)
	}
}
