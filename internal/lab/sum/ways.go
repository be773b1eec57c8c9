package sum

import (
	"math/rand/v2"
	"net/netip"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
)

// The ways to keep a set of texts: with k seeds as [Sum] programs it, with one hash,
// with counters, and without a filter.
const (
	seededWay  = "k seeds, Murmur3, mod m"
	murmurWay  = "one Murmur3, derived"
	derivedWay = "one XXH3, derived"
	countWay   = "one XXH3, counters"
	mapWay     = "Go's map"
)

// texts is a set of texts, exact or not.
type texts struct {
	add, has func(key []byte) bool
}

// newTexts returns a set that is kept in some way, with seeds of its own.
func newTexts(way string, r *rand.Rand, s bloom.Shape) (texts, error) {
	h := filter.XXH3(r.Uint64())
	var f filter.Filter
	var err error
	switch way {
	case mapWay:
		set := map[string]struct{}{}
		return texts{
			func(key []byte) bool { set[string(key)] = struct{}{}; return true },
			func(key []byte) bool { _, ok := set[string(key)]; return ok },
		}, nil
	case seededWay:
		f := newSeeded(r, uint32(s.Bits), s.Hashes)
		return texts{f.add, f.has}, nil
	case countWay:
		f, err = deleter(counters, s)
	case murmurWay:
		h = filter.Murmur3(r.Uint64())
		fallthrough
	default:
		f, err = bloom.Build(s)
	}
	return texts{
		func(key []byte) bool { added, _ := f.Add(h.Bytes(key)); return added }, // never full
		func(key []byte) bool { return f.MayContain(h.Bytes(key)) },
	}, err
}

// address returns a random IPv4 address as text, the keys of the Metflicks challenge.
// Present keys have the lowest bit clear, absent ones set.
func address(b []byte, r *rand.Rand, absent uint32) []byte {
	a := r.Uint32()&^1 | absent
	return netip.AddrFrom4([4]byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)}).AppendTo(b[:0])
}

// seeded is the filter as [Sum] programs it: k random seeds, k MurmurHash3 hashes, of
// which 32 bits are reduced modulo m. It has fewer than 2^32 bits.
type seeded struct {
	bits   []uint64
	size   uint32
	hashes []filter.Hash
}

// newSeeded draws the seeds as set_seeds does: 31 bits each.
func newSeeded(r *rand.Rand, size uint32, hashes int) *seeded {
	f := &seeded{bits: make([]uint64, size/64+1), size: size}
	for range hashes {
		f.hashes = append(f.hashes, filter.Murmur3(r.Uint64N(1<<31)))
	}
	return f
}

func (f *seeded) add(key []byte) bool {
	for _, h := range f.hashes {
		i := uint32(h.Bytes(key)) % f.size
		f.bits[i/64] |= 1 << (i % 64)
	}
	return true
}

func (f *seeded) has(key []byte) bool {
	for _, h := range f.hashes {
		i := uint32(h.Bytes(key)) % f.size
		if f.bits[i/64]>>(i%64)&1 == 0 {
			return false
		}
	}
	return true
}
