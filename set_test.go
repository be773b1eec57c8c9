package everbloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// shardCounts are the numbers of shards that tests use: one, which goes its own
// way, a power of two, an odd number, and, which takes long, many.
var shardCounts = effort.Pick([]int{1, 2, 7}, []int{1, 2, 7, 64})

// TestFormsOfAKeyAgree adds in one form and asks in the others; the exact filter
// cannot say yes by accident.
func TestFormsOfAKeyAgree(t *testing.T) {
	for _, hash := range hashes {
		s := exactSet(1)
		s.hash = hash
		number := uint64(0x0123456789ABCDEF)
		raw := binary.LittleEndian.AppendUint64(nil, number)
		key := hash.Bytes(raw)
		for _, form := range []struct {
			name string
			add  func() (bool, error)
			has  func() bool
			del  func() error
		}{
			{"bytes", func() (bool, error) { return s.Add(raw) }, func() bool { return s.MayContain(raw) }, func() error { return s.Delete(raw) }},
			{
				"string", func() (bool, error) { return s.AddString(string(raw)) },
				func() bool { return s.MayContainString(string(raw)) }, func() error { return s.DeleteString(string(raw)) },
			},
			{
				"uint64", func() (bool, error) { return s.AddUint64(number) },
				func() bool { return s.MayContainUint64(number) }, func() error { return s.DeleteUint64(number) },
			},
			{"key", func() (bool, error) { return s.AddKey(key) }, func() bool { return s.MayContainKey(key) }, func() error { return s.DeleteKey(key) }},
		} {
			if form.has() {
				t.Fatalf("%v, %s: yes before it was added", hash, form.name)
			}
			if added, err := form.add(); !added || err != nil {
				t.Errorf("%v, %s: added %t, %v", hash, form.name, added, err)
			}
			if !s.MayContain(raw) || !s.MayContainString(string(raw)) || !s.MayContainUint64(number) || !s.MayContainKey(key) {
				t.Errorf("%v: added as %s, denied in another form", hash, form.name)
			}
			if added, _ := s.AddKey(key); added {
				t.Errorf("%v: added as %s, new in another form", hash, form.name)
			}
			if err := form.del(); err != nil {
				t.Errorf("%v, %s: delete: %v", hash, form.name, err)
			}
			wantError(t, form.del(), filter.ErrNotFound)
		}
	}
}

func TestBatchesAgreeWithSingles(t *testing.T) {
	for _, kind := range kindNames() {
		t.Run(kind, func(t *testing.T) {
			for _, shards := range shardCounts {
				needs := Needs{Kind: kind, Items: 2000, FPR: 0.05, Shards: shards}
				single, batched := mustNew(t, needs), mustNew(t, needs)
				keys := filtertest.Keys(uint64(shards), 2000)
				keys = append(keys, keys[:100]...) // some are not new
				news := 0
				for _, k := range keys {
					if added, _ := single.AddKey(k); added {
						news++
					}
				}
				added := 0
				for part := range slices.Chunk(keys, 300) {
					n, err := batched.AddBatch(part, nil)
					if err != nil {
						t.Fatal(err)
					}
					added += n
				}
				if added != news {
					t.Errorf("%d shards: %d of a batch were new, %d of singles", shards, added, news)
				}
				if !slices.Equal(stored(t, single), stored(t, batched)) {
					t.Errorf("%d shards: batches made another set than singles", shards)
				}
				wantSameAnswers(t, batched, append(filtertest.Keys(99, 2000), keys...))
			}
		})
	}
}

