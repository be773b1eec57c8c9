package filtertest

import "testing"

func BenchmarkExact(b *testing.B) {
	s := exactSubjects["Ignored"]
	s.Sizes = []uint64{2500}
	b.Run("Add", func(b *testing.B) { BenchmarkAdd(b, s) })
	b.Run("AddBatch", func(b *testing.B) { BenchmarkAddBatch(b, s) })
	b.Run("MayContain", func(b *testing.B) { BenchmarkMayContain(b, s) })
	b.Run("MayContainBatch", func(b *testing.B) { BenchmarkMayContainBatch(b, s) })
	b.Run("Delete", func(b *testing.B) { BenchmarkDelete(b, s) })
	b.Run("Snapshot", func(b *testing.B) { BenchmarkSnapshot(b, s) })
}
