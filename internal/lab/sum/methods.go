package sum

import (
	"math"
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// method is one way to delete.
type method struct {
	name  string
	bits  uint64 // in all
	shape bloom.Shape
	build func() (filter.Deleter, error)
}

// The ways to delete.
const (
	array    = "collision array"
	counters = "counters"
	second   = "second filter"
)

// methods returns the three of the text, each with the positions of shape s.
func methods(s bloom.Shape) []method {
	flags := deletable.Shape{Bits: 2 * s.Bits, Hashes: s.Hashes, Regions: s.Bits}
	nibbles := counting.Shape{Counters: s.Bits, Hashes: s.Hashes, CounterBits: 4}
	return []method{
		{array, flags.Bits, s, func() (filter.Deleter, error) { return deletable.Build(flags) }},
		{counters, nibbles.Bits(), s, func() (filter.Deleter, error) { return counting.Build(nibbles) }},
		{second, 2 * s.Bits, s, func() (filter.Deleter, error) { return buildPair(s) }},
	}
}

// methodsOf returns them with the same number of bits in all, each with the k that
// suits the positions it has.
func methodsOf(bits, n float64) []method {
	shape := func(positions float64) bloom.Shape {
		return bloom.Shape{Bits: uint64(positions), Hashes: max(1, int(math.Round(theory.BloomHashes(positions, n))))}
	}
	two, four := methods(shape(bits/2)), methods(shape(bits/4))
	return []method{two[0], four[1], two[2]}
}

// pair is a filter of keys with one of deleted keys that overrides it.
type pair struct{ in, out *bloom.Filter }

var _ filter.Deleter = (*pair)(nil)

func buildPair(s bloom.Shape) (*pair, error) {
	in, err := bloom.Build(s)
	if err != nil {
		return nil, err
	}
	out, err := bloom.Build(s)
	return &pair{in, out}, err
}

// Add cannot take a key out of the second filter: one that was deleted before
// stays denied.
func (p *pair) Add(k filter.Key) (added bool, err error) { return p.in.Add(k) }

// MayContain can be false for keys in the set.
func (p *pair) MayContain(k filter.Key) bool { return p.in.MayContain(k) && !p.out.MayContain(k) }

// Delete remembers k as deleted.
func (p *pair) Delete(k filter.Key) error {
	if !p.MayContain(k) {
		return filter.ErrNotFound
	}
	_, err := p.out.Add(k)
	return err
}

// Info tells what the comparison asks for.
func (p *pair) Info() filter.Info {
	return filter.Info{Kind: "pair", FastBits: p.in.Info().FastBits + p.out.Info().FastBits, Fill: p.in.Info().Fill}
}

// compareBits compares the bits that f has set with those of a standard filter
// that has the live keys only: the ratio of their numbers, and in how many they
// differ where f can show them.
func (m method) compareBits(f filter.Deleter, live []filter.Key) (ratio float64, differ int, err error) {
	fresh, err := bloom.Build(m.shape)
	if err != nil {
		return 0, 0, err
	}
	if _, _, err := fresh.AddBatch(live); err != nil {
		return 0, 0, err
	}
	if c, ok := f.(*counting.Filter); ok {
		plain, err := c.Bloom()
		if err != nil {
			return 0, 0, err
		}
		for i, w := range plain.Words() {
			differ += bits.OnesCount64(w ^ fresh.Words()[i])
		}
	}
	return f.Info().Fill / fresh.Info().Fill, differ, nil
}
