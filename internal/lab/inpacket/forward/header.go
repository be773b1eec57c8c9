package forward

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
)

// Format makes headers. It is safe for concurrent use.
//
// A header has Config.Bits bits: the m bits of the raw form of filter/deletable, r
// marks and m - r cells, and ⌈log2 Config.Candidates⌉ bits for the number of the
// candidate that was chosen. The filter's salt is Config.Salt plus that number.
type Format struct {
	config Config
	shape  deletable.Shape
	wires  []deletable.Wire // of each candidate
}

// New returns the format for a Config.
func New(c Config) (*Format, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	f := &Format{config: c, shape: c.shape()}
	for i := range c.Candidates {
		w, err := f.shape.Candidate(i).Wire()
		if err != nil {
			return nil, fmt.Errorf("forward: %w", err)
		}
		f.wires = append(f.wires, w)
	}
	return f, nil
}

// Config returns the Config with its defaults filled in.
func (f *Format) Config() Config { return f.config }

// Shape returns the geometry of the filter in the header, that of candidate 0.
func (f *Format) Shape() deletable.Shape { return f.shape }

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
		return Header{}, fmt.Errorf("forward: %w", err)
	}
	h := Header{format: f, number: uint8(number)}
	best.AppendRaw(h.bits[:0])
	return h, nil
}

// Has reports whether the ID may be in the header; false is certain.
func (h *Header) Has(id filter.Key) bool {
	return h.format != nil && h.format.wires[h.number].MayContain(h.bits[:], id)
}

// Delete deletes an ID from the header. The error is filter.ErrPinned if that would
// harm others, and filter.ErrNotFound if the ID is absent; nothing has changed then.
// Deleting a false positive deletes bits of others: see the package comment why that
// does not matter here.
func (h *Header) Delete(id filter.Key) error {
	if h.format == nil {
		return errNotFound
	}
	return h.format.wires[h.number].Delete(h.bits[:], id)
}

var errNotFound = fmt.Errorf("forward: empty header: %w", filter.ErrNotFound)

// Fill returns the share of the cells that are set.
func (h *Header) Fill() float64 {
	if h.format == nil {
		return 0
	}
	return h.format.wires[h.number].Fill(h.bits[:])
}

// FPR returns the false-positive rate that follows from the fill.
func (h *Header) FPR() float64 {
	if h.format == nil {
		return 0
	}
	return math.Pow(h.Fill(), float64(h.format.config.Hashes))
}

// Pinned counts the IDs that cannot be deleted from the header.
func (h *Header) Pinned(ids []filter.Key) (n int) {
	for _, id := range ids {
		if c := *h; errors.Is(c.Delete(id), filter.ErrPinned) {
			n++
		}
	}
	return n
}
