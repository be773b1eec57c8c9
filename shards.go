package everbloom

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/fault"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// shards are the filters of a set. The zero Set has none.
type shards []shard

// shardMixer decides which shard a key belongs to; files depend on it. It must differ
// from those inside the filters, whose salts are small or random, or a shard's keys
// would crowd into a part of its filter.
var shardMixer = probe.NewMixer(0x5A4A6D5348415244)

// of returns the shard that k belongs to, nil if there is none.
func (s shards) of(k filter.Key) *shard {
	switch len(s) {
	case 0:
		return nil
	case 1:
		return &s[0]
	}
	return &s[probe.Reduce(shardMixer.Mix(k), uint64(len(s)))]
}

func (s shards) mayContain(k filter.Key) bool {
	sh := s.of(k)
	return sh != nil && sh.mayContain(k)
}

func (s shards) delete(k filter.Key) error {
	sh := s.of(k)
	if sh == nil {
		return errZero
	}
	sh.lock()
	defer sh.unlock()
	return filter.Delete(sh.filter, k)
}

// kind returns a filter of the set's kind to ask for abilities, nil if there is none.
func (s shards) kind() filter.Filter {
	if len(s) == 0 {
		return nil
	}
	return s[0].filter
}

// cannot says what the set's kind lacks.
func (s shards) cannot(verb string) error {
	if len(s) == 0 {
		return errZero
	}
	return fault.Unsupported("everbloom", s[0].info().Kind, verb)
}

// mergeable is the answer to merging a set with itself, which changes nothing: every
// set is its own union and its own intersection. Nor could both locks be taken, for
// they are one.
func (s shards) mergeable() error {
	if _, can := s.kind().(filter.Merger); !can {
		return s.cannot("merge")
	}
	return nil
}

// each does something to the filter of every shard, up to the first error.
func (s shards) each(do func(filter.Filter) error) error {
	if len(s) == 0 {
		return errZero
	}
	for i := range s {
		sh := &s[i]
		sh.lock()
		err := do(sh.filter)
		sh.unlock()
		if err != nil {
			return s.in(i, err)
		}
	}
	return nil
}

// in says where an error happened, if that is a question.
func (s shards) in(i int, err error) error {
	if len(s) == 1 {
		return err
	}
	return fault.In("everbloom", "shard %d of %d: %w", i, len(s), err)
}

func (s shards) lockAll() (unlock func()) {
	for i := range s {
		s[i].lock()
	}
	return func() {
		for i := range s {
			s[i].unlock()
		}
	}
}

func (s shards) freezeAll() (thaw func()) {
	for i := range s {
		s[i].freeze()
	}
	return func() {
		for i := range s {
			s[i].thaw()
		}
	}
}
