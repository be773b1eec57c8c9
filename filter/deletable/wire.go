package deletable

import (
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// A Wire works on raw forms where they lie, as a switch does with the header of a
// packet: nothing is unpacked, allocated or counted. Its answers and what it
// leaves behind are those of the [Filter] with the same shape and bits.
//
// The bytes it is given are a raw form of its shape, at least RawLen of them; it
// panics if they are fewer. It neither reads nor changes bits from m on, so that
// something else may follow the filter within its last byte.
type Wire struct {
	regions uint64 // r: the cells begin there
	size    uint64 // m'
	hashes  int
	mixer   probe.Mixer
	region  divider
}

// Wire returns what works on raw forms of shape s.
func (s Shape) Wire() (Wire, error) {
	if err := s.check(); err != nil {
		return Wire{}, err
	}
	return Wire{
		regions: s.Regions,
		size:    s.Cells(),
		hashes:  s.Hashes,
		mixer:   probe.NewMixer(s.Salt),
		region:  newDivider(s.RegionBits()),
	}, nil
}

// MayContain reports whether k may be in the set. It stops at the first cell that
// is clear.
func (w *Wire) MayContain(raw []byte, k filter.Key) bool {
	h := w.mixer.Mix(k)
	for range w.hashes {
		if !bitOf(raw, w.regions+probe.Reduce(h, w.size)) {
			return false
		}
		h = probe.Step(h)
	}
	return true
}

// Delete takes k out of the set as [Filter.Delete] does, with the same answers.
func (w *Wire) Delete(raw []byte, k filter.Key) error {
	if !w.MayContain(raw, k) {
		return errNotFound
	}
	free := false
	h := w.mixer.Mix(k)
	for range w.hashes {
		c := probe.Reduce(h, w.size)
		if !bitOf(raw, w.region.of(c)) {
			i := w.regions + c
			raw[i/8] &^= 1 << (i % 8)
			free = true
		}
		h = probe.Step(h)
	}
	if !free {
		return errPinned
	}
	return nil
}

// Fill returns the share of the cells that are set.
func (w *Wire) Fill(raw []byte) float64 {
	set := onesBefore(raw, w.regions+w.size) - onesBefore(raw, w.regions)
	return float64(set) / float64(w.size)
}

// bitOf returns bit i of a raw form.
func bitOf(raw []byte, i uint64) bool { return raw[i/8]>>(i%8)&1 != 0 }

// onesBefore counts the set bits before bit n.
func onesBefore(raw []byte, n uint64) (ones int) {
	for _, b := range raw[:n/8] {
		ones += bits.OnesCount8(b)
	}
	if n%8 != 0 {
		ones += bits.OnesCount8(raw[n/8] << (8 - n%8))
	}
	return ones
}
