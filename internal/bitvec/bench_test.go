package bitvec

import (
	"math/rand/v2"
	"testing"
)

var sink uint64

func BenchmarkCount(b *testing.B) {
	v := random(rand.New(rand.NewPCG(1, 0)), 1<<13)
	b.SetBytes(int64(len(v) * 8))
	for b.Loop() {
		sink += v.Count()
	}
}

func BenchmarkOr(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 0))
	v, src := random(rng, 1<<13), random(rng, 1<<13)
	b.SetBytes(int64(len(v) * 8))
	for b.Loop() {
		sink += v.Or(src)
	}
}
