package command

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// A dump is an entry as bytes:
//
//	magic 8 | length of the rest 8 | length of the spec 4 | spec | content | crc32c 4
//
// The checksum covers everything before it.
const (
	dumpMagic = "EBDUMP\x00\x01"
	dumpHead  = 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// dumpOf returns the dump of an entry.
func dumpOf(e *store.Entry) ([]byte, error) {
	image, err := e.Snapshot()
	if err != nil {
		return nil, err
	}
	spec := *e.Spec()
	spec.Expiry, spec.Items, spec.Deletes = 0, e.Items(), e.Deletes()
	described := spec.AppendTo(nil)
	b := bytes.NewBuffer(make([]byte, dumpHead, dumpHead+len(described)+int(e.Bytes())))
	b.Write(described)
	if _, err := image.WriteTo(b); err != nil {
		return nil, err
	}
	out := b.Bytes()
	copy(out, dumpMagic)
	binary.LittleEndian.PutUint64(out[8:], uint64(len(out)-16+4))
	binary.LittleEndian.PutUint32(out[16:], uint32(len(described)))
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli)), nil
}

// openDump returns the parts of a dump.
func openDump(b []byte) (spec store.Spec, content []byte, ok bool) {
	n := len(b) - 4
	if n < dumpHead || string(b[:8]) != dumpMagic || binary.LittleEndian.Uint64(b[8:]) != uint64(len(b)-16) ||
		crc32.Checksum(b[:n], castagnoli) != binary.LittleEndian.Uint32(b[n:]) {
		return spec, nil, false
	}
	size := int(binary.LittleEndian.Uint32(b[16:]))
	if size > n-dumpHead {
		return spec, nil, false
	}
	spec, rest, err := store.ReadSpec(b[dumpHead : dumpHead+size])
	return spec, b[dumpHead+size : n], err == nil && len(rest) == 0
}

// errAnswered is returned by adopt when it has written the reply.
var errAnswered = errors.New("command: answered")

// adopt makes an entry of bytes that may come from anywhere, and belong to it from then on.
// Unless the error is errAnswered the caller answers.
func (c *Call) adopt(name []byte, spec store.Spec, content []byte) error {
	if n := len(content); c.executing && n > partition.MaxContent {
		c.w.Err(fmt.Sprintf("ERR %s: a value of %d bytes, at most %d are allowed in a transaction", c.cmd.Name, n, partition.MaxContent))
		return errAnswered
	}
	if c.bytes()+int64(len(content)) > c.env.MaxMemory() {
		c.w.Err(outOfMemory)
		return errAnswered
	}
	_, err := c.tx.Adopt(name, spec, content)
	return err
}

// dumpChunk is how many bytes SCANDUMP returns at most.
const dumpChunk = 4 << 20

// A heldDump is a dump that a session is reading, chunk by chunk.
type heldDump struct {
	number uint64 // of the entry
	file   bool   // what EB.EXPORT returns
	size   int64  // bytes that count as used memory
	data   []byte
}

// hold has the session read a dump in the place of the one before; nil lets that go.
func (s *Session) hold(d *heldDump) {
	if s.dump != nil {
		s.env.held.Add(-s.dump.size)
	}
	if d != nil {
		s.env.held.Add(d.size)
	}
	s.dump = d
}

// scanDump returns a part of an entry of a type.
func scanDump(t store.Type) func(*Call) {
	return func(c *Call) {
		cursor, ok := resp.ParseInt(c.args[2])
		if !ok {
			if t == store.Bloom {
				c.w.Err("Second argument must be numeric")
			} else {
				c.w.Err("Invalid position")
			}
			return
		}
		if e := c.existing(t); e != nil {
			c.chunk(e, cursor, false)
		}
	}
}

// chunk answers a part of an entry: the cursor to go on with and bytes. It begins with
// cursor 0 and ends with it.
func (c *Call) chunk(e *store.Entry, cursor int64, file bool) {
	if d := c.dump; cursor == 0 || d == nil || d.number != e.Number() || d.file != file {
		if e = c.settled(e); e == nil {
			return
		}
		if problem := c.holdDump(e, file); problem != "" {
			c.w.Err(problem)
			return
		}
	}
	from, head := cursor-1, int64(dumpHead)
	data := c.dump.data
	switch {
	case cursor == 0: // a head by itself, as RedisBloom has it
		from, data = 0, data[:min(head, int64(len(data)))]
	case cursor < 0 || from >= int64(len(data)):
		c.hold(nil)
		c.w.Array(2)
		c.w.Int(0)
		c.w.Text("")
		return
	}
	part := data[from:min(from+dumpChunk, int64(len(data)))]
	c.w.Array(2)
	c.w.Int(1 + from + int64(len(part)))
	c.w.Bulk(part)
}

// holdDump makes the dump of an entry that the session reads from now on. It returns what is
// wrong. The dump counts before it is made: other sessions make theirs at the same time.
func (c *Call) holdDump(e *store.Entry, file bool) (problem string) {
	d := &heldDump{number: e.Number(), file: file, size: e.Bytes()}
	c.hold(d)
	if c.env.bytes() > c.env.MaxMemory() {
		c.hold(nil)
		return fmt.Sprintf("OOM a copy of %d bytes does not fit 'maxmemory': raise it with CONFIG SET", d.size)
	}
	var err error
	if file {
		d.data, err = fileOf(e)
	} else {
		d.data, err = dumpOf(e)
	}
	if err != nil {
		c.hold(nil)
		return "ERR " + err.Error()
	}
	return ""
}

// fileOf returns the file of the filter of an entry.
func fileOf(e *store.Entry) ([]byte, error) {
	image, err := e.File()
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(make([]byte, 0, e.Bytes()))
	_, err = image.WriteTo(b)
	return b.Bytes(), err
}

func dump(c *Call) {
	e := c.find(c.args[1])
	if e == nil {
		c.w.Null()
		return
	}
	if b := c.dumped(e); b != nil {
		c.w.Bulk(b)
	}
}

// dumped returns the dump of an entry with everything that was decided about it. It answers
// and returns nil if that cannot be.
func (c *Call) dumped(e *store.Entry) []byte {
	if e = c.settled(e); e == nil {
		return nil
	}
	b, err := dumpOf(e)
	if err != nil {
		c.w.Err("ERR " + err.Error())
		return nil
	}
	return b
}

func restore(c *Call) {
	ttl, ok := resp.ParseInt(c.args[2])
	if !ok || ttl < 0 {
		c.w.Err("ERR Invalid TTL value, must be >= 0")
		return
	}
	replace, absolute := false, false
	for i := 4; i < len(c.args); i++ {
		switch strings.ToUpper(string(c.args[i])) {
		case "REPLACE":
			replace = true
		case "ABSTTL":
			absolute = true
		case "IDLETIME", "FREQ":
			i++
		default:
			c.w.Err("ERR syntax error")
			return
		}
	}
	if c.find(c.args[1]) != nil && !replace {
		c.w.Err("BUSYKEY Target key name already exists.")
		return
	}
	spec, content, ok := openDump(c.args[3])
	if !ok || spec.Part.Count > 0 { // parts are not dumped
		c.w.Err("ERR DUMP payload version or checksum are wrong")
		return
	}
	if ttl > 0 && !absolute {
		ttl += c.time()
	}
	spec.Expiry = ttl
	if err := c.adopt(c.args[1], spec, bytes.Clone(content)); err == nil {
		c.w.OK()
	} else if !errors.Is(err, errAnswered) {
		c.w.Err("ERR Bad data format")
	}
}
