package command

import (
	"encoding/binary"
	"slices"

	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// An arrival is an entry that comes in chunks. It is durable when the last one is.
type arrival struct {
	name string
	data []byte
	last int64 // when a chunk came, milliseconds since 1970
}

const (
	maxArrivals = 16        // that may arrive at the same time; the oldest is forgotten
	arrivalTime = 60 * 1000 // milliseconds after which one that stands still is forgotten
)

// arrived returns how many bytes have arrived of entries that are not complete. Those that
// stand still are forgotten.
func (e *Env) arrived(now int64) (n int64) {
	e.arrivals = slices.DeleteFunc(e.arrivals, func(a *arrival) bool { return now-a.last > arrivalTime })
	for _, a := range e.arrivals {
		n += int64(cap(a.data))
	}
	return n
}

// arrive adds a chunk to what has arrived under a name. It reports false if the chunk does
// not follow.
func (e *Env) arrive(now int64, name []byte, cursor int64, chunk []byte) (a *arrival, ok bool) {
	begin := cursor - 1 - int64(len(chunk))
	for _, one := range e.arrivals {
		if one.name == string(name) {
			a = one
		}
	}
	if begin == 0 {
		e.forgetArrival(name)
		a = &arrival{name: string(name), last: now}
		e.arrivals = append(e.arrivals, a)
		if len(e.arrivals) > maxArrivals {
			e.arrivals = e.arrivals[1:]
		}
	}
	if a == nil || begin != int64(len(a.data)) {
		return a, false
	}
	a.data, a.last = append(a.data, chunk...), now
	return a, true
}

// forgetArrival forgets what has arrived under a name.
func (e *Env) forgetArrival(name []byte) {
	kept := e.arrivals[:0]
	for _, a := range e.arrivals {
		if a.name != string(name) {
			kept = append(kept, a)
		}
	}
	clear(e.arrivals[len(kept):])
	e.arrivals = kept
}

// loadTexts are the answers of LOADCHUNK for a type.
type loadTexts struct{ cursor, exists, bad, missing, gap string }

// loadChunk takes in a part of an entry of a type.
func loadChunk(t store.Type) func(*Call) {
	text := loadTexts{"ERR Second argument must be numeric", "ERR received bad data", "ERR received bad data", notFound, "ERR invalid offset - no link found"}
	if t == store.Cuckoo {
		text = loadTexts{"Invalid position", "ERR item exists", "Invalid header", notFound, "Couldn't load chunk!"}
	}
	return func(c *Call) {
		cursor, ok := resp.ParseInt(c.args[2])
		chunk := c.args[3]
		first := cursor == 1 || cursor == int64(len(chunk))+1
		switch {
		case !ok || t == store.Cuckoo && cursor == 0:
			c.w.Err(text.cursor)
			return
		case cursor < 1:
			c.w.Err(text.bad)
			return
		case c.find(c.args[1]) != nil:
			switch {
			case c.find(c.args[1]).Type() != t:
				c.w.Err(wrongType)
			case first:
				c.w.Err(text.exists)
			default:
				c.w.Err(text.gap)
			}
			return
		case first && (len(chunk) < dumpHead || string(chunk[:8]) != dumpMagic):
			c.w.Err(text.bad)
			return
		}
		a, ok := c.env.arrive(c.time(), c.args[1], cursor, chunk)
		switch {
		case !ok && a == nil:
			c.w.Err(text.missing)
		case !ok:
			c.w.Err(text.gap)
		case uint64(len(a.data)) < 16+binary.LittleEndian.Uint64(a.data[8:]) && int64(len(a.data)) < c.env.MaxMemory():
			c.w.OK()
		default:
			c.env.forgetArrival(c.args[1])
			c.restoreDump(c.args[1], a.data, t, text.bad)
		}
	}
}

// restoreDump makes an entry of a dump.
func (c *Call) restoreDump(name, data []byte, t store.Type, bad string) {
	spec, content, ok := openDump(data)
	if !ok || t != 0 && spec.Type != t {
		c.w.Err(bad)
		return
	}
	if ok, answered := c.adopt(name, spec, content); ok {
		c.w.OK()
	} else if !answered {
		c.w.Err(bad)
	}
}
