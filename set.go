package everbloom

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/fault"
	"github.com/everbloom-go/everbloom/internal/kinds"
)

// A Set is a set of byte strings with false positives and no false negatives. It
// owns the hash, the filters and their locks, and is safe for concurrent use.
//
// The zero Set holds nothing and refuses changes; New, Open and Read make sets, and
// UnmarshalBinary and ReadFrom fill one.
type Set struct {
	// quick is the filter of a set of one shard of kind blocked with the default hash,
	// the usual one, which single keys reach by a shorter way: calls would take as long
	// as the work.
	quick *bloom.Blocked

	hash   filter.Hash
	order  uint64 // locks of two sets are taken in this order
	shards shards
	single [1]shard // the memory of shards if there is one
}

// stripedFrom is how many blocks make the stripes of a quick filter a small part of its
// memory.
const stripedFrom = 1 << 10

// errZero is the answer of the zero Set.
var errZero = fault.In("everbloom", "the zero Set holds no filter: make one with New, Open or Read: %w", errors.ErrUnsupported)

// lastOrder numbers the sets of this process.
var lastOrder atomic.Uint64

// New returns an empty set of the kind that [Plan] puts first, or of the kind
// that is named.
func New(n Needs) (*Set, error) { return build(kinds.All(), n) }

// build predicts nothing unless the preferred kinds fail: that would take longer than
// making the set. For want of memory they do not fail: another kind would not fit either.
func build(table []kinds.Kind, n Needs) (*Set, error) {
	n, err := n.withDefaults()
	if n.Kind != "" {
		k, errKind := n.named(table)
		if err := errors.Join(err, errKind); err != nil {
			return nil, err
		}
		return n.makeSet(k)
	}
	if err != nil {
		return nil, err
	}
	for _, k := range n.firstChoices(table) {
		if s, err := n.makeSet(k); err == nil || errors.Is(err, filter.ErrStorage) {
			return s, err
		}
	}
	choices, err := plan(table, n)
	if err != nil {
		return nil, err
	}
	n.Kind = choices[0].Kind
	return build(table, n)
}

// makeSet returns an empty set of kind k. n has its defaults.
func (n Needs) makeSet(k kinds.Kind) (*Set, error) {
	filters := make([]filter.Filter, n.Shards)
	for i := range filters {
		config := n.config()
		config.SlowFile = slowFile(n.SlowFile, i, n.Shards)
		f, err := k.New(config)
		if err != nil {
			closeAll(filters[:i])
			return nil, err
		}
		filters[i] = f
	}
	if n.Untrusted && n.Hash == (filter.Hash{}) {
		n.Hash = filter.NewSipHash()
	}
	return newSet(n.Hash, filters), nil
}

// slowFile returns the slow file of shard i, as [Needs] names it.
func slowFile(path string, i, shards int) string {
	if path == "" || shards == 1 {
		return path
	}
	return fmt.Sprintf("%s.%d", path, i)
}

// closeAll removes the slow files of filters that become no set, for another error.
func closeAll(filters []filter.Filter) {
	for _, f := range filters {
		_ = closeFilter(f)
	}
}

// config is what a filter of the set is made for.
func (n Needs) config() kinds.Config { return kinds.Config{Items: n.itemsPerShard(), FPR: n.FPR} }

// itemsPerShard allows for the uneven split: four standard deviations.
func (n Needs) itemsPerShard() uint64 {
	if n.Shards == 1 {
		return n.Items
	}
	mean := float64(n.Items) / float64(n.Shards)
	return uint64(math.Ceil(mean + 4*math.Sqrt(mean)))
}

// NewSet returns a set over a filter that may hold keys already, hashed with h.
// The filter belongs to the set from then on. Without a filter it is the zero Set.
func NewSet(f filter.Filter, h filter.Hash) *Set {
	if f == nil {
		return new(Set)
	}
	return newSet(h, []filter.Filter{f})
}

func newSet(h filter.Hash, filters []filter.Filter) *Set {
	s := new(Set)
	s.init(h, filters)
	return s
}

// init makes s, which is not in use, a set over the filters.
func (s *Set) init(h filter.Hash, filters []filter.Filter) {
	s.hash, s.order, s.quick = h, lastOrder.Add(1), nil
	s.single = [1]shard{}
	s.shards = s.single[:]
	if len(filters) > 1 {
		s.shards = make([]shard, len(filters))
	}
	for i, f := range filters {
		sh := &s.shards[i]
		sh.filter, sh.locking = f, lockingOf(f)
		sh.addsOnly = sh.locking == writersLock && !filter.AbilitiesOf(f).Delete
	}
	if len(filters) == 1 && h == (filter.Hash{}) {
		if f, ok := filters[0].(*bloom.Blocked); ok && f.HasFastPath() {
			s.quick = f
			if f.Shape().Blocks >= stripedFrom {
				s.single[0].stripes = new([stripeCount]stripe)
			}
		}
	}
}

// Hash returns the hash that turns the set's keys into filter.Keys.
func (s *Set) Hash() filter.Hash { return s.hash }
