package router

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// The messages between nodes. Numbers are uvarints, texts have their length before them.
//
//	message = length, 4 bytes, little endian | body
//	request = format | RESP version | user | address | name | works …
//	work    = partition | purpose | watch | watches | commands | each: part, words | each: text
//	part    = 0: none
//	          number of parts | index | number of the set
//	reply   = format | status … : of each work in order
//	status  = done: 1 | record | replies, a text
//	          notLeading: 2 | node | address | epoch
//	          unwatched: 3, unknown: 4
const format = 1

const (
	frameHead  = 4
	maxMessage = 1<<30 + 1<<26 // bytes of the largest command, and what is around it
	firstInbox = 4 << 10
	keptInbox  = 128 << 10 // larger buffers are let go
)

// errFrame is about a message that is not one.
var errFrame = errors.New("router: a node has sent a message that cannot be read: run the same release on all nodes")

// An inbox receives messages. Memory follows the bytes that have arrived.
type inbox struct {
	buf   []byte
	have  int // bytes that have arrived
	taken int // bytes of the message that was returned last
	limit int
}

// drop forgets the message that was returned last.
func (b *inbox) drop() {
	if b.taken == 0 {
		return
	}
	if len(b.buf) > keptInbox {
		b.buf = append(make([]byte, 0, firstInbox), b.buf[b.taken:b.have]...)
		b.buf = b.buf[:cap(b.buf)]
		b.have, b.taken = b.have-b.taken, 0
		return
	}
	b.have = copy(b.buf, b.buf[b.taken:b.have])
	b.taken = 0
}

// next returns the next message. It is good until the next call. After an error that is a
// timeout it may be called again.
func (b *inbox) next(r io.Reader) ([]byte, error) {
	b.drop()
	for {
		need := frameHead
		if b.have >= frameHead {
			n := binary.LittleEndian.Uint32(b.buf)
			if int64(n) > int64(b.limit) {
				return nil, errFrame
			}
			need += int(n)
		}
		if b.have >= need && need > frameHead {
			b.taken = need
			return b.buf[frameHead:need], nil
		}
		if b.have >= frameHead && need == frameHead {
			return nil, errFrame // an empty message
		}
		if b.have == len(b.buf) {
			b.grow()
		}
		n, err := r.Read(b.buf[b.have:])
		b.have += n
		if n == 0 && err != nil {
			return nil, err
		}
	}
}

// grow doubles the buffer.
func (b *inbox) grow() {
	buf := make([]byte, max(firstInbox, 2*len(b.buf)))
	copy(buf, b.buf[:b.have])
	b.buf = buf
}

// A header says for which client a request is.
type header struct {
	version          int // of RESP
	user, addr, name string
}

// begin begins a message.
func begin(b []byte) []byte { return append(b[:0], 0, 0, 0, 0) }

// seal says how long a message is. It reports false if that is too long.
func seal(b []byte) bool {
	n := len(b) - frameHead
	binary.LittleEndian.PutUint32(b, uint32(n))
	return n <= maxMessage
}

func appendText[T string | []byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendRequest appends a request.
func appendRequest(b []byte, h header, works []*work) []byte {
	b = append(b, format, byte(h.version))
	b = appendText(appendText(appendText(b, h.user), h.addr), h.name)
	for _, w := range works {
		b = binary.AppendUvarint(b, uint64(w.partition))
		b = append(b, byte(w.purpose))
		b = binary.AppendUvarint(binary.AppendUvarint(b, w.watch), w.watches)
		b = binary.AppendUvarint(b, uint64(len(w.calls)))
		for _, c := range w.calls {
			b = binary.AppendUvarint(appendPart(b, c.part), uint64(len(c.args)))
			for _, a := range c.args {
				b = appendText(b, a)
			}
		}
	}
	return b
}

// appendPart appends the part of a set that a command is about.
func appendPart(b []byte, p store.Part) []byte {
	if p.Count == 0 {
		return append(b, 0)
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(p.Count)), uint64(p.Index))
	return binary.AppendUvarint(b, p.Set)
}

// A cursor reads a message. After an error it has nothing left.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) fail() {
	c.b, c.bad = nil, true
}

func (c *cursor) uvarint() uint64 {
	n, size := binary.Uvarint(c.b)
	if size <= 0 {
		c.fail()
		return 0
	}
	c.b = c.b[size:]
	return n
}

func (c *cursor) byte() byte {
	if len(c.b) == 0 {
		c.fail()
		return 0
	}
	first := c.b[0]
	c.b = c.b[1:]
	return first
}

// part reads the part of a set that a command is about.
func (c *cursor) part() (p store.Part) {
	n := c.uvarint()
	if n == 0 {
		return p
	}
	i := c.uvarint()
	p = store.Part{Count: uint16(n), Index: uint16(i), Set: c.uvarint()}
	if n > store.MaxParts || i >= n || !p.Valid() {
		c.fail()
	}
	return p
}

// count reads how many things follow, each of which takes a byte at least.
func (c *cursor) count() int {
	n := c.uvarint()
	if n > uint64(len(c.b)) {
		c.fail()
		return 0
	}
	return int(n)
}

// text reads a text, which is good as long as the message.
func (c *cursor) text() []byte {
	n := c.count()
	s := c.b[:n:n]
	c.b = c.b[n:]
	return s
}

// readHeader reads the begin of a request. Mostly it is the last one again.
func (c *cursor) readHeader(h header) header {
	if c.byte() != format {
		c.fail()
	}
	h.version = int(c.byte())
	for _, s := range []*string{&h.user, &h.addr, &h.name} {
		if now := c.text(); string(now) != *s {
			*s = string(now)
		}
	}
	return h
}

// readWork reads one work of a request, of a cluster with so many partitions. Its memory is
// used again.
func (c *cursor) readWork(w *work, words *[][]byte, partitions int) bool {
	i := c.uvarint()
	*w = work{purpose: purpose(c.byte()), watch: c.uvarint(), watches: c.uvarint(), calls: w.calls[:0]}
	if i >= uint64(partitions) || w.purpose > transaction {
		c.fail()
	}
	w.partition = int(i)
	for range c.count() {
		part := c.part()
		first := len(*words)
		for range c.count() {
			*words = append(*words, c.text())
		}
		args := (*words)[first:len(*words):len(*words)]
		if len(args) == 0 {
			c.fail()
			break
		}
		w.calls = append(w.calls, call{args: args, part: part})
	}
	return !c.bad
}

// appendStatus appends what became of a work.
func appendStatus(b []byte, w *work) []byte {
	b = append(b, byte(w.status))
	switch w.status {
	case done:
		b = appendText(binary.AppendUvarint(b, w.record), w.reply)
	case notLeading:
		b = appendText(appendText(b, w.leader.Node), w.leader.Address)
		b = binary.AppendUvarint(b, uint64(w.leader.Epoch))
	}
	return b
}

// readStatus reads what became of a work. The replies are good as long as the message.
func (c *cursor) readStatus(w *work) {
	switch s := status(c.byte()); s {
	case done:
		w.record, w.reply = c.uvarint(), c.text()
		w.status = done
	case notLeading:
		w.refuse(partition.Leader{Node: string(c.text()), Address: string(c.text()), Epoch: uint32(c.uvarint())})
	case unwatched, unknown:
		w.status = s
	default:
		c.fail()
	}
	if c.bad {
		w.status = unknown
	}
}
