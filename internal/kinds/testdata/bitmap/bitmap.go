// Package bitmap is the kind that a test adds to a copy of the tree: a Bloom filter with
// one hash. It is what a kind needs at least.
package bitmap

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/probe"
	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Number is that of the kind in files.
const Number frame.Kind = 13

// Config is what is asked for.
type Config struct {
	Items uint64  // 0 means 1,000,000
	FPR   float64 // 0 means 0.001
	Salt  uint64
}

// Shape is the geometry.
type Shape struct{ Bits, Salt uint64 }

// Shape returns the geometry for the request.
func (c Config) Shape() (Shape, error) {
	c.Items, c.FPR = cmp.Or(c.Items, sizing.Items), cmp.Or(c.FPR, sizing.FPR)
	p := sizing.In("bitmap")
	p.Size(c.Items, sizing.MaxItems, c.FPR)
	if err := p.Err(); err != nil {
		return Shape{}, err
	}
	s := Shape{Bits: uint64(min(math.Ceil(float64(c.Items)/-math.Log1p(-c.FPR))+1, 1<<62)), Salt: c.Salt}
	return s, s.check()
}

func (s Shape) check() error {
	p := sizing.In("bitmap")
	sizing.Between(&p, "Bits", s.Bits, 1, 1<<50)
	return p.Err()
}

// Predict says what a filter of this shape is like with n keys.
func (s Shape) Predict(n uint64) (filter.Prediction, error) {
	return filter.Prediction{
		FastBitsPerKey: filter.PerKey(float64(64*bitvec.WordsFor(s.Bits)), n),
		FPR:            theory.BloomFPR(float64(s.Bits), 1, float64(n)),
		HitLines:       1,
		MissLines:      1,
	}, s.check()
}

// Filter is a set of keys, each of which sets one bit.
type Filter struct {
	words    []uint64
	set      uint64
	capacity uint64
	shape    Shape
}

var _ filter.Snapshotter = (*Filter)(nil)

// New returns an empty filter for the request.
func New(c Config) (*Filter, error) {
	s, err := c.Shape()
	if err != nil {
		return nil, err
	}
	words, err := mem.Words(bitvec.WordsFor(s.Bits))
	if err != nil {
		return nil, fmt.Errorf("bitmap: %w: %w", filter.ErrStorage, err)
	}
	return &Filter{words: words, shape: s, capacity: cmp.Or(c.Items, sizing.Items)}, nil
}

func (f *Filter) place(k filter.Key) uint64 {
	return probe.Reduce(probe.NewMixer(f.shape.Salt).Mix(k), f.shape.Bits)
}

// Add puts k into the set. It never fails.
func (f *Filter) Add(k filter.Key) (added bool, err error) {
	added = bitvec.Vector(f.words).Set(f.place(k))
	if added {
		f.set++
	}
	return added, nil
}

// MayContain reports whether k may be in the set. False is certain.
func (f *Filter) MayContain(k filter.Key) bool { return bitvec.Vector(f.words).Get(f.place(k)) }

func (f *Filter) len() uint64 {
	return sizing.RoundKeys(theory.BloomCardinality(float64(f.shape.Bits), 1, float64(f.set)))
}

// Info describes the filter as it stands.
func (f *Filter) Info() filter.Info {
	fill := float64(f.set) / float64(f.shape.Bits)
	limit := float64(f.capacity) * (1 + 5/math.Sqrt(float64(f.capacity)))
	return filter.Info{
		Kind: "bitmap", Keys: f.len(), Capacity: f.capacity, FastBits: 64 * uint64(len(f.words)),
		FPR: fill, Fill: fill, Overfull: f.capacity > 0 && float64(f.len()) > limit,
	}
}

func (f *Filter) summary() frame.Summary {
	return frame.Summary{Keys: f.len(), Capacity: f.capacity, SetBits: f.set, FastBits: 64 * uint64(len(f.words))}
}

// Snapshot captures the filter as it is now, in memory of its own.
func (f *Filter) Snapshot() io.WriterTo {
	return frame.Words(Number, 1, f.shape, f.summary(), f.words).Copied()
}

// Read reads what Snapshot wrote.
func Read(src io.Reader) (*Filter, error) {
	r, s, err := frame.OpenAs(src, Number, 1, Shape.check)
	if err != nil {
		return nil, err
	}
	words, err := r.ReadRest(bitvec.WordsFor(s.Bits), mem.Words)
	if err != nil {
		return nil, err
	}
	f := &Filter{words: words, set: bitvec.Vector(words).Count(), capacity: r.Header().Summary.Capacity, shape: s}
	if tail := s.Bits % 64; tail != 0 && words[len(words)-1]>>tail != 0 {
		return nil, r.Corrupt("payload: bits", "set beyond the last", s.Bits)
	}
	if err := r.CheckSummary(f.summary()); err != nil {
		return nil, err
	}
	return f, r.Close()
}
