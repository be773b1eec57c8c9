package everbloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// shardCounts are the numbers of shards that tests use: one, which goes its own
// way, a power of two, an odd number, and, which takes long, many.
var shardCounts = effort.PickVariant([]int{1, 3}, []int{1, 2, 7}, []int{1, 2, 7, 64})

// TestFormsOfAKeyAgree adds and deletes in each form and asks in all; the exact filter
// has no false positives.
func TestFormsOfAKeyAgree(t *testing.T) {
	for _, hash := range hashes {
		s := exactSet(1)
		s.hash = hash
		number := uint64(0x0123456789ABCDEF)
		raw := binary.LittleEndian.AppendUint64(nil, number)
		text, key := string(raw), hash.Bytes(raw)
		add := []func() (bool, error){
			func() (bool, error) { return s.Add(raw) }, func() (bool, error) { return s.AddString(text) },
			func() (bool, error) { return s.AddUint64(number) }, func() (bool, error) { return s.AddKey(key) },
		}
		del := []func() error{
			func() error { return s.Delete(raw) }, func() error { return s.DeleteString(text) },
			func() error { return s.DeleteUint64(number) }, func() error { return s.DeleteKey(key) },
		}
		for i := range add {
			for _, want := range []bool{true, false} {
				if added, err := add[i](); added != want || err != nil {
					t.Errorf("%v, form %d: added %t, %v", hash, i, added, err)
				}
			}
			if !s.MayContain(raw) || !s.MayContainString(text) || !s.MayContainUint64(number) || !s.MayContainKey(key) {
				t.Errorf("%v: added in form %d, and a false negative in another", hash, i)
			}
			if err := del[i](); err != nil || s.MayContain(raw) || s.MayContainString(text) || s.MayContainUint64(number) || s.MayContainKey(key) {
				t.Errorf("%v, form %d: not deleted: %v", hash, i, err)
			}
			wantError(t, del[i](), filter.ErrNotFound)
		}
	}
}

// exactSets returns two empty sets of exact filters in which a key that is added twice
// cannot be deleted.
func exactSets(shards int) (a, b *Set) {
	filters := make([]filter.Filter, 2*shards)
	for i := range filters {
		filters[i] = filtertest.NewExact(filtertest.ExactConfig{Duplicates: filter.DuplicatesPin})
	}
	return newSet(filter.Hash{}, filters[:shards]), newSet(filter.Hash{}, filters[shards:])
}

// TestBatchesAgreeWithSingles has batches that go key by key and batches that are
// sorted by shards, with and without results for each key.
func TestBatchesAgreeWithSingles(t *testing.T) {
	effort.OneGoroutine(t)
	for _, shards := range shardCounts {
		for _, n := range []int{0, 1, 10, 2000} {
			single, batched := exactSets(shards)
			pool := filtertest.Keys(1, uint64(n)+50)
			keys := append(slices.Clone(pool[:n]), pool[:n/20]...) // some come twice
			added, wantAdded := make([]bool, len(keys)), make([]bool, len(keys))
			news := 0
			for i, k := range keys {
				if wantAdded[i], _ = single.AddKey(k); wantAdded[i] {
					news++
				}
			}
			half := len(keys) / 2
			first, err1 := batched.AddBatch(keys[:half], nil)
			second, err2 := batched.AddBatch(keys[half:], added[half:])
			if first+second != news || errors.Join(err1, err2) != nil || !slices.Equal(added[half:], wantAdded[half:]) {
				t.Errorf("%d shards, %d keys: %d and %d are new, want %d", shards, n, first, second, news)
			}
			out := make([]bool, len(pool)+1)
			batched.MayContainBatch(pool, out)
			for i, has := range out {
				if has != (i < n) {
					t.Fatalf("%d shards, %d keys: answer %d of %d is %t", shards, n, i, len(pool), has)
				}
			}
			wantSameDeletes(t, single, batched, pool)
		}
	}
}

