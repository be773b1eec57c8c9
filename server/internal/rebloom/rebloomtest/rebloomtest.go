// Package rebloomtest writes filters as RedisBloom does, from the description of its dumps in
// package rebloom, to test that they are read.
package rebloomtest

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/everbloom-go/everbloom/server/internal/rebloom"
)

// Chunk is how many bytes SCANDUMP returns at most.
const Chunk = 16 << 20

// A Dump is what SCANDUMP returns: the header, and the bytes of each sub-filter.
type Dump struct {
	Header []byte
	Parts  [][]byte
}

// At answers SCANDUMP with a cursor: the next cursor and bytes, 0 and none at the end.
func (d Dump) At(cursor int64) (next int64, chunk []byte) {
	if cursor == 0 {
		return 1, d.Header
	}
	at := cursor - 1
	for _, p := range d.Parts {
		if at < int64(len(p)) {
			chunk = p[at:min(at+Chunk, int64(len(p)))]
			return cursor + int64(len(chunk)), chunk
		}
		at -= int64(len(p))
	}
	return 0, nil
}

// Data returns the bytes of all sub-filters.
func (d Dump) Data() []byte { return slices.Concat(d.Parts...) }

// A Bloom is a chain of Bloom filters.
type Bloom struct {
	expansion uint32
	fixed     bool
	items     uint64
	links     []link
}

type link struct {
	bits, items, entries uint64
	fpr, perEntry        float64
	hashes               uint32
	data                 []byte
}

// NewBloom returns what BF.RESERVE makes.
func NewBloom(fpr float64, capacity uint64, expansion uint32, fixed bool) *Bloom {
	b := &Bloom{expansion: expansion, fixed: fixed}
	if !fixed {
		fpr /= 2
	}
	b.link(fpr, capacity)
	return b
}

func (b *Bloom) link(fpr float64, entries uint64) {
	l := link{fpr: fpr, entries: entries, perEntry: -math.Log(fpr) / (math.Ln2 * math.Ln2)}
	l.bits = (uint64(float64(entries)*l.perEntry) + 63) / 64 * 64
	l.hashes = uint32(math.Ceil(math.Ln2 * l.perEntry))
	l.data = make([]byte, l.bits/8)
	b.links = append(b.links, l)
}

// Add adds an item, as BF.ADD does. It reports whether there was room.
func (b *Bloom) Add(item []byte) bool {
	h := rebloom.Murmur64A(item, 0xc6a4a7935bd1e995)
	step := rebloom.Murmur64A(item, h)
	for _, l := range b.links {
		if !slices.ContainsFunc(l.positions(h, step), func(x uint64) bool { return l.data[x/8]>>(x%8)&1 == 0 }) {
			return true
		}
	}
	l := &b.links[len(b.links)-1]
	if l.items == l.entries {
		if b.fixed {
			return false
		}
		b.link(l.fpr/2, l.entries*uint64(b.expansion))
		l = &b.links[len(b.links)-1]
	}
	for _, x := range l.positions(h, step) {
		l.data[x/8] |= 1 << (x % 8)
	}
	l.items++
	b.items++
	return true
}

func (l *link) positions(h, step uint64) (out []uint64) {
	for i := range uint64(l.hashes) {
		out = append(out, (h+i*step)%l.bits)
	}
	return out
}

// Items returns how many items were new.
func (b *Bloom) Items() uint64 { return b.items }

// Dump returns what BF.SCANDUMP does.
func (b *Bloom) Dump() (d Dump) {
	options := uint32(5)
	if b.fixed {
		options = 13
	}
	h := binary.LittleEndian.AppendUint64(nil, b.items)
	for _, v := range []uint32{uint32(len(b.links)), options, b.expansion} {
		h = binary.LittleEndian.AppendUint32(h, v)
	}
	for _, l := range b.links {
		for _, v := range []uint64{l.bits / 8, l.bits, l.items, math.Float64bits(l.fpr), math.Float64bits(l.perEntry)} {
			h = binary.LittleEndian.AppendUint64(h, v)
		}
		h = binary.LittleEndian.AppendUint32(h, l.hashes)
		h = append(binary.LittleEndian.AppendUint64(h, l.entries), 0)
		d.Parts = append(d.Parts, l.data)
	}
	d.Header = h
	return d
}

// A Cuckoo is a list of tables. It grows sooner than RedisBloom, which kicks fingerprints out
// first.
type Cuckoo struct {
	Buckets               uint64
	BucketSize, Expansion uint16
	items, deletes        uint64
	tables                [][]byte
}

// NewCuckoo returns what CF.RESERVE makes.
func NewCuckoo(capacity uint64, bucketSize, expansion uint16) *Cuckoo {
	n := (capacity + uint64(bucketSize) - 1) / uint64(bucketSize)
	return &Cuckoo{Buckets: 1 << bits.Len64(n-1), BucketSize: bucketSize, Expansion: expansion}
}

// slots returns the places where an item may be, the newest table first.
func (c *Cuckoo) slots(item []byte) (fingerprint byte, at []*byte) {
	h := rebloom.Murmur64A(item, 0)
	fingerprint = byte(h%255 + 1)
	for _, t := range slices.Backward(c.tables) {
		n := uint64(len(t)) / uint64(c.BucketSize)
		for _, bucket := range []uint64{h % n, (h ^ uint64(fingerprint)*0x5bd1e995) % n} {
			for i := range uint64(c.BucketSize) {
				at = append(at, &t[bucket*uint64(c.BucketSize)+i])
			}
		}
	}
	return fingerprint, at
}

// Add adds an item, as CF.ADD does.
func (c *Cuckoo) Add(item []byte) {
	for {
		fp, at := c.slots(item)
		for _, slot := range at {
			if *slot == 0 {
				*slot = fp
				c.items++
				return
			}
		}
		n := c.Buckets * uint64(c.BucketSize)
		for range c.tables {
			n *= uint64(c.Expansion)
		}
		c.tables = append(c.tables, make([]byte, n))
	}
}

// Delete deletes an item that was added, as CF.DEL does.
func (c *Cuckoo) Delete(item []byte) {
	fp, at := c.slots(item)
	for _, slot := range at {
		if *slot == fp {
			*slot = 0
			c.items--
			c.deletes++
			return
		}
	}
}

// Dump returns what CF.SCANDUMP does.
func (c *Cuckoo) Dump() (d Dump) {
	for _, v := range []uint64{c.items, c.Buckets, c.deletes, uint64(len(c.tables))} {
		d.Header = binary.LittleEndian.AppendUint64(d.Header, v)
	}
	for _, v := range []uint16{c.BucketSize, 20, c.Expansion} {
		d.Header = binary.LittleEndian.AppendUint16(d.Header, v)
	}
	d.Parts = c.tables
	return d
}
