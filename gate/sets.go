package gate

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/kinds"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// A backing is a kind of filter that can hold the tracked or the banned users: it
// deletes, and its memory can be predicted.
type backing struct {
	name  string
	bits  float64 // per expected key, by default
	least uint64  // bytes of a set, however few keys are expected

	// size plans kinds that are not sized by their prediction.
	size func(items uint64, fpr float64) (plan, error)

	kind  kinds.Kind
	exact bool // the kind stores its keys: duplicates and deletes of absent keys change nothing
	grows bool // the set takes memory as keys come, so the gate stops it at the limit
}

// A plan is a filter that can be made.
type plan struct {
	config kinds.Config
	fpr    float64 // predicted for config.Items keys
	bits   float64 // upper bound of its memory with as many keys
	build  func() (filter.Filter, error)
}

// backings are the kinds that delete and do not drift. Each follows its row in kinds.
var backings = []backing{
	{name: "evergreen", bits: 128, least: 1 << 18},
	{name: "deletable", bits: 32, least: 1 << 13, size: planCollisionArray},
	{name: "counting", bits: 64, least: 1 << 13},
	{name: "dleft", bits: 32, least: 1 << 13},
	{name: "elastic", bits: 12_000, least: 1 << 20, size: planElastic},
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
	i := slices.IndexFunc(backings, func(b backing) bool { return b.name == name })
	if i < 0 {
		return backing{}, fault.In("gate", "kind %q: take %s", name, strings.Join(Kinds(), ", "))
	}
	b := backings[i]
	k, err := kinds.ByName(name)
	b.kind = k
	_, b.exact = k.Type.(filter.Exact)
	b.grows = k.Grows && b.size == nil
	return b, err
}

// margin is how much more than predicted a set that grows may take, and pageMargin
// what its allocator may hold in pages that are not full.
const (
	margin     = 1.02
	pageMargin = 1 << 19 // bits
)

// predict returns the rate of a filter that holds n keys, and the upper bound of its
// memory in bits.
func (b backing) predict(c kinds.Config, n uint64) (fpr, bits float64, err error) {
	p, err := b.kind.Predict(c, n)
	bits = (p.FastBitsPerKey + p.SlowBitsPerKey) * float64(max(n, 1))
	if b.grows {
		bits = bits*margin + pageMargin
	}
	return p.FPR, bits, err
}

// plan plans a set for so many keys at that rate.
func (b backing) plan(items uint64, fpr float64) (p plan, err error) {
	if b.size != nil {
		return b.size(items, fpr)
	}
	p.config = kinds.Config{Items: items, FPR: fpr}
	p.build = func() (filter.Filter, error) { return b.kind.New(p.config) }
	p.fpr, p.bits, err = b.predict(p.config, items)
	return p, err
}

// planCollisionArray plans the deletable filter of [Sum]: one mark for every bit.
func planCollisionArray(items uint64, fpr float64) (plan, error) {
	c := deletable.Config{Items: items, FPR: fpr, RegionShare: 0.5}
	s, err := c.Shape()
	if err != nil {
		return plan{}, err
	}
	bits := float64(s.Bits) + 128 // both halves are whole words
	return plan{fpr: s.FPR(items), bits: bits, build: func() (filter.Filter, error) { return deletable.New(c) }}, nil
}

// planElastic plans a filter that can double once, and counts the memory that it then
// has: a bucket that overflows makes it double whatever the number of keys.
func planElastic(items uint64, fpr float64) (plan, error) {
	c := elastic.Config{Items: items, FPR: fpr, Growth: 1}
	s, err := c.Shape()
	if err != nil {
		return plan{}, err
	}
	bits := float64(2*s.Bits + s.SlowBitsAt(1))
	return plan{fpr: s.FPR(items), bits: bits, build: func() (filter.Filter, error) { return elastic.New(c) }}, nil
}

// Rates between which a set is made: a gate does not profit from lower ones, and with
// higher ones it rejects more than a packet in ten.
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
	if best.bits > bits {
		return plan{}, fault.In("gate", "%s: %.0f bytes for %d keys, needs %.0f even at a rate of %g",
			b.name, bits/8, items, math.Ceil(best.bits/8), highestRate)
	}
	low, high := math.Log(lowestRate), math.Log(highestRate)
	for range 12 {
		middle := (low + high) / 2
		if p, err := b.plan(items, math.Exp(middle)); err == nil && p.bits <= bits {
			best, high = p, middle
		} else {
			low = middle
		}
	}
	return best, nil
}

// leastBytes returns the bytes that a set for so many keys needs at least.
func (b backing) leastBytes(items uint64) (uint64, error) {
	p, err := b.plan(items, highestRate)
	return uint64(math.Ceil(p.bits / 8)), err
}

// most returns how many keys a planned set can hold within so many bits.
func (b backing) most(p plan, bits float64) uint64 {
	if !b.grows {
		return math.MaxUint64
	}
	fits := func(n uint64) bool {
		_, need, err := b.predict(p.config, n)
		return err == nil && need <= bits
	}
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

// A set is a filter with a limit and counts.
type set struct {
	filter.Deleter
	backing
	plan    plan
	bytes   uint64  // of its share; 0 if it has no limit
	planned float64 // rate with as many keys as expected
	limit   uint64  // keys that fit into the memory
	keys    uint64
	pinned  uint64 // keys that could not be deleted
}

// newSet makes a set for so many keys within so many bytes. Only a fixed one keeps to
// them when it grows.
func newSet(b backing, items, bytes uint64, fixed bool) (*set, error) {
	bits := 8 * float64(bytes)
	p, err := b.fit(items, bits)
	if err != nil {
		return nil, err
	}
	f, err := p.build()
	if err != nil {
		return nil, err
	}
	s := &set{Deleter: f.(filter.Deleter), backing: b, plan: p, planned: p.fpr, limit: math.MaxUint64}
	if fixed {
		s.bytes, s.limit = bytes, b.most(p, bits)
	}
	return s, nil
}

// release gives up some bytes of the share, if the keys that are there do not need them.
func (s *set) release(bytes uint64) bool {
	if !s.grows || bytes >= s.bytes {
		return false
	}
	most := s.most(s.plan, 8*float64(s.bytes-bytes))
	if most <= s.keys {
		return false
	}
	s.bytes, s.limit = s.bytes-bytes, most
	return true
}

// put adds a key and reports whether the set has it now, added or claimed before.
func (s *set) put(k filter.Key) bool {
	if s.keys >= s.limit {
		return false
	}
	added, err := s.Add(k)
	if err == nil && (added || !s.exact) {
		s.keys++
	}
	return err == nil
}

// take deletes a key and reports whether it did. A set that is not exact may delete a
// key that was never put there.
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
