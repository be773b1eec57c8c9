package image

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/everbloom-go/everbloom/server/internal/record"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// A Manifest says what is in a generation of images.
type Manifest struct {
	Chain    record.Chain // the last record that is in all entries
	Position uint64       // of that record in the log
	Hash     []byte       // of items
	Last     uint64       // the last number that was given to an entry
	Gone     map[uint64]uint64
	Entries  []Entry
}

// An Entry is an entry and where its content is.
type Entry struct {
	store.Meta
	Pack   uint64
	Offset int64
	Length int64
	Sum    uint32 // crc32c of the content
}

const (
	manifestMagic = "EBMANI\x00\x01"
	maxManifest   = 1 << 40
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode returns the stored form.
func (m *Manifest) encode() []byte {
	b := append([]byte(manifestMagic), make([]byte, 8)...)
	for _, n := range []uint64{m.Chain.Number, uint64(m.Chain.Epoch)<<32 | uint64(m.Chain.Sum), m.Position, m.Last, uint64(len(m.Hash)), uint64(len(m.Gone)), uint64(len(m.Entries))} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = append(b, m.Hash...)
	for number, record := range m.Gone {
		b = binary.LittleEndian.AppendUint64(b, number)
		b = binary.LittleEndian.AppendUint64(b, record)
	}
	for i := range m.Entries {
		e := &m.Entries[i]
		b = e.AppendTo(b)
		for _, n := range []uint64{e.Pack, uint64(e.Offset), uint64(e.Length), uint64(e.Sum)} {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
	}
	binary.LittleEndian.PutUint64(b[8:], uint64(len(b)-16))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// decode reads the stored form.
func decode(b []byte) (*Manifest, error) {
	n := len(b) - 4
	if n < 16+7*8 || string(b[:8]) != manifestMagic || binary.LittleEndian.Uint64(b[8:]) != uint64(n-16) {
		return nil, fmt.Errorf("image: %d bytes, not a manifest: %w", len(b), ErrDamaged)
	}
	if sum := crc32.Checksum(b[:n], castagnoli); sum != binary.LittleEndian.Uint32(b[n:]) {
		return nil, fmt.Errorf("image: checksum %08x, computed %08x: %w", binary.LittleEndian.Uint32(b[n:]), sum, ErrDamaged)
	}
	d := decoder{rest: b[16:n]}
	number, sum := d.number(), d.number() // whose upper half is the epoch, 0 of a server alone
	m := &Manifest{Chain: record.Chain{Number: number, Sum: uint32(sum), Epoch: uint32(sum >> 32)}, Position: d.number(), Last: d.number(), Gone: make(map[uint64]uint64)}
	hash, gone, entries := d.number(), d.number(), d.number()
	m.Hash = d.bytes(hash)
	for range min(gone, uint64(len(d.rest))) {
		number := d.number()
		m.Gone[number] = d.number()
	}
	for range min(entries, uint64(len(d.rest))) {
		m.Entries = append(m.Entries, d.entry())
	}
	if d.failed || len(d.rest) > 0 || uint64(len(m.Entries)) != entries || uint64(len(m.Gone)) != gone {
		return nil, fmt.Errorf("image: invalid manifest: %w", ErrDamaged)
	}
	return m, nil
}

// A decoder takes values from bytes. After a failure it returns zeros.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.failed, d.rest = true, nil
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) number() uint64 {
	b := d.bytes(8)
	if d.failed {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

func (d *decoder) entry() (e Entry) {
	meta, rest, err := store.ReadMeta(d.rest)
	if err != nil {
		d.failed, d.rest = true, nil
		return e
	}
	d.rest = rest
	return Entry{Meta: meta, Pack: d.number(), Offset: int64(d.number()), Length: int64(d.number()), Sum: uint32(d.number())}
}
