package main

import (
	"cmp"
	"errors"

	"github.com/zeebo/xxh3"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/internal/kinds"
)

// ownContenders are everbloom's kinds, and the Set that most programs use, which adds a lock and
// the choice of the hash.
var ownContenders = append(ownKinds(kinds.All()),
	own(perennialLoose, 48, 0, perennialOf(0.86)),
	contender{name: setKind, traits: short | manyAdders, peak: 32, build: newSet(0)},
	contender{name: "everbloom Set, 16 shards", traits: manyAdders, peak: 32, build: newSet(16)},
)

// A line says what is special about the measurement of a kind.
type line struct {
	name  string  // "everbloom" and the name of the kind, unless given
	peak  float64 // 256 bits per key, unless given
	items func(n uint64) uint64
	build func(request) (filter.Filter, error) // by the table of kinds, unless given
}

// lines are the kinds whose name, memory or size is not the usual. Those that grow begin
// small: scalable with a thousand keys, dynamic with units of the size that partition has,
// elastic with a 64th of the keys, evergreen and perennial with none.
var lines = map[string]line{
	"bloom":     {name: classic, peak: 32},
	"blocked":   {name: blocked, peak: 32},
	"counting":  {name: countingKind, peak: 100},
	"deletable": {name: deletableKind, peak: 32},
	"dleft":     {name: dleftKind, peak: 48},
	"scalable":  {name: scalableKind, peak: 64, items: func(uint64) uint64 { return 1000 }},
	"partition": {name: partitionKind, peak: 160},
	"dynamic": {name: dynamicKind, peak: 160, build: func(w request) (filter.Filter, error) {
		return dynamic.New(dynamic.Config{Items: 1024, FPR: w.fpr, CounterBits: 1})
	}},
	"elastic":   {peak: 8000, items: func(n uint64) uint64 { return max(1, n/64) }},
	"evergreen": {peak: 200, items: func(uint64) uint64 { return 0 }},
	"perennial": {name: perennialKind, peak: 48, build: perennialOf(0.90)},
}

// perennialOf returns the constructor for perennial with lines that are so full.
func perennialOf(fill float64) func(request) (filter.Filter, error) {
	return func(w request) (filter.Filter, error) {
		return perennial.New(perennial.Config{FPR: w.fpr, Fill: fill})
	}
}

// ownKinds returns a contender for each kind. Of parallel there is none: it is many dynamic
// filters, and the Set with shards shows what locks cost.
func ownKinds(table []kinds.Kind) (all []contender) {
	for _, k := range table {
		if k.Name == "parallel" {
			continue
		}
		l := lines[k.Name]
		build := l.build
		if build == nil {
			build = func(w request) (filter.Filter, error) {
				items := w.n
				if l.items != nil {
					items = l.items(w.n)
				}
				return k.New(kinds.Config{Items: items, FPR: w.fpr})
			}
		}
		var traits trait
		if k.Abilities().Concurrent {
			traits = manyAdders
		}
		all = append(all, own(cmp.Or(l.name, "everbloom "+k.Name), cmp.Or(l.peak, 256), traits, build))
	}
	return all
}

// keyOf is the hash that the rivals get, called in the same way.
func keyOf(k []byte) filter.Key { return filter.Key(xxh3.Hash(k)) }

func newSet(shards int) func(request) (set, error) {
	return func(w request) (set, error) {
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
func own(name string, peak float64, traits trait, build func(request) (filter.Filter, error)) contender {
	return contender{
		name: name, traits: traits | short, peak: peak,
		build: func(w request) (set, error) {
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
	if d, ok := f.(filter.Deleter); ok && s.del == nil && !errors.Is(d.Delete(0), errors.ErrUnsupported) {
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

// direct returns add and has, and del where that is compared, too. Kinds that are compared to
// the nanosecond are called by their concrete type, as the rivals are; through the interface each
// call takes a nanosecond or two more.
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
	case *perennial.Filter:
		return set{
			add: func(b block) int {
				return count(b, func(k []byte) bool { _, err := f.Add(keyOf(k)); return err == nil })
			},
			has: func(b block) int { return count(b, func(k []byte) bool { return f.MayContain(keyOf(k)) }) },
			del: func(b block) int { return count(b, func(k []byte) bool { return f.Delete(keyOf(k)) == nil }) },
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