// wantSameDeletes deletes keys one by one from a set, and in two batches from another
// with the same keys.
func wantSameDeletes(t *testing.T, single, batched *Set, keys []filter.Key) {
	t.Helper()
	var want [3]int
	results, wantResults := make([]error, len(keys)), make([]error, len(keys))
	for i, k := range keys {
		wantResults[i] = single.DeleteKey(k)
		count(wantResults[i], &want[0], &want[1], &want[2])
	}
	half := len(keys) / 2
	var first, second [3]int
	var err1, err2 error
	first[0], first[1], first[2], err1 = batched.DeleteBatch(keys[:half], nil)
	second[0], second[1], second[2], err2 = batched.DeleteBatch(keys[half:], results[half:])
	for i := range want {
		if first[i]+second[i] != want[i] || errors.Join(err1, err2) != nil {
			t.Errorf("deleted, not found and pinned: %v and %v, want %v together", first, second, want)
		}
	}
	if fmt.Sprint(results[half:]) != fmt.Sprint(wantResults[half:]) || !single.Equal(batched) {
		t.Error("batches of deletes do something else than singles")
	}
}

func TestBatchesMindTheirBounds(t *testing.T) {
	keys := filtertest.Keys(1, 10)
	for _, shards := range shardCounts {
		for _, out := range [][]bool{nil, make([]bool, 9), make([]bool, 0, 10)} {
			s := exactSet(shards)
			func() {
				defer func() { _ = recover() }()
				s.MayContainBatch(keys, out)
				t.Errorf("%d shards: %d answers were written to %d places", shards, len(keys), len(out))
			}()
		}
	}
}

func TestAFullShardStopsABatch(t *testing.T) {
	filters := make([]filter.Filter, 4)
	for i := range filters {
		filters[i] = filtertest.NewExact(filtertest.ExactConfig{Items: 10, Bounded: true})
	}
	s := newSet(filter.Hash{}, filters)
	added, err := s.AddBatch(filtertest.Keys(1, 1000), nil)
	wantError(t, err, filter.ErrFull)
	if uint64(added) != s.Len() || added == 0 {
		t.Errorf("%d reported as added, %d are in the set", added, s.Len())
	}
}

// told is a filter that says what it is told to say.
type told struct {
	filter.Filter
	info filter.Info
}

func (f told) Info() filter.Info { return f.info }

