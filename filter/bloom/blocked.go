package bloom

import (
	"cmp"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/line"
	"github.com/everbloom-go/everbloom/internal/probe"
	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Blocked is a Bloom filter that keeps all bits of a key in one cache line.
type Blocked struct {
	first  *block // the first word of array, for assembly
	blocks uint64
	rounds uint64 // bits per key and word
	mixer  probe.Mixer
	level  line.Level
	simple bool // blockHasOne and blockAddOne will do
	salt   uint64
	array
	touched uint64 // keeps the compiler from dropping reads that only warm the cache
}

// A block is handled here by one writer at a time, beside readers that need no order.
type block line.Block

var (
	_ filter.Merger      = (*Blocked)(nil)
	_ filter.Batcher     = (*Blocked)(nil)
	_ filter.Snapshotter = (*Blocked)(nil)
	_ filter.LockFree    = (*Blocked)(nil)
	_ filter.Clearer     = (*Blocked)(nil)
)

// LockFreeReaders marks the filter as safe to read beside one writer: Add and Union
// only set bits, and Intersect keeps all bits of the keys that are in both. Assembly
// reads and writes whole lines; the processor does so at least word by word.
func (f *Blocked) LockFreeReaders() {}

// NewBlocked returns an empty blocked filter for the config.
func NewBlocked(c Config) (*Blocked, error) {
	f, err := sizing.New(c.BlockedShape, BuildBlocked)
	if err == nil {
		f.capacity = cmp.Or(c.Items, sizing.Items)
	}
	return f, err
}

// BuildBlocked returns an empty blocked filter of exactly this shape.
func BuildBlocked(s BlockedShape) (*Blocked, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	a, err := newArray(s.Blocks * theory.BlockWords)
	if err != nil {
		return nil, err
	}
	return blockedOver(s, a), nil
}

// blockedOver returns the filter of shape s whose bits are a.
func blockedOver(s BlockedShape, a array) *Blocked {
	f := &Blocked{
		first:  (*block)(a.words),
		blocks: s.Blocks,
		rounds: uint64(s.perWord()),
		mixer:  probe.NewMixer(s.Salt),
		level:  line.CPU,
		salt:   s.Salt,
		array:  a,
	}
	f.simple = f.isSimple()
	return f
}

// Add puts k into the set. It reports whether k looked new and never fails.
func (f *Blocked) Add(k filter.Key) (added bool, err error) {
	fresh := f.add(k)
	f.set += fresh
	return fresh != 0, nil
}

// MayContain reports whether k may be in the set. False is certain.
func (f *Blocked) MayContain(k filter.Key) bool { return f.has(k) }

// Shape returns the filter's geometry.
func (f *Blocked) Shape() BlockedShape {
	return BlockedShape{Blocks: f.blocks, Hashes: int(f.rounds) * theory.BlockWords, Salt: f.salt}
}

// Len returns the estimated number of keys in the set, from the share of set
// bits ([theory.BlockedCardinality]). After Intersect it is too high: bits that
// both filters had by chance count, too.
func (f *Blocked) Len() uint64 {
	return sizing.RoundKeys(theory.BlockedCardinality(float64(f.bitCount()), float64(f.set), int(f.rounds)))
}

// Info describes the filter as it stands.
func (f *Blocked) Info() filter.Info {
	keys := f.Len()
	return filter.Info{
		Kind:     "blocked",
		Keys:     keys,
		Capacity: f.capacity,
		FastBits: f.bitCount(),
		FPR:      f.Shape().FPR(keys),
		Fill:     float64(f.set) / float64(f.bitCount()),
		Overfull: f.overfull(keys),
	}
}
