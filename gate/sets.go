package gate

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/kinds"
)

// A backing is a kind of filter that can be a set of the gate.
type backing struct {
	name  string
	bits  float64 // per expected key, unless asked otherwise
	least uint64  // bytes of a set however few keys are expected

	// exact says that the kind stores its keys: adding one again changes nothing,
	// deleting one that is not there is refused, and Contains has no false positives.
	exact bool

	// grows says that the set is as large as its keys need, so that the gate has to
	// stop it at the limit.
	grows bool

	plan func(items uint64, fpr float64) (plan, error)
}

// A plan is a filter that can be made.
type plan struct {
	fpr   float64
	bits  func(keys uint64) float64 // its memory with so many keys
	build func() (filter.Filter, error)
}

// backings are the kinds that can delete and whose memory can be known beforehand.
var backings = []backing{
	{name: "evergreen", bits: 128, least: 1 << 18, exact: true, grows: true, plan: planKind("evergreen")},
	{name: "deletable", bits: 32, least: 1 << 13, plan: planCollisionArray},
	{name: "counting", bits: 64, least: 1 << 13, plan: planKind("counting")},
	{name: "dleft", bits: 32, least: 1 << 13, plan: planKind("dleft")},
	{name: "elastic", bits: 12_000, least: 1 << 20, exact: true, plan: planElastic},
}

// Kinds returns the names of the kinds of filter that a gate can use, the default
// first.
func Kinds() []string {
	var names []string
	for _, b := range backings {
		names = append(names, b.name)
	}
	return names
}

func backingOf(name string) (backing, error) {
	for _, b := range backings {
		if b.name == name {
			return b, nil
		}
	}
	return backing{}, fmt.Errorf("gate: kind %q: take %s", name, strings.Join(Kinds(), ", "))
}

// confirmation returns what [ConfirmFree] comes to.
func (b backing) confirmation() Confirmation {
	if b.exact {
		return ConfirmAlways
	}
	return ConfirmNever
}

// planKind makes a kind as the table of kinds does.
func planKind(name string) func(uint64, float64) (plan, error) {
	return func(items uint64, fpr float64) (plan, error) {
		k, err := kinds.ByName(name)
		if err != nil {
			return plan{}, err
		}
		c := kinds.Config{Items: items, FPR: fpr}
		p, err := k.Predict(c, items)
		if err != nil {
			return plan{}, err
		}
		bits := func(n uint64) float64 {
			p := p
			if n != items {
				if p, err = k.Predict(c, n); err != nil {
					return math.Inf(1)
				}
			}
			return (p.FastBitsPerKey + p.SlowBitsPerKey) * float64(max(n, 1))
		}
		return plan{fpr: p.FPR, bits: bits, build: func() (filter.Filter, error) { return k.New(c) }}, nil
	}
}

// planCollisionArray makes the deletable filter of [Sum]: one mark for every bit.
func planCollisionArray(items uint64, fpr float64) (plan, error) {
	c := deletable.Config{Items: items, FPR: fpr, RegionShare: 0.5}
	s, err := c.Shape()
	if err != nil {
		return plan{}, err
	}
	bits := func(uint64) float64 { return float64(s.Bits) + 128 } // both halves are whole words
	return plan{fpr: s.FPR(items), bits: bits, build: func() (filter.Filter, error) { return deletable.New(c) }}, nil
}

// planElastic makes a filter that can double once, and counts the memory that it
// then has: a bucket that overflows makes it double whatever the number of keys.
func planElastic(items uint64, fpr float64) (plan, error) {
	c := elastic.Config{Items: items, FPR: fpr, Growth: 1}
	s, err := c.Shape()
	if err != nil {
		return plan{}, err
	}
	most := float64(2*s.Bits + s.SlowBitsAt(1))
	bits := func(uint64) float64 { return most }
	return plan{fpr: s.FPR(items), bits: bits, build: func() (filter.Filter, error) { return elastic.New(c) }}, nil
}

// Rates between which a set is made: lower ones buy nothing that a gate would
// notice, and with higher ones it would reject a packet in ten.
const (
	lowestRate  = 1e-6
	highestRate = 0.1
)

// fit returns the plan with the lowest rate that fits into so many bits.
func (b backing) fit(items uint64, bits float64) (plan, error) {
	best, err := b.plan(items, highestRate)
	if err != nil {
		return plan{}, err
	}
	if need := b.need(best, items); need > bits {
		return plan{}, fmt.Errorf("gate: %s: %.0f bytes for %d keys, needs %.0f even at a rate of %g",
			b.name, bits/8, items, math.Ceil(need/8), highestRate)
	}
	low, high := math.Log(lowestRate), math.Log(highestRate)
	for range 12 {
		middle := (low + high) / 2
		if p, err := b.plan(items, math.Exp(middle)); err == nil && b.need(p, items) <= bits {
			best, high = p, middle
		} else {
			low = middle
		}
	}
	return best, nil
}

// margin is how much more than predicted a set that grows may take, and pageMargin
// what its allocator may hold in pages that are not full.
const (
	margin     = 1.02
	pageMargin = 1 << 19 // bits
)

// withMargin returns the bits that a set surely stays within, if so many are
// predicted.
func (b backing) withMargin(predicted float64) float64 {
	if !b.grows {
		return predicted
	}
	return predicted*margin + pageMargin
}

// need returns the bits that a plan surely stays within, with so many keys.
func (b backing) need(p plan, items uint64) float64 { return b.withMargin(p.bits(items)) }

// leastBytes returns the bytes that a set for so many keys cannot do without.
func (b backing) leastBytes(items uint64) (uint64, error) {
	p, err := b.plan(items, highestRate)
	if err != nil {
		return 0, err
	}
	return uint64(math.Ceil(b.need(p, items) / 8)), nil
}

// most returns how many keys a plan can hold within so many bits.
func (b backing) most(p plan, bits float64) uint64 {
	if !b.grows {
		return math.MaxUint64
	}
	fits := func(n uint64) bool { return b.withMargin(p.bits(n)) <= bits }
	low, high := uint64(0), uint64(1)
	for fits(high) && high < 1<<40 {
		low, high = high, 2*high
	}
	for high-low > 1 {
		if middle := (low + high) / 2; fits(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// A set is a filter with a limit and a count.
type set struct {
	filter.Deleter
	backing backing
	planned float64 // rate with as many keys as expected
	most    uint64  // keys that fit into the memory
	keys    uint64
	pinned  uint64 // keys that could not be deleted
	refused uint64 // keys that there was no room for
}

// newSet makes a set for so many keys within so many bytes.
func newSet(b backing, items, bytes uint64) (*set, error) {
	bits := 8 * float64(bytes)
	p, err := b.fit(items, bits)
	if err != nil {
		return nil, err
	}
	f, err := p.build()
	if err != nil {
		return nil, err
	}
	return &set{Deleter: f.(filter.Deleter), backing: b, planned: p.fpr, most: b.most(p, bits)}, nil
}

// put adds a key and reports whether it is in the set now, not only claimed by it.
func (s *set) put(k filter.Key) bool {
	if s.keys >= s.most {
		return false
	}
	added, err := s.Add(k)
	if err != nil {
		return false
	}
	if added || !s.backing.exact {
		s.keys++
	}
	return true
}

// take deletes a key and reports whether it did. In a set that is not exact that
// may have been a key that was never put there.
func (s *set) take(k filter.Key) bool {
	err := s.Delete(k)
	if errors.Is(err, filter.ErrPinned) {
		s.pinned++
	}
	if err == nil && s.keys > 0 {
		s.keys--
	}
	return err == nil
}