func TestInfoAddsUpTheShards(t *testing.T) {
	one := told{info: filter.Info{
		Kind: "told", Keys: 10, Exact: true, Capacity: 20, FastBits: 100, SlowBits: 50, FPR: 0.2, Fill: 0.5,
		Details: []filter.Detail{{Name: "regions", Value: "5"}},
	}}
	if got := NewSet(one, filter.Murmur3(3)).Info(); !reflect.DeepEqual(got.Info, one.info) || got.Hash != "murmur3:3" || got.Shards != 1 {
		t.Errorf("of one shard: %+v", got)
	}
	two := told{info: filter.Info{
		Kind: "told", Keys: math.MaxUint64, Capacity: 1, FastBits: 1, SlowBits: 2, FPR: 0.4, Fill: 0.1, Overfull: true,
	}}
	want := filter.Info{
		Kind: "told", Keys: math.MaxInt64, Capacity: 21, FastBits: 101, SlowBits: 52, FPR: 0.3, Fill: 0.3, Overfull: true,
	}
	for _, filters := range [][]filter.Filter{{one, two}, {two, one}} {
		got := newSet(filter.Hash{}, filters).Info()
		got.FPR, got.Fill = math.Round(10*got.FPR)/10, math.Round(10*got.Fill)/10
		if !reflect.DeepEqual(got.Info, want) || got.Shards != 2 {
			t.Errorf("of two shards: %+v\nwant %+v", got, want)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	effort.PlainOnly(t)
	raw, text := []byte("some key that is not too short"), "some key that is not too short"
	for _, kind := range kindNames() {
		for i, hash := range hashes {
			shards := 1 + 6*(i%2)
			s := mustNew(t, Needs{Kind: kind, Items: 1000, Shards: shards, Hash: hash})
			keys, out := filtertest.Keys(1, 100), make([]bool, 100)
			number := uint64(0)
			all := func() {
				number = (number + 1) % 64 // what grows allocates what it grows by
				_, _ = s.Add(raw)
				_, _ = s.AddString(text)
				_, _ = s.AddUint64(number)
				_, _ = s.AddKey(filter.Key(number))
				_ = s.MayContain(raw) && s.MayContainString(text) && s.MayContainUint64(number) && s.MayContainKey(filter.Key(number))
			}
			for range 64 {
				all()
			}
			if allocs := testing.AllocsPerRun(100, all); allocs != 0 {
				t.Errorf("%s, %v, %d shards: %g allocations in eight calls", kind, hash, shards, allocs)
			}
			batches := func() {
				_, _ = s.AddBatch(keys, nil)
				_, _ = s.AddBatch(keys, out)
				s.MayContainBatch(keys, out)
			}
			batches()
			if allocs := testing.AllocsPerRun(100, batches); allocs > 8 {
				t.Errorf("%s, %d shards: %g allocations in three batches", kind, shards, allocs)
			}
		}
	}
}

// TestManyGoroutinesMayShareASet does everything at once; the race detector
// watches, and at the end every key must be there.
func TestManyGoroutinesMayShareASet(t *testing.T) {
	const writers, each = 4, 300
	dir := t.TempDir()
	for _, kind := range kindNames() {
		t.Run(kind, func(t *testing.T) {
			for _, shards := range []int{1, 4} {
				needs := Needs{Kind: kind, Items: 10_000, FPR: 0.01, Shards: shards}
				a, b := mustNew(t, needs), mustNew(t, needs)
				keys := filtertest.Keys(8, each)
				var tasks []func()
				for w := range writers {
					tasks = append(tasks, func() { addWords(t, a, w*each, (w+1)*each) }, func() { wantGrowing(t, b, w*each, each) })
				}
				if kind == "elastic" {
					// Each of its unions leaves copies, until no key finds room.
					tasks = append(tasks, func() { _ = union(a, b) })
				} else {
					tasks = append(tasks,
						repeat(t, func() error { return union(a, b) }),
						repeat(t, func() error { return union(b, a) }),
						repeat(t, func() error { return union(a, a) }))
				}
				tasks = append(tasks,
					repeat(t, func() error { _, err := a.AddBatch(keys, nil); return err }),
					repeat(t, func() error { b.MayContainBatch(keys, make([]bool, each)); return nil }),
					repeat(t, func() error { a.Info(); b.Len(); return nil }),
					repeat(t, func() error { stored(t, a); return nil }),
					func() {
						if err := b.Save(filepath.Join(dir, fmt.Sprint(kind, shards))); err != nil {
							t.Error(err)
						}
					},
				)
				together(t, tasks...)
				if err := union(b, a); err != nil {
					t.Fatal(err)
				}
				wantWords(t, a, 0, writers*each)
				if filter.AbilitiesOf(b.shards[0].filter).Merge && kind != "elastic" {
					wantWords(t, b, 0, writers*each)
				}
			}
		})
	}
}

// union unites kinds that can, as long as they have room for copies.
func union(a, b *Set) error {
	if err := a.Union(b); !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, filter.ErrFull) {
		return err
	}
	return nil
}

func repeat(t *testing.T, f func() error) func() {
	t.Helper()
	return func() {
		for range effort.PickVariant(8, 15, 50) {
			if err := f(); err != nil {
				t.Error(err)
			}
		}
	}
}

// wantGrowing adds numbers and checks each at once.
func wantGrowing(t *testing.T, s *Set, from, n int) {
	t.Helper()
	for i := uint64(from); i < uint64(from+n); i++ {
		if _, err := s.AddUint64(i); err != nil || !s.MayContainUint64(i) {
			t.Errorf("%d was added and is a false negative: %v", i, err)
		}
	}
}

// A watched filter notices calls that overlap.
type watched struct {
	filter.Filter
	readers, writers atomic.Int32
	overlap          atomic.Bool
}

func (w *watched) Add(k filter.Key) (bool, error) {
	if w.writers.Add(1) != 1 || w.readers.Load() != 0 {
		w.overlap.Store(true)
	}
	defer w.writers.Add(-1)
	return w.Filter.Add(k)
}

func (w *watched) MayContain(k filter.Key) bool {
	w.readers.Add(1)
	defer w.readers.Add(-1)
	if w.writers.Load() != 0 {
		w.overlap.Store(true)
	}
	return w.Filter.MayContain(k)
}

func TestWritersAreAloneWithAFilter(t *testing.T) {
	w := &watched{Filter: filtertest.NewExact(filtertest.ExactConfig{})}
	s := NewSet(w, filter.Hash{})
	var tasks []func()
	for i := range 4 {
		tasks = append(tasks, func() { addWords(t, s, 1000*i, 1000*i+1000) }, func() { countWords(s, 0, 2000) })
	}
	together(t, tasks...)
	if w.overlap.Load() {
		t.Error("another call ran beside Add")
	}
}

// A meeting is a filter that calls itself concurrent. No call of Add returns before a
// second one has begun.
type meeting struct {
	filter.Filter
	door chan struct{}
}

func (m meeting) ConcurrentUse() {}

func (m meeting) Add(filter.Key) (bool, error) {
	select {
	case m.door <- struct{}{}:
	case <-m.door:
	}
	return true, nil
}

func TestConcurrentKindsAreNotLocked(t *testing.T) {
	s := NewSet(meeting{door: make(chan struct{})}, filter.Hash{})
	together(t, func() { _, _ = s.AddString("a") }, func() { _, _ = s.AddString("b") })
}

// TestWritersOfALargeSetLoseNothing compares a set that goroutines have filled, large
// enough for stripes, with one that was filled by one: all bits, and their number.
func TestWritersOfALargeSetLoseNothing(t *testing.T) {
	needs := Needs{Items: 60_000, FPR: 0.01}
	const writers, each = 4, 15_000
	s, want := mustNew(t, needs), filled(t, needs, 0, writers*each)
	if s.single[0].stripes == nil {
		t.Fatal("the set has no stripes")
	}
	tasks := []func(){func() { _ = s.Info() }}
	for w := range writers {
		tasks = append(tasks, func() { addWords(t, s, w*each, (w+1)*each) })
	}
	together(t, tasks...)
	if !bytes.Equal(stored(t, s), stored(t, want)) {
		t.Errorf("%v, want %v", s.Info(), want.Info())
	}
}

// TestQueriesWaitForNoWriter asks while a writer holds its lock.
func TestQueriesWaitForNoWriter(t *testing.T) {
	for _, needs := range []Needs{
		{Kind: "blocked"},
		{Kind: "blocked", Hash: filter.XXH3(1)},
		{Kind: "blocked", Shards: 3},
		{Kind: "bloom"},
		{Kind: "scalable"},
		{Kind: "evergreen"},
		{Kind: "elastic"},
	} {
		needs.Items = 1000
		s := filled(t, needs, 0, 100)
		unlock := s.shards.lockAll()
		together(t, func() {
			wantWords(t, s, 0, 100)
			if added, err := s.AddString(word(7)); added || err != nil {
				t.Errorf("%s: adding a key that is there: %t, %v", needs.Kind, added, err)
			}
		})
		unlock()
	}
}

// TestSetsOfFewKeysAreSmall measures the heap of sets with a hundred keys.
func TestSetsOfFewKeysAreSmall(t *testing.T) {
	effort.OneGoroutine(t)
	const sets, keys, limit = 2000, 100, 1200
	var before, after runtime.MemStats
	all := make([]*Set, sets)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range all {
		all[i] = filled(t, Needs{Items: keys, FPR: 0.01, Delete: true}, i, i+keys)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if perSet := int64(after.HeapAlloc-before.HeapAlloc) / sets; perSet > limit {
		t.Errorf("%d bytes of heap for a set of %d keys, limit %d", perSet, keys, limit)
	} else {
		t.Logf("%d bytes", perSet)
	}
	runtime.KeepAlive(all)
}
