package main

import (
	"slices"

	boom "github.com/tylertreat/BoomFilters"
)

const boomModule = "github.com/tylertreat/BoomFilters"

// boomRivals are all kinds of BoomFilters that answer whether a key is in a set. They share one
// hash object between calls, so that even two readers at a time get wrong answers; the
// inverse filter alone does not.
var boomRivals = []contender{
	{name: "Boom classic", module: boomModule, traits: loneReader, peak: 32, build: newBoomClassic},
	{name: "Boom partitioned", module: boomModule, traits: loneReader, peak: 32, build: newBoomPartitioned},
	{name: "Boom scalable", module: boomModule, traits: loneReader, peak: 200, build: newBoomScalable},
	{name: "Boom counting", module: boomModule, traits: loneReader, peak: 80, build: newBoomCounting},
	{name: "Boom deletable", module: boomModule, traits: loneReader, peak: 32, build: newBoomDeletable},
	{name: "Boom cuckoo", module: boomModule, traits: loneReader, peak: 16_000, build: newBoomCuckoo},
	{name: "Boom stable", module: boomModule, traits: loneReader | mayMiss, peak: 32, build: newBoomStable},
	{name: "Boom inverse", module: boomModule, traits: manyAdders | mayMiss, peak: 600, build: newBoomInverse},
}

func newBoomClassic(w request) (set, error) {
	f := boom.NewBloomFilter(uint(w.n), w.fpr)
	return set{
		add:   func(b block) int { return addAll(b, func(k []byte) { f.Add(k) }) },
		has:   func(b block) int { return count(b, func(k []byte) bool { return f.Test(k) }) },
		reset: func() { f.Reset() },
		bits:  func() uint64 { return uint64(f.Capacity()) },
	}, nil
}

func newBoomPartitioned(w request) (set, error) {
	f := boom.NewPartitionedBloomFilter(uint(w.n), w.fpr)
	return set{
		add:   func(b block) int { return addAll(b, func(k []byte) { f.Add(k) }) },
		has:   func(b block) int { return count(b, func(k []byte) bool { return f.Test(k) }) },
		reset: func() { f.Reset() },
		bits:  func() uint64 { return uint64(f.Capacity()) },
	}, nil
}

// newBoomScalable starts from the library's own hint, except for very large sets: from there the
// filter panics after some 31 million keys.
func newBoomScalable(w request) (set, error) {
	f := boom.NewDefaultScalableBloomFilter(w.fpr)
	if w.n > 10_000_000 {
		f = boom.NewScalableBloomFilter(uint(w.n/16), w.fpr, 0.8)
	}
	return set{
		add:  func(b block) int { return addAll(b, func(k []byte) { f.Add(k) }) },
		has:  func(b block) int { return count(b, func(k []byte) bool { return f.Test(k) }) },
		bits: func() uint64 { return uint64(f.Capacity()) },
	}, nil
}

func newBoomCounting(w request) (set, error) {
	f := boom.NewDefaultCountingBloomFilter(uint(w.n), w.fpr)
	return set{
		add:   func(b block) int { return addAll(b, func(k []byte) { f.Add(k) }) },
		has:   func(b block) int { return count(b, func(k []byte) bool { return f.Test(k) }) },
		del:   func(b block) int { return count(b, func(k []byte) bool { return f.TestAndRemove(k) }) },
		reset: func() { f.Reset() },
		bits:  func() uint64 { return uint64(f.Capacity()) * 4 },
	}, nil
}

func newBoomDeletable(w request) (set, error) {
	f := boom.NewDeletableBloomFilter(uint(w.n), boomRegions(w), w.fpr)
	return set{
		add:   func(b block) int { return addAll(b, func(k []byte) { f.Add(k) }) },
		has:   func(b block) int { return count(b, func(k []byte) bool { return f.Test(k) }) },
		del:   func(b block) int { return count(b, func(k []byte) bool { return f.TestAndRemove(k) }) },
		reset: func() { f.Reset() },
	}, nil
}

// boomRegions returns the largest r up to a tenth of the bits with which the deletable filter
// does not panic: it rounds the size of a region down, and most r leave positions beyond the
// last of its r+1 regions.
func boomRegions(w request) uint {
	m := boom.OptimalM(uint(w.n), w.fpr)
	for r := m / 10; r > 1; r-- {
		if regionSize := (m - r) / r; (m-r-1)/regionSize <= r {
			return r
		}
	}
	return 1
}

func newBoomCuckoo(w request) (set, error) {
	f := boom.NewCuckooFilter(uint(w.n), w.fpr)
	return set{
		add: func(b block) int { return count(b, func(k []byte) bool { return f.Add(k) == nil }) },
		has: func(b block) int { return count(b, func(k []byte) bool { return f.Test(k) }) },
		del: func(b block) int { return count(b, func(k []byte) bool { return f.TestAndRemove(k) }) },
	}, nil
}

// newBoomStable gives the stable filter the bits of a classic one. It forgets old keys to stay
// under its rate.
func newBoomStable(w request) (set, error) {
	f := boom.NewDefaultStableBloomFilter(boom.OptimalM(uint(w.n), w.fpr), w.fpr)
	return set{
		add:   func(b block) int { return addAll(b, func(k []byte) { f.Add(k) }) },
		has:   func(b block) int { return count(b, func(k []byte) bool { return f.Test(k) }) },
		reset: func() { f.Reset() },
		bits:  func() uint64 { return uint64(f.Cells()) },
	}, nil
}

// newBoomInverse has one slot per key. The filter keeps the slice it is given, so each key must
// be copied for it, and that is part of its price.
func newBoomInverse(w request) (set, error) {
	f := boom.NewInverseBloomFilter(uint(w.n))
	return set{
		add: func(b block) int { return addAll(b, func(k []byte) { f.Add(slices.Clone(k)) }) },
		has: func(b block) int { return count(b, func(k []byte) bool { return f.Test(k) }) },
	}, nil
}
