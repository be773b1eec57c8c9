package record

import (
	"encoding/binary"
	"math"

	"github.com/everbloom-go/everbloom/filter"
)

// A Builder collects effects and makes a record of them. The zero Builder is empty.
type Builder struct {
	buf     []byte
	effects uint32
	level   byte // the highest of the effects

	run   int // where the count of the last run of keys stands; 0 if the last effect is no run
	code  Code
	entry uint64
}

// Reset forgets all effects.
func (b *Builder) Reset() {
	if cap(b.buf) > MaxSize {
		b.buf = nil
	}
	b.buf, b.effects, b.level, b.run = b.buf[:0], 0, 0, 0
}

// Effects returns how many effects there are.
func (b *Builder) Effects() int { return int(b.effects) }

// Len returns how many bytes the record will have.
func (b *Builder) Len() int { return max(headerSize, len(b.buf)) }

// begin starts an effect.
func (b *Builder) begin(code Code, entry uint64) {
	if len(b.buf) == 0 {
		b.buf = append(b.buf, make([]byte, headerSize)...)
	}
	b.buf = append(b.buf, byte(code))
	b.buf = binary.AppendUvarint(b.buf, entry)
	b.effects++
	b.level = max(b.level, code.level())
	b.run = 0
}

func (b *Builder) bytes(s []byte) {
	b.buf = binary.AppendUvarint(b.buf, uint64(len(s)))
	b.buf = append(b.buf, s...)
}

// Key adds a keyed effect. Keys of one entry that follow each other form a run.
func (b *Builder) Key(code Code, entry uint64, k filter.Key) {
	if b.run == 0 || b.code != code || b.entry != entry || b.count() == math.MaxUint16 {
		b.begin(code, entry)
		b.run, b.code, b.entry = len(b.buf), code, entry
		b.buf = append(b.buf, 0, 0)
	}
	binary.LittleEndian.PutUint16(b.buf[b.run:], b.count()+1)
	b.buf = binary.LittleEndian.AppendUint64(b.buf, uint64(k))
}

func (b *Builder) count() uint16 { return binary.LittleEndian.Uint16(b.buf[b.run:]) }

// Named adds an effect that has a name, and unless it is Rename data.
func (b *Builder) Named(code Code, entry uint64, name, data []byte) {
	b.begin(code, entry)
	b.bytes(name)
	if code != Rename {
		b.bytes(data)
	}
}

// Data adds an effect that has data.
func (b *Builder) Data(code Code, entry uint64, data []byte) {
	b.begin(code, entry)
	b.bytes(data)
}

// Record returns the record with the given header, whose level and number of effects are
// filled in. It is good until the next change of the Builder.
func (b *Builder) Record(h Header) []byte {
	if len(b.buf) == 0 {
		b.buf = append(b.buf, make([]byte, headerSize)...)
	}
	r := b.buf
	copy(r, magic)
	r[2], r[3] = max(b.level, 1), 0
	binary.LittleEndian.PutUint32(r[4:], h.Epoch)
	binary.LittleEndian.PutUint64(r[8:], h.Number)
	binary.LittleEndian.PutUint64(r[16:], uint64(h.Time))
	binary.LittleEndian.PutUint32(r[24:], h.Previous)
	binary.LittleEndian.PutUint32(r[28:], b.effects)
	binary.LittleEndian.PutUint32(r[sumAt:], checksum(r))
	return r
}
