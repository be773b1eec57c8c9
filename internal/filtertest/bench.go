package filtertest

import (
	"fmt"
	"io"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// The benchmarks below have the same names for every kind, such as
//
//	BenchmarkAdd/kind=blocked/n=1000000
//
// so that benchstat can set the kinds side by side. All times are per key, but
// those of a snapshot.

const (
	benchFPR   = 0.01
	benchBatch = 1000 // keys at once
)

// BenchmarkAdd adds new keys, one by one, until the filter is full, and then
// begins with another filter.
func BenchmarkAdd(b *testing.B, subjects ...Subject) {
	b.Helper()
	eachSize(b, subjects, func(b bench) {
		for done := 0; done < b.N; done += len(b.keys) {
			b.StopTimer()
			f := b.c.make(uint64(len(b.keys)), benchFPR)
			b.StartTimer()
			for _, k := range b.keys[:min(len(b.keys), b.N-done)] {
				_, _ = f.Add(k)
			}
		}
	})
}

// BenchmarkAddBatch is BenchmarkAdd with 1000 keys at once.
func BenchmarkAddBatch(b *testing.B, subjects ...Subject) {
	b.Helper()
	eachSize(b, subjects, func(b bench) {
		for done := 0; done < b.N; {
			b.StopTimer()
			f := b.c.make(uint64(len(b.keys)), benchFPR)
			b.StartTimer()
			for i := 0; i < len(b.keys) && done < b.N; i += benchBatch {
				part := b.keys[i:min(i+benchBatch, len(b.keys))]
				_, _, _ = filter.AddBatch(f, part)
				done += len(part)
			}
		}
	})
}

// BenchmarkMayContain asks a full filter for keys that it has and for keys that
// it has not, one by one.
func BenchmarkMayContain(b *testing.B, subjects ...Subject) {
	b.Helper()
	eachAnswer(b, subjects, func(b bench) {
		f, keys, hits := b.full, b.keys, 0
		for i := 0; b.Loop(); i++ {
			if i == len(keys) {
				i = 0
			}
			if f.MayContain(keys[i]) {
				hits++
			}
		}
		b.ReportMetric(float64(hits)/float64(b.N), "yes/op")
	})
}

// BenchmarkMayContainBatch is BenchmarkMayContain with 1000 keys at once.
func BenchmarkMayContainBatch(b *testing.B, subjects ...Subject) {
	b.Helper()
	eachAnswer(b, subjects, func(b bench) {
		out := make([]bool, benchBatch)
		b.ResetTimer()
		for done, i := 0, 0; done < b.N; {
			if i+benchBatch > len(b.keys) {
				i = 0
			}
			n := min(benchBatch, len(b.keys))
			filter.MayContainBatch(b.full, b.keys[i:i+n], out)
			i, done = i+n, done+n
		}
	})
}

// BenchmarkDelete deletes keys from a full filter, one by one, until it is
// empty, and then begins with another filter.
func BenchmarkDelete(b *testing.B, subjects ...Subject) {
	b.Helper()
	eachSize(b, subjects, func(b bench) {
		for done := 0; done < b.N; done += len(b.keys) {
			b.StopTimer()
			f, ok := b.c.filled(b.keys).(filter.Deleter)
			if !ok {
				b.Skip("this kind cannot delete")
			}
			b.StartTimer()
			for _, k := range b.keys[:min(len(b.keys), b.N-done)] {
				_ = f.Delete(k)
			}
		}
	})
}

// BenchmarkSnapshot takes a snapshot of a full filter and writes it to nowhere.
func BenchmarkSnapshot(b *testing.B, subjects ...Subject) {
	b.Helper()
	eachSize(b, subjects, func(b bench) {
		f, ok := b.c.filled(b.keys).(filter.Snapshotter)
		if !ok {
			b.Skip("this kind cannot be written")
		}
		for b.Loop() {
			n, err := f.Snapshot().WriteTo(io.Discard)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(n)
		}
	})
}

// A bench is a benchmark with what it works on.
type bench struct {
	*testing.B
	c    checker
	keys []filter.Key
	full filter.Filter // where there is one
}

// eachSize runs a benchmark for every subject and size.
func eachSize(b *testing.B, subjects []Subject, run func(bench)) {
	b.Helper()
	for _, s := range subjects {
		sizes := s.Sizes
		if len(sizes) == 0 {
			sizes = []uint64{10_000, 1_000_000}
		}
		for _, n := range sizes {
			b.Run(fmt.Sprintf("kind=%s/n=%d", s.Name, n), func(b *testing.B) {
				keys := s.stream(1).Keys(n)
				b.ReportAllocs()
				b.ResetTimer()
				run(bench{B: b, c: checker{b, s}, keys: keys})
			})
		}
	}
}

// eachAnswer is eachSize for a full filter, once with the keys that are in it and
// once with others. It also tells what the keys cost.
func eachAnswer(b *testing.B, subjects []Subject, run func(bench)) {
	b.Helper()
	eachSize(b, subjects, func(b bench) {
		full := b.c.filled(b.keys)
		absent := make([]filter.Key, len(b.keys))
		for i := range absent {
			absent[i] = b.c.stream(1).Absent(uint64(i))
		}
		for _, answer := range []struct {
			name string
			keys []filter.Key
		}{{"yes", b.keys}, {"no", absent}} {
			b.Run("answer="+answer.name, func(sub *testing.B) {
				sub.ReportAllocs()
				run(bench{B: sub, c: b.c, keys: answer.keys, full: full})
				sub.ReportMetric(full.Info().BitsPerKey(), "bits/key")
			})
		}
	})
}
