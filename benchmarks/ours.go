package main

import (
	"errors"

	"github.com/zeebo/xxh3"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/filter/scalable"
)

// ours are everbloom's kinds, one line each, and the Set that most programs use, which adds
// a lock and the choice of the hash. Those that grow begin small: scalable with a thousand
// keys, dynamic with units of the size that partition has, elastic with a 64th of the keys,
// evergreen with none.
var ours = []contender{
	own(blocked, 32, 0, func(w wish) (filter.Filter, error) { return bloom.NewBlocked(bloom.Config{Items: w.n, FPR: w.fpr}) }),
	own(classic, 32, 0, func(w wish) (filter.Filter, error) { return bloom.New(bloom.Config{Items: w.n, FPR: w.fpr}) }),
	own(countingKind, 100, 0, func(w wish) (filter.Filter, error) { return counting.New(counting.Config{Items: w.n, FPR: w.fpr}) }),
	own(deletableKind, 32, 0, func(w wish) (filter.Filter, error) { return deletable.New(deletable.Config{Items: w.n, FPR: w.fpr}) }),
	own(dleftKind, 48, 0, func(w wish) (filter.Filter, error) { return dleft.New(dleft.Config{Items: w.n, FPR: w.fpr}) }),
	own(scalableKind, 64, 0, func(w wish) (filter.Filter, error) { return scalable.New(scalable.Config{Items: 1000, FPR: w.fpr}) }),
	own(partitionKind, 160, 0, func(w wish) (filter.Filter, error) {
		return partition.New(partition.Config{Items: w.n, FPR: w.fpr})
	}),
	own(dynamicKind, 160, 0, func(w wish) (filter.Filter, error) {
		return dynamic.New(dynamic.Config{Items: 1024, FPR: w.fpr, CounterBits: 1})
	}),
	own("everbloom elastic", 8000, manyAdders, func(w wish) (filter.Filter, error) {
		return elastic.New(elastic.Config{Items: max(1, w.n/64), FPR: w.fpr})
	}),
	own("everbloom evergreen", 200, manyAdders, func(w wish) (filter.Filter, error) { return evergreen.New(evergreen.Config{FPR: w.fpr}) }),
	{name: setKind, traits: short | manyAdders, peak: 32, build: newSet(0)},
	{name: "everbloom Set, 16 shards", traits: manyAdders, peak: 32, build: newSet(16)},
}

// keyOf is the hash that the rivals get, called in the same way.
func keyOf(k []byte) filter.Key { return filter.Key(xxh3.Hash(k)) }

func newSet(shards int) func(wish) (set, error) {
	return func(w wish) (set, error) {
		s, err := everbloom.New(everbloom.Needs{Items: w.n, FPR: w.fpr, Shards: shards})
		if err != nil {
			return set{}, err
		}
		return callsOf(s), nil
	}
}

// callsOf is for newSet what direct is for the kinds. The compiler inlines newSet where the
// table of contenders is made, and closures there would be called for every key.
func callsOf(s *everbloom.Set) set {
	return set{
		add: func(b block) int {
			return count(b, func(k []byte) bool { _, err := s.Add(k); return err == nil })
		},
		has:   func(b block) int { return count(b, func(k []byte) bool { return s.MayContain(k) }) },
		bits:  func() uint64 { return s.Info().FastBits },
		batch: func(size int) batch { return batchesOf(setBatcher{s}, size) },
	}
}

// A setBatcher has the batch calls of a Set in the form that filters have.
type setBatcher struct{ *everbloom.Set }

func (s setBatcher) AddBatch(keys []filter.Key) (done, added int, err error) {
	added, err = s.Set.AddBatch(keys, nil)
	return len(keys), added, err
}

// own returns the contender for a kind. All else is found out from the filter it makes.
func own(name string, peak float64, traits trait, build func(wish) (filter.Filter, error)) contender {
	return contender{
		name: name, traits: traits | short, peak: peak,
		build: func(w wish) (set, error) {
			f, err := build(w)
			if err != nil {
				return set{}, err
			}
			return setOf(f), nil
		},
	}
}

// setOf gives the harness all that f, which is empty, can do. Some filters find out only when
// asked that they cannot delete.
func setOf(f filter.Filter) set {
	s := direct(f)
	s.bits = func() uint64 { info := f.Info(); return info.FastBits + info.SlowBits }
	if d, ok := f.(filter.Deleter); ok && !errors.Is(d.Delete(0), errors.ErrUnsupported) {
		s.del = func(b block) int {
			return count(b, func(k []byte) bool { return wasThere(d.Delete(keyOf(k))) })
		}
	}
	if f, ok := f.(filter.Batcher); ok {
		s.batch = func(size int) batch { return batchesOf(f, size) }
	}
	return s
}

// wasThere tells whether a delete found its key. A pinned key was found, and stays.
func wasThere(err error) bool { return err == nil || errors.Is(err, filter.ErrPinned) }

// direct returns add and has. Kinds that are compared to the nanosecond are called by their own
// type, as the rivals are; through the interface each call takes a nanosecond or two more.
func direct(f filter.Filter) set {
	switch f := f.(type) {
	case *bloom.Blocked:
		return set{
			add: func(b block) int {
				return count(b, func(k []byte) bool { _, err := f.Add(keyOf(k)); return err == nil })
			},
			has: func(b block) int { return count(b, func(k []byte) bool { return f.MayContain(keyOf(k)) }) },
		}
	case *bloom.Filter:
		return set{
			add: func(b block) int {
				return count(b, func(k []byte) bool { _, err := f.Add(keyOf(k)); return err == nil })
			},
			has: func(b block) int { return count(b, func(k []byte) bool { return f.MayContain(keyOf(k)) }) },
		}
	}
	return set{
		add: func(b block) int {
			return count(b, func(k []byte) bool { _, err := f.Add(keyOf(k)); return err == nil })
		},
		has: func(b block) int { return count(b, func(k []byte) bool { return f.MayContain(keyOf(k)) }) },
	}
}

// A batcher has batch calls, as filter.Batcher does.
type batcher interface {
	AddBatch(keys []filter.Key) (done, added int, err error)
	MayContainBatch(keys []filter.Key, out []bool)
}

// batchesOf returns the batch calls of f, with scratch memory for the hashed keys.
func batchesOf(f batcher, size int) batch {
	scratch, out := make([]filter.Key, size), make([]bool, size)
	hashed := func(run block) []filter.Key {
		keys := scratch[:0]
		addAll(run, func(k []byte) { keys = append(keys, keyOf(k)) })
		return keys
	}
	return batch{
		add: func(b block) (accepted int) {
			runs(b, size, func(run block) { done, _, _ := f.AddBatch(hashed(run)); accepted += done })
			return accepted
		},
		has: func(b block) (yes int) {
			runs(b, size, func(run block) {
				f.MayContainBatch(hashed(run), out)
				yes += trues(out[:run.len()])
			})
			return yes
		},
	}
}

// trues counts without a branch for each answer, which would be guessed wrong where batches
// are to shine.
func trues(answers []bool) (n int) {
	for _, yes := range answers {
		var one int
		if yes {
			one = 1
		}
		n += one
	}
	return n
}
