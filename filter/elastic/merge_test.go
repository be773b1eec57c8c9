package elastic

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

var errorsIs = errors.Is

// TestMergesOfUnequalSizes unites and intersects filters that have grown unequally,
// in both orders, split and not.
func TestMergesOfUnequalSizes(t *testing.T) {
	effort.PlainOnly(t)
	keys := filtertest.Keys(1, 6500)
	parts := map[string][2][]filter.Key{
		"small with large": {keys[:300], keys[200:]},
		"large with small": {keys[200:], keys[:300]},
		"with nothing":     {keys[:1000], nil},
		"nothing with":     {nil, keys[:1000]},
		"equal":            {keys[:800], keys[:800]},
		"disjoint":         {keys[:700], keys[700:1500]},
	}
	for name, part := range parts {
		for _, lazy := range []bool{true, false} {
			mk := func(keys []filter.Key) *Filter {
				f := filtertest.Make(t, New, Config{Items: 200, FPR: 0.01})
				add(t, f, keys...)
				if lazy {
					f.Grow()
				}
				return f
			}
			common := make(map[filter.Key]bool)
			for _, k := range part[1] {
				common[k] = slices.Contains(part[0], k)
			}
			testUnion(t, name, mk(part[0]), mk(part[1]), part)
			testIntersection(t, name, mk(part[0]), mk(part[1]), common)
		}
	}
}

func testUnion(t *testing.T, name string, f, o *Filter, part [2][]filter.Key) {
	t.Helper()
	before := filtertest.Stored(t, o)
	if err := f.Union(o); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	intact(t, f, name)
	if string(filtertest.Stored(t, o)) != string(before) {
		t.Errorf("%s: the other operand changed", name)
	}
	all := slices.Concat(part[0], part[1])
	has(t, f, all, name)
	slices.Sort(all)
	all = slices.Compact(all)
	if f.Len() != uint64(len(all)) {
		t.Errorf("%s: %d keys, want %d", name, f.Len(), len(all))
	}
	if float64(f.table.set.Load()) > float64(f.table.limit) {
		t.Errorf("%s: %d of %d bits are set", name, f.table.set.Load(), f.Bits())
	}
	for i, k := range all { // one delete is enough for keys of both
		remove(t, f, k)
		if err := f.Delete(k); !errors.Is(err, filter.ErrNotFound) {
			t.Fatalf("%s: deleting %#x again: %v", name, k, err)
		}
		if i%5000 == 0 {
			has(t, f, all[i+1:], name+", deleting")
		}
	}
	if f.table.set.Load() != 0 || f.Len() != 0 || !f.Info().Exact {
		t.Errorf("%s: all deleted, and %d bits are set: %+v", name, f.table.set.Load(), f.Info())
	}
}

func testIntersection(t *testing.T, name string, f, o *Filter, common map[filter.Key]bool) {
	t.Helper()
	if err := f.Intersect(o); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	intact(t, f, name)
	want := uint64(0)
	for k, both := range common {
		if both {
			want++
		}
		if both != f.Contains(k) {
			t.Fatalf("%s: intersection has %#x: %t", name, k, !both)
		}
	}
	if got := f.Len(); got > want+want/100+1 || got+want/100+1 < want {
		t.Errorf("%s: %d keys, want about %d", name, got, want)
	}
}

// TestRefusedUnionChangesNothing runs out of fingerprint bits and out of memory.
func TestRefusedUnionChangesNothing(t *testing.T) {
	s := Shape{Bits: 1 << 9, Hashes: 4, HashBits: 40, Slots: 4, Branches: 3, Growth: 2, Threshold: 0.4}
	keys := filtertest.Keys(2, 300)
	for name, stop := range map[string]func(f *Filter) error{
		"bits":   func(*Filter) error { return filter.ErrFull },
		"memory": func(f *Filter) error { f.table.slow.from = noMemory{}; return filter.ErrStorage },
	} {
		f, o := build1(t, s), build1(t, s)
		add(t, f, keys[:60]...)
		add(t, o, keys[60:]...)
		before, size := filtertest.Stored(t, f), f.Bits()
		want := stop(f)
		if err := f.Union(o); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
		if string(filtertest.Stored(t, f)) != string(before) || f.Bits() != size {
			t.Errorf("%s: a refused union changed %d bits to %d", name, size, f.Bits())
		}
		intact(t, f, name)
		has(t, f, keys[:60], name)
		has(t, o, keys[60:], name)
	}
}

// TestStraysAreNoKeys has an intersection leave fingerprints that belong to no key:
// what is left counts as nothing, can be stored, and used.
func TestStraysAreNoKeys(t *testing.T) {
	s := Shape{Bits: 64, Hashes: 3, HashBits: 30, Slots: 4, Branches: 3, Growth: 4, Threshold: 1}
	f, o := build1(t, s), build1(t, s)
	f.add([]uint64{0x1001, 0x2002, 0x3003})
	o.add([]uint64{0x1001, 0x5005, 0x6006})
	if err := f.Intersect(o); err != nil || f.Len() != 0 || f.table.prints.Load() != 1 || f.Info().Exact {
		t.Fatalf("%v, %d keys, %d fingerprints", err, f.Len(), f.table.prints.Load())
	}
	g, err := Read(bytes.NewReader(filtertest.Stored(t, f)))
	if err != nil || g.table.prints.Load() != 1 || g.Len() != 0 {
		t.Fatalf("%v, %d fingerprints", err, g.table.prints.Load())
	}
	add(t, g, 1, 2)
	remove(t, g, 1, 2)
	intact(t, g, "strays")
}

// TestUnionsBothWaysDoNotDeadlock unites two filters with each other at once.
func TestUnionsBothWaysDoNotDeadlock(t *testing.T) {
	c := Config{Items: 100, FPR: 0.01}
	f, o := filtertest.Make(t, New, c), filtertest.Make(t, New, c)
	add(t, f, 1, 2)
	add(t, o, 2, 3)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { f.Union(o); f.Intersect(o) })
		both.Go(func() { o.Union(f); o.Intersect(f) })
	}
	both.Wait()
	has(t, f, []filter.Key{2}, "united both ways")
	has(t, o, []filter.Key{2}, "united both ways")
}

// TestSharedFingerprintSurvivesDeletes has two keys with one fingerprint in common,
// one in each filter: deleting one must not take that of the other, also if both
// filters have one of them.
func TestSharedFingerprintSurvivesDeletes(t *testing.T) {
	s := Shape{Bits: 64, Hashes: 2, HashBits: 30, Slots: 4, Branches: 3, Growth: 4, Threshold: 1}
	x, y := []uint64{0x1001, 0x2002}, []uint64{0x1001, 0x3003}
	f, o := build1(t, s), build1(t, s)
	f.add(x)
	f.add(y)
	o.add(x)
	if err := f.Union(o); err != nil {
		t.Fatal(err)
	}
	if err := f.delete(x); err != nil || f.table.copies(x) != 0 || f.table.copies(y) != 1 {
		t.Errorf("%v, %d of x, %d of y", err, f.table.copies(x), f.table.copies(y))
	}
	intact(t, f, "deleted")
}
