// Package growth measures a set that grows and shrinks again: its false-positive rate,
// its memory, and whether it loses a key on the way.
package growth

import (
	"context"
	"fmt"
	"runtime"

	"github.com/everbloom-go/everbloom"
)

// askedRate is the rate of false positives that the set is made for.
const askedRate = 0.01

// Config is what is measured. The zero Config grows a set from 10,000 keys to 1,000,000
// and back, at a rate of 1 %.
type Config struct {
	Sizes  []uint64 // keys at each step, growing; the way back has the same. Default: 10,000 to 1,000,000
	Absent uint64   // keys that each step looks up and that are not in the set; 0 means 1,000,000
}

func (c Config) withDefaults() Config {
	if len(c.Sizes) == 0 {
		c.Sizes = []uint64{10_000, 30_000, 100_000, 300_000, 1_000_000}
	}
	if c.Absent == 0 {
		c.Absent = 1_000_000
	}
	return c
}

// Step is how the set stands with some number of keys.
type Step struct {
	Keys      uint64
	Shrinking bool
	FPR       float64 // measured with absent keys
	Predicted float64
	Bits      float64 // per key
	Lost      uint64  // keys in the set that were not found

	// Fixed is the measured rate of a standard Bloom filter that was made for the keys of
	// the first step and took the same keys. It cannot shrink: 0 while the set does.
	Fixed float64

	MapBits float64 // per key, of a Go map with the same keys
}

// Report is all steps and what was asked for.
type Report struct {
	Kind  string
	Asked float64
	Steps []Step
}

// Lost returns the keys that were not found, over all steps.
func (r Report) Lost() (n uint64) {
	for _, s := range r.Steps {
		n += s.Lost
	}
	return n
}

// Worst returns the highest measured rate.
func (r Report) Worst() (rate float64) {
	for _, s := range r.Steps {
		rate = max(rate, s.FPR)
	}
	return rate
}

// Peak returns the step with the most keys.
func (r Report) Peak() (peak Step) {
	for _, s := range r.Steps {
		if s.Keys > peak.Keys {
			peak = s
		}
	}
	return peak
}

// Run measures, and calls each after every step.
func Run(ctx context.Context, c Config, each func(Step) error) (Report, error) {
	c = c.withDefaults()
	m, err := newMeasurement(c)
	if err != nil {
		return Report{}, err
	}
	report := Report{Kind: m.set.Info().Kind, Asked: askedRate}
	bits := mapBits(m.sizes())
	for i, keys := range m.sizes() {
		s, err := m.step(ctx, keys, i >= len(c.Sizes))
		if err != nil {
			return report, err
		}
		s.MapBits = bits[i]
		report.Steps = append(report.Steps, s)
		if err := each(s); err != nil {
			return report, err
		}
	}
	return report, nil
}

// measurement is a set with the keys from the number first up to the number next, and a
// standard filter with the keys from 0 on.
type measurement struct {
	Config
	set, fixed  *everbloom.Set
	first, next uint64
}

func newMeasurement(c Config) (*measurement, error) {
	set, err := everbloom.New(everbloom.Needs{Items: c.Sizes[0], FPR: askedRate, Delete: true, Grow: true})
	if err != nil {
		return nil, err
	}
	fixed, err := everbloom.New(everbloom.Needs{Items: c.Sizes[0], FPR: askedRate, Kind: "bloom"})
	return &measurement{Config: c, set: set, fixed: fixed}, err
}

// sizes returns the keys at each step, there and back.
func (m *measurement) sizes() []uint64 {
	all := append([]uint64{}, m.Sizes...)
	for i := len(m.Sizes) - 2; i >= 0; i-- {
		all = append(all, m.Sizes[i])
	}
	return all
}

// step brings the set to so many keys, the oldest of which go first, and measures.
func (m *measurement) step(ctx context.Context, keys uint64, shrinking bool) (Step, error) {
	for m.next-m.first < keys {
		_, err := m.set.AddUint64(m.next)
		if err == nil {
			_, err = m.fixed.AddUint64(m.next)
		}
		if err != nil {
			return Step{}, err
		}
		m.next++
	}
	for ; m.next-m.first > keys; m.first++ {
		if err := m.set.DeleteUint64(m.first); err != nil {
			return Step{}, fmt.Errorf("growth: delete key %d: %w", m.first, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return Step{}, err
	}
	return m.measure(shrinking)
}

// beyond is where the numbers begin that are never added.
const beyond = 1 << 40

func (m *measurement) measure(shrinking bool) (Step, error) {
	info := m.set.Info()
	s := Step{Keys: m.next - m.first, Shrinking: shrinking, Predicted: info.FPR, Bits: info.BitsPerKey()}
	if info.Keys != s.Keys {
		return s, fmt.Errorf("growth: the set counts %d keys, %d are in it", info.Keys, s.Keys)
	}
	for k := m.first; k < m.next; k++ {
		if !m.set.MayContainUint64(k) {
			s.Lost++
		}
	}
	s.FPR = m.rate(m.set)
	if !shrinking {
		s.Fixed = m.rate(m.fixed)
	}
	return s, nil
}

// rate returns the share of absent keys that a set claims.
func (m *measurement) rate(set *everbloom.Set) float64 {
	claimed := 0
	for k := range m.Absent {
		if set.MayContainUint64(beyond + k) {
			claimed++
		}
	}
	return float64(claimed) / float64(m.Absent)
}

// mapBits returns the bits per key of a Go map that is brought to these sizes.
func mapBits(sizes []uint64) []float64 {
	var out []float64
	var first, next uint64
	before := heap()
	keys := map[uint64]struct{}{}
	for _, n := range sizes {
		for ; next-first < n; next++ {
			keys[next] = struct{}{}
		}
		for ; next-first > n; first++ {
			delete(keys, first)
		}
		out = append(out, 8*float64(above(heap(), before))/float64(n))
	}
	runtime.KeepAlive(keys)
	return out
}

// HeapOf returns the bytes of heap that what build makes takes.
func HeapOf[T any](build func() T) uint64 {
	before := heap()
	made := build()
	after := heap()
	runtime.KeepAlive(made)
	return above(after, before)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// above returns how much more a is: other goroutines may have freed memory meanwhile.
func above(a, b uint64) uint64 { return max(a, b) - b }
