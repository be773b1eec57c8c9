package main

import (
	"github.com/bits-and-blooms/bloom/v3"
	pebble "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/dgraph-io/ristretto/v2/z"
	"github.com/greatroar/blobloom"
	holiman "github.com/holiman/bloomfilter/v2"
	parquet "github.com/parquet-go/parquet-go/bloom"
	"github.com/zeebo/xxh3"
)

// bloomRivals are the Bloom filters, classic and blocked, of other authors.
var bloomRivals = []contender{
	{
		name: "bits-and-blooms", module: "github.com/bits-and-blooms/bloom/v3",
		traits: short, peak: 32, build: newBitsAndBlooms,
	},
	{
		name: "holiman", module: "github.com/holiman/bloomfilter/v2",
		traits: manyAdders, peak: 32, build: newHoliman,
	},
	{
		name: "ristretto z.Bloom", module: "github.com/dgraph-io/ristretto/v2",
		peak: 48, build: newRistretto,
	},
	{
		name: "blobloom", module: "github.com/greatroar/blobloom",
		traits: short, peak: 32, build: newBlobloom,
	},
	{
		name: "blobloom Sync", module: "github.com/greatroar/blobloom",
		traits: manyAdders, peak: 32, build: newBlobloomSync,
	},
	{
		name: "parquet-go SBBF", module: "github.com/parquet-go/parquet-go",
		traits: short, peak: 32, build: newParquet,
	},
	{
		name: "pebble", module: "github.com/cockroachdb/pebble/v2",
		traits: static, peak: 96, build: newPebble,
	},
}

func newBitsAndBlooms(w request) (set, error) {
	f := bloom.NewWithEstimates(uint(w.n), w.fpr)
	return set{
		add:   func(b block) int { return addAll(b, func(k []byte) { f.Add(k) }) },
		has:   func(b block) int { return count(b, func(k []byte) bool { return f.Test(k) }) },
		reset: func() { f.ClearAll() },
		bits:  func() uint64 { return uint64(f.Cap()) },
	}, nil
}

func newHoliman(w request) (set, error) {
	f, err := holiman.NewOptimal(w.n, w.fpr)
	if err != nil {
		return set{}, err
	}
	return set{
		add:  func(b block) int { return addAll(b, func(k []byte) { f.AddHash(xxh3.Hash(k)) }) },
		has:  func(b block) int { return count(b, func(k []byte) bool { return f.ContainsHash(xxh3.Hash(k)) }) },
		bits: f.M,
	}, nil
}

func newRistretto(w request) (set, error) {
	f := z.NewBloomFilter(float64(w.n), w.fpr)
	return set{
		add:   func(b block) int { return addAll(b, func(k []byte) { f.Add(xxh3.Hash(k)) }) },
		has:   func(b block) int { return count(b, func(k []byte) bool { return f.Has(xxh3.Hash(k)) }) },
		reset: f.Clear,
		bits:  func() uint64 { return uint64(f.TotalSize()) * 8 },
	}, nil
}

func newBlobloom(w request) (set, error) {
	f := blobloom.NewOptimized(blobloom.Config{Capacity: w.n, FPRate: w.fpr})
	return set{
		add:   func(b block) int { return addAll(b, func(k []byte) { f.Add(xxh3.Hash(k)) }) },
		has:   func(b block) int { return count(b, func(k []byte) bool { return f.Has(xxh3.Hash(k)) }) },
		reset: f.Clear,
		bits:  f.NumBits,
	}, nil
}

func newBlobloomSync(w request) (set, error) {
	f := blobloom.NewSyncOptimized(blobloom.Config{Capacity: w.n, FPRate: w.fpr})
	return set{
		add: func(b block) int { return addAll(b, func(k []byte) { f.Add(xxh3.Hash(k)) }) },
		has: func(b block) int { return count(b, func(k []byte) bool { return f.Has(xxh3.Hash(k)) }) },
	}, nil
}

// newParquet asks for one bit per key more than the rate needs on average, so that the rate is
// met: the split block filter is sized in whole bits per value.
func newParquet(w request) (set, error) {
	perKey, err := bitsAsked(w.fpr, 11, 18)
	if err != nil {
		return set{}, err
	}
	f := make(parquet.SplitBlockFilter, parquet.NumSplitBlocksOf(int64(w.n), uint(perKey)))
	return set{
		add:   func(b block) int { return addAll(b, func(k []byte) { f.Insert(xxh3.Hash(k)) }) },
		has:   func(b block) int { return count(b, func(k []byte) bool { return f.Check(xxh3.Hash(k)) }) },
		reset: f.Reset,
		bits:  func() uint64 { return uint64(len(f)) * 256 },
		batch: func(size int) batch {
			keys := make([]uint64, size)
			return batch{add: func(b block) int { return parquetBulk(f, b, keys) }}
		},
	}, nil
}

// parquetBulk adds the keys of b in batches of len(keys).
func parquetBulk(f parquet.SplitBlockFilter, b block, keys []uint64) int {
	runs(b, len(keys), func(run block) {
		hashed := keys[:0]
		addAll(run, func(k []byte) { hashed = append(hashed, xxh3.Hash(k)) })
		f.InsertBulk(hashed)
	})
	return b.len()
}

// tableFilter is the one filter type pebble knows (its TableFilter), named here so that the
// storage engine itself need not be linked.
const tableFilter = 0

// newPebble collects hashes and makes the filter when all are there, as pebble does for a table.
func newPebble(w request) (set, error) {
	perKey, err := bitsAsked(w.fpr, 10, 16)
	if err != nil {
		return set{}, err
	}
	var filter []byte
	policy := pebble.FilterPolicy(perKey)
	writer := policy.NewWriter(tableFilter)
	return set{
		add: func(b block) int { return addAll(b, func(k []byte) { writer.AddKey(k) }) },
		has: func(b block) int {
			return count(b, func(k []byte) bool { return policy.MayContain(tableFilter, filter, k) })
		},
		finish: func() error { filter = writer.Finish(nil); return nil },
		reset:  func() { filter = nil },
		bits:   func() uint64 { return uint64(len(filter)) * 8 },
	}, nil
}
