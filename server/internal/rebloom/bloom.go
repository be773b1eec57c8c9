package rebloom

import (
	"encoding/binary"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
)

// Inherited stands for all items that a Bloom may contain. The filter beside it, which takes
// new items, contains it from the start: an item that was added to either is found there.
const Inherited filter.Key = 0x72656469735f6266

// A Bloom is a Bloom filter of RedisBloom. It does not change.
type Bloom struct {
	Items     uint64  // that were added
	Capacity  uint64  // of the first sub-filter
	FPR       float64 // that was asked for
	NextFPR   float64 // that the next sub-filter would have
	Expansion uint32
	Fixed     bool // it does not grow

	links        []link // the oldest first
	header, data []byte
	rate         float64 // as it stands
}

// A link is a sub-filter.
type link struct {
	bytes, bits, entries uint64
	fpr                  float64
	hashes               uint32
	data                 []byte
}

const (
	bloomHead = 20
	linkSize  = 53
	bloomSeed = 0xc6a4a7935bd1e995

	option64Bits = 4 // of the hashes
	optionFixed  = 8

	maxLinks  = 1 << 10
	maxHashes = 1 << 11

	// maxSteps is how many bits a query looks at, on average. RedisBloom sets half of all
	// bits, so it looks at two of each sub-filter.
	maxSteps = 4 * maxLinks
)

// BloomSize checks a header, and returns how many bytes of sub-filters follow it.
func BloomSize(header []byte) (int64, error) {
	b, err := readHeader(header)
	if err != nil {
		return 0, err
	}
	return b.Size(), nil
}

// ReadBloom returns the filter of a dump, whose bytes belong to it from then on.
func ReadBloom(header, data []byte) (*Bloom, error) {
	b, err := readHeader(header)
	if err != nil {
		return nil, err
	}
	if int64(len(data)) != b.Size() {
		return nil, bad("bytes of sub-filters", len(data))
	}
	b.header, b.data = header, data
	absent, steps := 1.0, 0.0
	for i := range b.links {
		l := &b.links[i]
		l.data, data = data[:l.bytes], data[l.bytes:]
		fill := l.fill()
		absent *= 1 - math.Pow(fill, float64(l.hashes))
		steps += min(1/(1-fill), float64(l.hashes))
	}
	if b.rate = 1 - absent; steps > maxSteps {
		return nil, bad("bits that a query looks at", steps)
	}
	return b, nil
}

// readHeader reads everything but the bits.
func readHeader(h []byte) (*Bloom, error) {
	if len(h) < bloomHead+linkSize || len(h) > bloomHead+maxLinks*linkSize {
		return nil, bad("bytes of the header", len(h))
	}
	n, options := binary.LittleEndian.Uint32(h[8:]), binary.LittleEndian.Uint32(h[12:])
	b := &Bloom{Items: binary.LittleEndian.Uint64(h), Expansion: binary.LittleEndian.Uint32(h[16:])}
	b.Fixed = options&optionFixed != 0 || b.Expansion == 0
	switch {
	case uint64(len(h)) != bloomHead+linkSize*uint64(n):
		return nil, bad("sub-filters", n)
	case options&option64Bits == 0:
		return nil, bad("options", options)
	case b.Items > math.MaxInt64/2: // more may be added
		return nil, bad("items", b.Items)
	case b.Expansion > 1<<15:
		return nil, bad("expansion", b.Expansion)
	}
	for h = h[bloomHead:]; len(h) > 0; h = h[linkSize:] {
		l, err := readLink(h)
		if err != nil {
			return nil, err
		}
		b.links = append(b.links, l)
	}
	b.Capacity, b.FPR = b.links[0].entries, b.links[0].fpr
	b.NextFPR = b.links[n-1].fpr / 2
	if !b.Fixed {
		b.FPR = min(2*b.FPR, 1) // the first has half of it
	}
	return b, nil
}

func readLink(h []byte) (link, error) {
	l := link{
		bytes: binary.LittleEndian.Uint64(h), bits: binary.LittleEndian.Uint64(h[8:]),
		fpr: math.Float64frombits(binary.LittleEndian.Uint64(h[24:])), hashes: binary.LittleEndian.Uint32(h[40:]),
		entries: binary.LittleEndian.Uint64(h[44:]),
	}
	switch log := h[52]; {
	case l.bytes == 0 || l.bytes > maxData:
		return l, bad("bytes of a sub-filter", l.bytes)
	case l.bits == 0 || l.bits > 8*l.bytes || log != 0 && (log > 63 || l.bits != 1<<log):
		return l, bad("bits of a sub-filter", l.bits)
	case l.hashes == 0 || l.hashes > maxHashes:
		return l, bad("hashes of a sub-filter", l.hashes)
	case l.entries == 0 || l.entries > math.MaxInt64:
		return l, bad("entries of a sub-filter", l.entries)
	case !(l.fpr > 0 && l.fpr < 1):
		return l, bad("error of a sub-filter", l.fpr)
	}
	return l, nil
}

// fill returns the share of bits that are set.
func (l *link) fill() float64 {
	ones := 0
	b := l.data
	for ; len(b) >= 8; b = b[8:] {
		ones += bits.OnesCount64(binary.LittleEndian.Uint64(b))
	}
	for _, c := range b {
		ones += bits.OnesCount8(c)
	}
	return min(float64(ones)/float64(l.bits), 1)
}

// Size returns how many bytes the sub-filters have.
func (b *Bloom) Size() (n int64) {
	for _, l := range b.links {
		n += int64(l.bytes)
	}
	return n
}

// Holds returns how many items the bits hold at a rate, whatever the header says.
func (b *Bloom) Holds(fpr float64) uint64 {
	return 1 + uint64(8*float64(b.Size())*math.Ln2*math.Ln2/-math.Log(fpr))
}

// Links returns how many sub-filters there are.
func (b *Bloom) Links() int { return len(b.links) }

// Rate returns the false-positive rate.
func (b *Bloom) Rate() float64 { return b.rate }

// Key returns Inherited if the item may be in the filter.
func (b *Bloom) Key(item []byte) (filter.Key, bool) { return Inherited, b.MayContain(item) }

// MayContain reports whether an item may be in the filter.
func (b *Bloom) MayContain(item []byte) bool {
	h := Murmur64A(item, bloomSeed)
	step := Murmur64A(item, h)
	for i := range slices.Backward(b.links) {
		if b.links[i].mayContain(h, step) {
			return true
		}
	}
	return false
}

func (l *link) mayContain(h, step uint64) bool {
	for range l.hashes {
		x := h % l.bits
		if l.data[x/8]&(1<<(x%8)) == 0 {
			return false
		}
		h += step
	}
	return true
}

// WriteTo writes the stored form.
func (b *Bloom) WriteTo(w io.Writer) (n int64, err error) {
	for _, part := range [][]byte{head(b.header, b.data), b.header, b.data} {
		m, err := w.Write(part)
		n += int64(m)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
