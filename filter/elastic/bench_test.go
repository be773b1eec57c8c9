package elastic_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func BenchmarkFilter(b *testing.B) { filtertest.Benchmark(b, subject, tight) }

// BenchmarkQueryBesideBloom asks an elastic filter and a standard one of equal m
// and k in turn.
func BenchmarkQueryBesideBloom(b *testing.B) {
	const hashes = 7
	for _, size := range []uint64{16, 20, 23} {
		b.Run(fmt.Sprintf("bits=2^%d", size), func(b *testing.B) {
			n := uint64(1) << size / 11
			e := filtertest.Make(b, elastic.Build, elastic.Shape{Bits: 1 << size, Hashes: hashes, HashBits: 40, Slots: 6, Branches: 3, Threshold: 0.55})
			p := filtertest.Make(b, bloom.Build, bloom.Shape{Bits: 1 << size, Hashes: hashes})
			if _, _, err := e.AddBatch(filtertest.Stream{}.Keys(n)); err != nil {
				b.Fatal(err)
			}
			p.AddBatch(filtertest.Stream{}.Keys(n))
			keys, order, took := make([]filter.Key, benchStride), rand.New(rand.NewPCG(1, size)), make(strides)
			for b.Loop() {
				for _, kind := range []string{"present", "absent"} {
					draw(keys, kind, n, order)
					both := []func(){
						func() { took.time("elastic-"+kind, func() { askElastic(e, keys) }) },
						func() { took.time("bloom-"+kind, func() { askBloom(p, keys) }) },
					}
					first := order.IntN(2) // finds the keys in no cache
					both[first]()
					both[1-first]()
				}
			}
			took.report(b, "median", median)
		})
	}
}

// askElastic and askBloom call the filters as their users do, not by an interface.
func askElastic(f *elastic.Filter, keys []filter.Key) {
	for _, k := range keys {
		f.MayContain(k)
	}
}

func askBloom(f *bloom.Filter, keys []filter.Key) {
	for _, k := range keys {
		f.MayContain(k)
	}
}

// BenchmarkExpansion is Fig. 8b of [EBF21]: what a doubling from 2^22 bits costs
// whoever asks for it, lazily and eagerly, and building anew, by load.
func BenchmarkExpansion(b *testing.B) {
	const full = 187_000 // keys at a set-bit rate of 0.2
	for _, load := range []uint64{25, 50, 75, 100} {
		keys := filtertest.Keys(1, full*load/100)
		made := func(b *testing.B, items uint64, eager bool) *elastic.Filter {
			b.Helper()
			f := filtertest.Make(b, elastic.New, elastic.Config{Items: items, FPR: 3.2e-4, Hashes: 5, Slots: 8, Eager: eager})
			f.AddBatch(keys)
			return f
		}
		for _, way := range []string{"lazy", "eager"} {
			b.Run(fmt.Sprintf("load=%d%%/way=%s", load, way), func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					f := made(b, 120_000, way == "eager")
					b.StartTimer()
					if err := f.Grow(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("load=%d%%/way=rebuild", load), func(b *testing.B) {
			for range b.N {
				made(b, 240_000, false) // twice the bits
			}
		})
	}
}
