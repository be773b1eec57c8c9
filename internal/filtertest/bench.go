package filtertest

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// Benchmark times the operations of each subject. The names are the same for every
// kind, such as
//
//	BenchmarkFilter/kind=blocked/n=1000000/Add
//
// so that benchstat can set the kinds side by side. All times are per key, but those of
// a snapshot.
func Benchmark(b *testing.B, subjects ...Subject) {
	b.Helper()
	for _, s := range subjects {
		for _, n := range []uint64{10_000, 1_000_000} {
			b.Run(fmt.Sprintf("kind=%s/n=%d", s.Name, n), func(b *testing.B) {
				benchmarkSize(b, s, n)
			})
		}
	}
}

func benchmarkSize(b *testing.B, s Subject, n uint64) {
	b.Helper()
	c := checker{b, s}
	present, absent := s.stream(1).Keys(n), make([]filter.Key, n)
	for i := range absent {
		absent[i] = s.stream(1).Absent(uint64(i))
	}
	full := c.filled(present)
	empty := func() filter.Filter { return c.make(n, 0.01) }
	same := func() filter.Filter { return full }
	benchmarkKeys(b, "Add", present, empty, addSingles)
	benchmarkKeys(b, "AddBatch", present, empty, addBatches)
	benchmarkKeys(b, "MayContain/present", present, same, askSingles)
	benchmarkKeys(b, "MayContain/absent", absent, same, askSingles)
	benchmarkKeys(b, "MayContainBatch/present", present, same, askBatches)
	benchmarkKeys(b, "MayContainBatch/absent", absent, same, askBatches)
	if deletes(full) {
		benchmarkKeys(b, "Delete", present, func() filter.Filter { return c.filled(present) }, deleteSingles)
	}
	if f, ok := full.(filter.Snapshotter); ok {
		b.Run("Snapshot", func(b *testing.B) { benchmarkSnapshot(b, f) })
	}
}

// benchmarkKeys runs work on all keys, with another filter each time.
func benchmarkKeys(b *testing.B, name string, keys []filter.Key, filters func() filter.Filter, work func(filter.Filter, []filter.Key)) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for done := 0; done < b.N; done += len(keys) {
			b.StopTimer()
			f := filters()
			b.StartTimer()
			work(f, keys[:min(len(keys), b.N-done)])
		}
	})
}

const benchmarkBatch = 1000 // keys at once

func addSingles(f filter.Filter, keys []filter.Key) {
	for _, k := range keys {
		_, _ = f.Add(k)
	}
}

func addBatches(f filter.Filter, keys []filter.Key) {
	for batch := range slices.Chunk(keys, benchmarkBatch) {
		_, _, _ = filter.AddBatch(f, batch)
	}
}

func askSingles(f filter.Filter, keys []filter.Key) {
	for _, k := range keys {
		_ = f.MayContain(k)
	}
}

func askBatches(f filter.Filter, keys []filter.Key) {
	out := make([]bool, benchmarkBatch)
	for batch := range slices.Chunk(keys, benchmarkBatch) {
		filter.MayContainBatch(f, batch, out)
	}
}

func deleteSingles(f filter.Filter, keys []filter.Key) {
	for _, k := range keys {
		_ = filter.Delete(f, k)
	}
}

func benchmarkSnapshot(b *testing.B, f filter.Snapshotter) {
	b.Helper()
	for b.Loop() {
		n, err := f.Snapshot().WriteTo(io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(n)
	}
}
