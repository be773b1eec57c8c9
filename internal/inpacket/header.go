package inpacket

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
)

// The wire form, for whoever writes another end. Bit i is bit i mod 8 of byte i/8.
//
//	bit   0         r             m           m + c
//	      | marks r | cells m - r | number c  | 0 to 7 clear bits |
//
// Marks and cells are the raw form of filter/deletable: m bits. The number says
// which candidate was chosen, lowest bit first: the filter's salt is Config.Salt plus
// that. c = ⌈log2 Config.Candidates⌉, and m + c = Config.Bits. An ID is in the header
// if the cells at its positions are set; they depend on the ID, the salt and m - r.

// Format makes and reads headers. It may be used by any number of goroutines.
type Format struct {
	config Config
	shape  deletable.Shape
	wires  []deletable.Wire // of each candidate
}

// New returns the format for the wish.
func New(c Config) (*Format, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	f := &Format{config: c, shape: c.shape()}
	for i := range c.Candidates {
		w, err := f.shape.Candidate(i).Wire()
		if err != nil {
			return nil, fmt.Errorf("inpacket: %w", err)
		}
		f.wires = append(f.wires, w)
	}
	return f, nil
}

// Config returns the wish with its defaults filled in.
func (f *Format) Config() Config { return f.config }

// Shape returns the geometry of the filter in the header, that of candidate 0.
func (f *Format) Shape() deletable.Shape { return f.shape }

// Len returns the number of bytes of a header.
func (f *Format) Len() int { return (f.config.Bits + 7) / 8 }

// Header is a set of IDs inside a packet. It is a value: an assignment is a copy with
// bits of its own, which is what each branch of a delivery gets. The zero Header
// has nothing in it.
type Header struct {
	format *Format
	number uint8 // of the candidate
	bits   [maxBits / 8]byte
}

// Encode returns a header with the IDs, the candidate with the fewest set bits. An
// ID that is listed twice counts once.
func (f *Format) Encode(ids []filter.Key) (Header, error) {
	return f.Choose(ids, deletable.BestFill())
}

// Choose is [Format.Encode] with another goal, such as deletable.FewestFalse of the
// links beside a delivery tree. The error is filter.ErrPinned if the goal is
// deletable.AllDeletable and no candidate reaches it.
func (f *Format) Choose(ids []filter.Key, goal deletable.Goal) (Header, error) {
	// Adding an ID twice would pin it.
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	best, number, err := deletable.Choose(f.shape, ids, goal, f.config.Candidates)
	if err != nil {
		return Header{}, fmt.Errorf("inpacket: %w", err)
	}
	h := Header{format: f, number: uint8(number)}
	best.AppendRaw(h.bits[:0])
	for i := range f.config.numberBits() {
		at := int(f.shape.Bits) + i
		h.bits[at/8] |= byte(number>>i&1) << (at % 8)
	}
	return h, nil
}

// Decode returns the header whose wire form is b.
func (f *Format) Decode(b []byte) (Header, error) {
	if len(b) != f.Len() {
		return Header{}, fmt.Errorf("inpacket: header: %d bytes, want %d: %w", len(b), f.Len(), filter.ErrCorrupt)
	}
	h := Header{format: f}
	copy(h.bits[:], b)
	number := 0
	for i := range f.config.numberBits() {
		at := int(f.shape.Bits) + i
		number |= int(b[at/8]>>(at%8)&1) << i
	}
	if number >= f.config.Candidates {
		return Header{}, fmt.Errorf("inpacket: header: candidate %d, there are %d: %w", number, f.config.Candidates, filter.ErrCorrupt)
	}
	h.number = uint8(number)
	return h, h.check()
}

// check reads the filter as filter/deletable does, which refuses bits that stand for
// nothing.
func (h *Header) check() error {
	f := h.format
	if used := f.config.Bits % 8; used != 0 && h.bits[f.Len()-1]>>used != 0 {
		return fmt.Errorf("inpacket: header: bits beyond %d are set: %w", f.config.Bits, filter.ErrCorrupt)
	}
	raw := slices.Clone(h.bits[:f.shape.RawLen()])
	if used := f.shape.Bits % 8; used != 0 {
		raw[len(raw)-1] &= 1<<used - 1
	}
	if _, err := deletable.FromRaw(f.shape, raw); err != nil {
		return fmt.Errorf("inpacket: header: %w", err)
	}
	return nil
}

// Append appends the wire form to b.
func (h *Header) Append(b []byte) []byte {
	if h.format == nil {
		return b
	}
	return append(b, h.bits[:h.format.Len()]...)
}

// Number returns the number of the candidate that was chosen.
func (h *Header) Number() int { return int(h.number) }

// Has reports whether the ID may be in the header; false is certain.
func (h *Header) Has(id filter.Key) bool {
	return h.format != nil && h.format.wires[h.number].MayContain(h.bits[:], id)
}

// Delete takes an ID that was processed out of the header. The error is
// filter.ErrPinned if that is not possible without harm to others, and
// filter.ErrNotFound if it was not there; nothing was changed then. Deleting an ID
// that is in the header by mistake takes others with it: see the package comment why
// that does not matter here.
func (h *Header) Delete(id filter.Key) error {
	if h.format == nil {
		return errNotFound
	}
	return h.format.wires[h.number].Delete(h.bits[:], id)
}

var errNotFound = fmt.Errorf("inpacket: empty header: %w", filter.ErrNotFound)

// Fill returns the share of the cells that are set.
func (h *Header) Fill() float64 {
	if h.format == nil {
		return 0
	}
	return h.format.wires[h.number].Fill(h.bits[:])
}

// FPR returns the rate at which IDs are found by mistake, by the fill.
func (h *Header) FPR() float64 {
	if h.format == nil {
		return 0
	}
	return math.Pow(h.Fill(), float64(h.format.config.Hashes))
}

// Pinned counts those of the IDs that cannot be deleted from the header as it is.
func (h *Header) Pinned(ids []filter.Key) (n int) {
	for _, id := range ids {
		if c := *h; errors.Is(c.Delete(id), filter.ErrPinned) {
			n++
		}
	}
	return n
}