// wantSameAnswers compares batches of several lengths with singles. The answers
// are wrong at first, so that none can be left out.
func wantSameAnswers(t *testing.T, s *Set, keys []filter.Key) {
	t.Helper()
	for _, n := range []int{0, 1, 2, 63, len(keys)} {
		out := make([]bool, n+1)
		for i, k := range keys[:n] {
			out[i] = !s.MayContainKey(k)
		}
		s.MayContainBatch(keys[:n], out)
		for i, k := range keys[:n] {
			if out[i] != s.MayContainKey(k) {
				t.Fatalf("%d shards: answer %d of %d is %t, that of a single %t", len(s.shards), i, n, out[i], !out[i])
			}
		}
		if out[n] {
			t.Errorf("%d shards: a batch of %d answered once more", len(s.shards), n)
		}
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

func TestDeleteBatchCountsWhatHappened(t *testing.T) {
	for _, shards := range shardCounts {
		filters := make([]filter.Filter, shards)
		for i := range filters {
			filters[i] = filtertest.NewExact(filtertest.ExactConfig{Duplicates: filter.DuplicatesPin})
		}
		s := newSet(filter.Hash{}, filters)
		keys := filtertest.Keys(3, 100)
		for _, add := range [][]filter.Key{keys[:70], keys[:20]} { // the first 20 twice: pinned
			if _, err := s.AddBatch(add, nil); err != nil {
				t.Fatal(err)
			}
		}
		deleted, notFound, pinned, err := s.DeleteBatch(keys, nil)
		if deleted != 50 || notFound != 30 || pinned != 20 || err != nil {
			t.Errorf("%d shards: %d deleted, %d not found, %d pinned, %v", shards, deleted, notFound, pinned, err)
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

// TestDeletedKeysGo deletes every second key, through all forms of Delete.
func TestDeletedKeysGo(t *testing.T) {
	effort.OneGoroutine(t)
	for _, k := range kinds.All() {
		if !k.Abilities().Delete {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			for _, shards := range shardCounts {
				s := filled(t, Needs{Kind: k.Name, Items: 2000, FPR: 0.001, Shards: shards}, 0, 2000)
				pinned := 0
				for i := range 1000 {
					forms := []func() error{
						func() error { return s.Delete([]byte(word(i))) },
						func() error { return s.DeleteString(word(i)) },
						func() error { return s.DeleteKey(s.Hash().String(word(i))) },
					}
					err := forms[i%len(forms)]()
					if k.Pins && errors.Is(err, filter.ErrPinned) {
						pinned++
						continue
					}
					if err != nil {
						t.Fatalf("%d shards: %q: %v", shards, word(i), err)
					}
				}
				wantWords(t, s, 1000, 2000)
				if left := countWords(s, 0, 1000); left > pinned+20 || pinned > 150 {
					t.Errorf("%d shards: %d of 1000 are pinned, %d are left", shards, pinned, left)
				}
			}
		})
	}
}

func TestDeletingIsRefusedWhereAKindCannot(t *testing.T) {
	for _, k := range kinds.All() {
		if k.Abilities().Delete {
			continue
		}
		kind := k.Name
		t.Run(kind, func(t *testing.T) {
			s := filled(t, Needs{Kind: kind, Items: 100, Shards: 2}, 0, 100)
			before := stored(t, s)
			for _, err := range []error{
				s.Delete([]byte(word(1))), s.DeleteString(word(1)), s.DeleteUint64(1), s.DeleteKey(1),
			} {
				wantError(t, err, errors.ErrUnsupported, kind, "delete")
			}
			_, _, _, err := s.DeleteBatch([]filter.Key{1}, nil)
			wantError(t, err, errors.ErrUnsupported, kind)
			if !slices.Equal(stored(t, s), before) {
				t.Error("a refused delete changed the set")
			}
		})
	}
}

func TestNewSetTakesAFilterWithKeys(t *testing.T) {
	hash := filter.Murmur3(1)
	f, err := bloom.New(bloom.Config{Items: 100})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(hash.String("old")); err != nil {
		t.Fatal(err)
	}
	s := NewSet(f, hash)
	if !s.MayContainString("old") || s.Len() != 1 || s.Hash() != hash {
		t.Errorf("%+v", s.Info())
	}
	if added, err := s.AddString("new"); !added || err != nil || !f.MayContain(hash.String("new")) {
		t.Errorf("added %t, %v", added, err)
	}
}

// TestShardsSpreadEvenly compares the sum of squares with that of chance.
func TestShardsSpreadEvenly(t *testing.T) {
	const keys = 30_000
	for _, shards := range shardCounts {
		s := exactSet(shards)
		for i := range uint64(keys) {
			if _, err := s.AddUint64(i); err != nil {
				t.Fatal(err)
			}
		}
		mean := float64(keys) / float64(shards)
		chi := 0.0
		for i := range s.shards {
			d := float64(s.shards[i].filter.Info().Keys) - mean
			chi += d * d / mean
		}
		freedom := float64(shards - 1)
		if spread := 5 * math.Sqrt(2*freedom+1); math.Abs(chi-freedom) > spread {
			t.Errorf("%d shards: chi squared is %.1f, want %.0f within %.1f", shards, chi, freedom, spread)
		}
	}
}

// TestShardsKeepTheRate fails if the choice of the shard says anything about the
// positions inside: the keys of a shard would then crowd into a part of it.
func TestShardsKeepTheRate(t *testing.T) {
	effort.OneGoroutine(t)
	keys, probes := effort.Pick[uint64](8_000, 20_000), effort.Pick(20_000, 100_000)
	for _, kind := range kindNames() {
		t.Run(kind, func(t *testing.T) {
			for _, shards := range shardCounts {
				asked := 0.02
				s := mustNew(t, Needs{Kind: kind, Items: keys, FPR: asked, Shards: shards})
				stream := filtertest.Stream{Seed: 5}
				if _, err := s.AddBatch(stream.Keys(keys), nil); err != nil {
					t.Fatal(err)
				}
				if info := s.Info(); info.Overfull || info.FPR > asked*1.05 {
					t.Errorf("%d shards: overfull %t, rate by Info %g", shards, info.Overfull, info.FPR)
				}
				hits, asks := make([]int, shards), make([]int, shards)
				for i := range uint64(probes) {
					k := stream.Absent(i)
					at := probe.Reduce(shardMixer.Mix(k), uint64(shards))
					asks[at]++
					if s.MayContainKey(k) {
						hits[at]++
					}
				}
				total := 0
				for i := range hits {
					total += hits[i]
					own := s.shards[i].filter.Info().FPR
					checkRate(t, fmt.Sprintf("shard %d of %d", i, shards), hits[i], asks[i], own*0.7, own*1.3)
				}
				whole := s.Info().FPR
				checkRate(t, fmt.Sprintf("%d shards", shards), total, probes, whole*0.95, whole*1.05)
				checkRate(t, fmt.Sprintf("%d shards, against the asked rate", shards), total, probes, 0, asked*1.05)
			}
		})
	}
}

func TestInfoAddsUpTheShards(t *testing.T) {
	effort.OneGoroutine(t)
	s := exactSet(3)
	addWords(t, s, 0, 1000)
	info := s.Info()
	if info.Keys != 1000 || s.Len() != 1000 || !info.Exact || info.Shards != 3 || !info.Unbounded {
		t.Errorf("%+v", info)
	}
	for _, kind := range kindNames() {
		t.Run(kind, func(t *testing.T) {
			needs := Needs{Kind: kind, Items: 10_000, FPR: 0.01}
			one := filled(t, needs, 0, 10_000).Info()
			needs.Shards, needs.Hash = 5, filter.Murmur3(3)
			five := filled(t, needs, 0, 10_000).Info()
			if five.Hash != "murmur3:3" || five.Shards != 5 || five.Exact != one.Exact {
				t.Errorf("%+v", five)
			}
			near := func(a, b, slack float64) bool { return math.Abs(a-b) <= slack*b }
			bits := func(i Info) float64 { return float64(i.FastBits + i.SlowBits) }
			if !near(float64(five.Keys), 10_000, 0.03) || bits(five) > 3*bits(one) || bits(five) < bits(one) || five.FPR > 0.011 || five.Capacity < 10_000 && !five.Unbounded {
				t.Errorf("in five shards %+v\nin one %+v", five, one)
			}
			if !one.Unbounded && (!near(bits(five), bits(one), 0.15) || !near(five.Fill, one.Fill, 0.15) || five.FPR > 1.1*one.FPR || five.FPR < 0.3*one.FPR) {
				t.Errorf("in five shards %+v\nin one %+v", five, one)
			}
			overfull := mustNew(t, Needs{Kind: kind, Items: 1000, FPR: 0.01, Shards: 5})
			_, err := overfull.AddBatch(filtertest.Keys(1, 2000), nil)
			if !errors.Is(err, filter.ErrFull) && !overfull.Info().Overfull && !one.Unbounded {
				t.Errorf("twice the keys, and neither full nor overfull: %v", err)
			}
		})
	}
}

func TestOneOverfullShardIsTold(t *testing.T) {
	full, empty := mustBloom(t, 10), mustBloom(t, 10)
	for _, k := range filtertest.Keys(1, 100) {
		if _, err := full.Add(k); err != nil {
			t.Fatal(err)
		}
	}
	for _, filters := range [][]filter.Filter{{full, empty}, {empty, full}} {
		if !newSet(filter.Hash{}, filters).Info().Overfull {
			t.Error("a shard with ten times its keys is not told")
		}
	}
}

// detailed has something to tell that cannot be added up.
type detailed struct{ filter.Filter }

func (detailed) Info() filter.Info {
	return filter.Info{Kind: "detailed", Details: []filter.Detail{{Name: "regions", Value: "5"}}}
}

func TestDetailsOfOneShardAreNotThoseOfAll(t *testing.T) {
	if d := newSet(filter.Hash{}, []filter.Filter{detailed{}}).Info().Details; len(d) != 1 {
		t.Errorf("of one shard: %v", d)
	}
	if d := newSet(filter.Hash{}, []filter.Filter{detailed{}, detailed{}}).Info().Details; len(d) != 0 {
		t.Errorf("of two shards: %v", d)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	effort.OneGoroutine(t)
	raw, text := []byte("some key that is not too short"), "some key that is not too short"
	for _, kind := range kindNames() {
		t.Run(kind, func(t *testing.T) {
			for _, hash := range hashes {
				for _, shards := range []int{1, 7} {
					s := mustNew(t, Needs{Kind: kind, Items: 1000, Shards: shards, Hash: hash})
					number := uint64(0)
					eight := func() {
						number++
						_, _ = s.Add(raw)
						_, _ = s.AddString(text)
						_, _ = s.AddUint64(number)
						_, _ = s.AddKey(filter.Key(number))
						_ = s.MayContain(raw) && s.MayContainString(text) && s.MayContainUint64(number) && s.MayContainKey(filter.Key(number))
					}
					// What grows allocates what it grows by: there the keys
					// have been added before.
					if s.Info().Unbounded {
						for range 200 {
							eight()
						}
						number = 0
					}
					allocs := testing.AllocsPerRun(100, eight)
					if allocs != 0 {
						t.Errorf("%v, %d shards: %g allocations in eight calls", hash, shards, allocs)
					}
				}
			}
			s := mustNew(t, Needs{Kind: kind, Items: 1000})
			keys, out := filtertest.Keys(1, 100), make([]bool, 100)
			if allocs := testing.AllocsPerRun(100, func() {
				_, _ = s.AddBatch(keys, nil)
				s.MayContainBatch(keys, out)
			}); allocs > 4 {
				t.Errorf("%g allocations in two batches", allocs)
			}
			s = mustNew(t, Needs{Kind: kind, Items: 1000, Shards: 3})
			if _, err := s.AddBatch(keys, out); err != nil {
				t.Fatal(err)
			}
			if allocs := testing.AllocsPerRun(100, func() { _, _ = s.AddBatch(keys, out) }); allocs > 4 {
				t.Errorf("%g allocations in a batch with results", allocs)
			}
		})
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
				if slices.Contains(mergingKinds(), kind) && kind != "elastic" {
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
		for range effort.Pick(15, 50) {
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
			t.Errorf("%d was added and is denied: %v", i, err)
		}
	}
}

// A watched filter notices who is inside at the same time.
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
		t.Error("somebody else was in the filter during Add")
	}
}

// A meeting is a filter that calls itself concurrent and lets nobody out of Add
// before a second one has come in.
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
		unlock := s.lockAll()
		together(t, func() {
			wantWords(t, s, 0, 100)
			if added, err := s.AddString(word(7)); added || err != nil {
				t.Errorf("%s: adding a key that is there: %t, %v", needs.Kind, added, err)
			}
		})
		unlock()
	}
}

// TestShardsNeverChange pins where keys go: a file of several shards depends on it.
func TestShardsNeverChange(t *testing.T) {
	s := newSet(filter.Hash{}, make([]filter.Filter, 7))
	var got []int
	for k := range 12 {
		h := s.shardOf(filter.Key(uint64(k) * 0x0123456789ABCDEF))
		for i := range s.shards {
			if h == &s.shards[i] {
				got = append(got, i)
			}
		}
	}
	want := []int{4, 1, 6, 6, 4, 1, 2, 0, 5, 0, 4, 4}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, must stay %v", got, want)
	}
}
