package command

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// An arrival is an entry that comes in chunks. It is durable when the last one is.
type arrival struct {
	name   string
	header []byte // of a dump of RedisBloom
	data   []byte
	size   int64 // of all data
	last   int64 // when a chunk came, milliseconds since 1970
}

const (
	maxArrivals = 16        // that may arrive at the same time; the oldest is forgotten
	arrivalTime = 60 * 1000 // milliseconds after which one that stands still is forgotten
)

// arrived returns how many bytes have arrived of entries that are not complete. Those that
// stand still are forgotten.
func (e *Env) arrived(now int64) (n int64) {
	if len(e.arrivals) == 0 {
		return 0
	}
	e.forgetArrivals(func(a *arrival) bool { return now-a.last > arrivalTime })
	return e.arriving.Load()
}

// expect begins an arrival, in the place of one of that name.
func (e *Env) expect(a *arrival) {
	e.forgetArrival(a.name)
	e.arrivals = append(e.arrivals, a)
	if len(e.arrivals) > maxArrivals {
		e.arrivals = slices.Delete(e.arrivals, 0, 1)
	}
}

// arrive adds a chunk that begins at an offset to what has arrived under a name. It reports
// false if the chunk does not follow; then a is nil if nothing has arrived.
func (e *Env) arrive(now int64, name []byte, at int64, chunk []byte) (a *arrival, ok bool) {
	i := slices.IndexFunc(e.arrivals, func(a *arrival) bool { return a.name == string(name) })
	if i < 0 {
		return nil, false
	}
	a = e.arrivals[i]
	if at != int64(len(a.data)) || at+int64(len(chunk)) > a.size {
		return a, false
	}
	a.data, a.last = append(a.data, chunk...), now
	return a, true
}

// forgetArrival forgets what has arrived under a name.
func (e *Env) forgetArrival(name string) {
	e.forgetArrivals(func(a *arrival) bool { return a.name == name })
}

// forgetArrivals forgets some of what has arrived, and counts the rest.
func (e *Env) forgetArrivals(which func(*arrival) bool) {
	e.arrivals = slices.DeleteFunc(e.arrivals, which)
	n := int64(0)
	for _, a := range e.arrivals {
		n += int64(cap(a.data))
	}
	e.arriving.Store(n)
}

// loadTexts are the answers of LOADCHUNK for a type.
type loadTexts struct{ cursor, exists, header, bad, gap string }

var (
	bloomTexts  = loadTexts{"ERR Second argument must be numeric", "ERR received bad data", "ERR received bad data", "ERR received bad data", "ERR invalid offset - no link found"}
	cuckooTexts = loadTexts{"Invalid position", "ERR item exists", "Invalid header", "Couldn't create filter!", "Couldn't load chunk!"}
)

// loadChunk takes in a part of an entry of a type, from this server's SCANDUMP or RedisBloom's.
// The cursor is that behind the part: 1 with the header of RedisBloom.
func loadChunk(t store.Type) func(*Call) {
	text := &bloomTexts
	if t == store.Cuckoo {
		text = &cuckooTexts
	}
	return func(c *Call) {
		cursor, ok := resp.ParseInt(c.args[2])
		switch {
		case !ok || t == store.Cuckoo && cursor == 0:
			c.w.Err(text.cursor)
		case cursor < 1:
			c.w.Err(text.bad)
		case !c.free(t, cursor, text):
		case cursor == 1:
			c.loadHeader(t, text)
		default:
			c.loadData(t, cursor-1-int64(len(c.args[3])), text)
		}
	}
}

// free reports whether a chunk may come under a name. Otherwise it answers.
func (c *Call) free(t store.Type, cursor int64, text *loadTexts) bool {
	switch e := c.find(c.args[1]); {
	case e == nil:
		return true
	case e.Type() != t:
		c.w.Err(wrongType)
	case cursor == 1 || cursor == int64(len(c.args[3]))+1:
		c.w.Err(text.exists)
	default:
		c.w.Err(text.gap)
	}
	return false
}

// loadHeader begins the arrival of a dump of RedisBloom.
func (c *Call) loadHeader(t store.Type, text *loadTexts) {
	header := c.args[3]
	size, err := store.DumpSize(t, header)
	switch {
	case t == store.Cuckoo && len(header) != 38:
		c.w.Err(text.header)
	case err != nil:
		c.w.Err(text.bad)
	case c.admit(&arrival{header: bytes.Clone(header), size: size}):
		c.w.OK()
	}
}

// admit begins an arrival, unless there is no memory for it: then it answers. A part of it
// would keep others from adding until it is forgotten.
func (c *Call) admit(a *arrival) bool {
	a.name, a.last = string(c.args[1]), c.time()
	c.env.forgetArrival(a.name)
	if a.size > c.env.MaxMemory()-c.bytes() {
		c.w.Err(outOfMemory)
		return false
	}
	c.env.expect(a)
	return true
}

// loadData takes in a chunk, and makes the entry when all of it is there.
func (c *Call) loadData(t store.Type, at int64, text *loadTexts) {
	chunk := c.args[3]
	if at == 0 && len(chunk) >= dumpHead && string(chunk[:8]) == dumpMagic {
		size := min(binary.LittleEndian.Uint64(chunk[8:]), math.MaxInt64-16) + 16
		if !c.admit(&arrival{size: int64(size)}) {
			return
		}
	}
	a, ok := c.env.arrive(c.time(), c.args[1], at, chunk)
	switch {
	case a == nil:
		c.w.Err(notFound)
		return
	case !ok && at == int64(len(a.data)) && t == store.Bloom:
		c.w.Err("ERR invalid chunk - Too big for current filter")
		return
	case !ok:
		c.w.Err(text.gap)
		return
	case int64(len(a.data)) < a.size && int64(len(a.data)) < c.env.MaxMemory():
		c.w.OK()
		return
	}
	c.env.forgetArrival(a.name)
	spec, content, ok := openDump(a.data)
	if a.header != nil {
		var err error
		spec, content, err = c.tx.Store().FromRedis(t, a.header, a.data)
		ok = err == nil
	}
	if !ok || spec.Type != t {
		c.w.Err(text.bad)
		return
	}
	if err := c.adopt(c.args[1], spec, content); err == nil {
		c.w.OK()
	} else if !errors.Is(err, errAnswered) {
		c.w.Err(text.bad)
	}
}
