package elastic_test

import (
	"fmt"
	"testing"

	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/filtertest"
)

func BenchmarkAdd(b *testing.B)             { filtertest.BenchmarkAdd(b, subject, tight) }
func BenchmarkAddBatch(b *testing.B)        { filtertest.BenchmarkAddBatch(b, subject) }
func BenchmarkMayContain(b *testing.B)      { filtertest.BenchmarkMayContain(b, subject) }
func BenchmarkMayContainBatch(b *testing.B) { filtertest.BenchmarkMayContainBatch(b, subject) }
func BenchmarkDelete(b *testing.B)          { filtertest.BenchmarkDelete(b, subject, tight) }
func BenchmarkSnapshot(b *testing.B)        { filtertest.BenchmarkSnapshot(b, subject) }

// BenchmarkQueryBesideBloom asks an elastic filter and a standard one of equal m
// and k in turn, key by key in strides, so that both see the same machine.
func BenchmarkQueryBesideBloom(b *testing.B) {
	const size, hashes, keys = 1 << 22, 7, 400_000
	e := filtertest.Make(b, elastic.Build, elastic.Shape{Bits: size, Hashes: hashes, HashBits: 40, Slots: 6, Branches: 3, Growth: 4, Threshold: 0.5})
	p := filtertest.Make(b, bloom.Build, bloom.Shape{Bits: size, Hashes: hashes})
	stream := filtertest.Stream{}
	e.AddBatch(stream.Keys(keys))
	p.AddBatch(stream.Keys(keys))
	for name, ask := range map[string]func(i uint64) bool{
		"elastic": func(i uint64) bool { return e.MayContain(stream.Present(i % keys)) },
		"bloom":   func(i uint64) bool { return p.MayContain(stream.Present(i % keys)) },
	} {
		b.Run("kind="+name, func(b *testing.B) {
			for i := uint64(0); b.Loop(); i++ {
				ask(i)
			}
		})
	}
}

// BenchmarkExpansion is Fig. 8b of [EBF21]: what a doubling from 2^22 bits costs
// whoever asks for it, lazily and eagerly, and building anew, by load.
func BenchmarkExpansion(b *testing.B) {
	const full = 187_000 // keys at a set-bit rate of 0.2
	for _, load := range []uint64{25, 50, 75, 100} {
		keys := filtertest.Keys(1, full*load/100)
		made := func(b *testing.B, eager bool) *elastic.Filter {
			b.Helper()
			f := filtertest.Make(b, elastic.New, elastic.Config{Items: 120_000, FPR: 3.2e-4, Hashes: 5, Slots: 8, Eager: eager})
			f.AddBatch(keys)
			return f
		}
		for _, way := range []string{"lazy", "eager"} {
			b.Run(fmt.Sprintf("load=%d%%/way=%s", load, way), func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					f := made(b, way == "eager")
					b.StartTimer()
					if err := f.Grow(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("load=%d%%/way=rebuild", load), func(b *testing.B) {
			for range b.N {
				made(b, false)
			}
		})
	}
}
