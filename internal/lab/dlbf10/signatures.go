package dlbf10

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// signatures is the rival that no package has: a Bloom filter from which a key is
// deleted by resetting some of its bits, here one, whichever other key has it. [DlBF10]
// Sec. II describes the method of variable-length signatures so, in one sentence.
type signatures struct {
	bits   []bool
	hashes int
	mixer  probe.Mixer
}

var _ filter.Deleter = (*signatures)(nil)

func newSignatures(bits, hashes int) *signatures {
	return &signatures{bits: make([]bool, bits), hashes: hashes, mixer: probe.NewMixer(0)}
}

// places returns the bits of k.
func (f *signatures) places(k filter.Key) []*bool {
	h := f.mixer.Mix(k)
	list := make([]*bool, f.hashes)
	for i := range list {
		list[i] = &f.bits[probe.Reduce(h, uint64(len(f.bits)))]
		h = probe.Step(h)
	}
	return list
}

// Add never fails.
func (f *signatures) Add(k filter.Key) (added bool, err error) {
	for _, place := range f.places(k) {
		added = added || !*place
		*place = true
	}
	return added, nil
}

// MayContain can be false for keys of the set once others were deleted.
func (f *signatures) MayContain(k filter.Key) bool {
	for _, place := range f.places(k) {
		if !*place {
			return false
		}
	}
	return true
}

// Delete resets the key's first bit.
func (f *signatures) Delete(k filter.Key) error {
	if !f.MayContain(k) {
		return filter.ErrNotFound
	}
	*f.places(k)[0] = false
	return nil
}

// Info tells no more than the comparison asks for.
func (f *signatures) Info() filter.Info {
	return filter.Info{Kind: "signatures", FastBits: uint64(len(f.bits))}
}
