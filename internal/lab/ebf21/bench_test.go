package ebf21

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/timing"
)

// The filters of Figs. 5 to 8b of [EBF21]. Contenders take turns, and the figures are
// medians over the rounds: -benchtime 21x is 21 of them.

func insertAll(b *testing.B, f filter.Filter, keys []filter.Key) {
	b.Helper()
	for _, k := range keys {
		if _, err := f.Add(k); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkInsertion tells the processor time of an insertion into a filter that grows
// from 2^18 bits, and how many times that of a list of counting filters it is.
func BenchmarkInsertion(b *testing.B) {
	for _, log := range []int{14, 16, 18, 20} {
		b.Run(fmt.Sprintf("keys=2^%d", log), func(b *testing.B) {
			rounds := timing.Rounds{}
			for salt := uint64(0); b.Loop(); salt++ {
				keys := filtertest.Keys(salt, 1<<log)
				counting := dynamic.Shape{Positions: 1 << 18, Hashes: 5, CounterBits: 4, Full: 1 << 18 / 5, Salt: salt}
				contenders := []filter.Filter{filtertest.Make(b, elastic.Build, tableShape(18, salt)), filtertest.Make(b, dynamic.Build, counting)}
				turns := timing.NewTurns(timing.Thread)
				runtime.GC()
				for j := range contenders {
					i := (j + int(salt)) % len(contenders)
					turns.Time(timing.Lap{[]string{"elastic", "dynamic"}[i], "add"}, len(keys), func() { insertAll(b, contenders[i], keys) })
				}
				rounds.Add(turns)
			}
			b.ReportMetric(rounds.Nanos("elastic", "add"), "ns/insertion")
			b.ReportMetric(rounds.Speedup("dynamic", "elastic", "add"), "x/dynamic")
		})
	}
}

// BenchmarkExpansion tells the processor time of a normal expansion for each bucket: that
// of the goroutine that waits for it. With -cpu 1 it does all of it.
func BenchmarkExpansion(b *testing.B) {
	for _, bits := range []int{15, 18, 20, 22} {
		b.Run(fmt.Sprintf("bits=2^%d", bits), func(b *testing.B) {
			rounds := timing.Rounds{}
			for salt := uint64(0); b.Loop(); salt++ {
				keys := filtertest.Keys(salt, 44<<bits/1000)
				f := filtertest.Make(b, elastic.New, elastic.Config{
					Items: uint64(len(keys)), FPR: 3.2e-4, Hashes: 5, Slots: 8, HashBits: 32, Eager: true, Salt: salt,
				})
				insertAll(b, f, keys)
				runtime.GC()
				turns := timing.NewTurns(timing.Thread)
				turns.Time(timing.Lap{"elastic", "expand"}, 1<<bits, func() {
					if err := f.Grow(); err != nil {
						b.Error(err)
					}
				})
				rounds.Add(turns)
			}
			b.ReportMetric(rounds.Nanos("elastic", "expand"), "ns/bucket")
		})
	}
}

// BenchmarkWriters tells how many times as fast as one several goroutines insert, and
// what two that only compute reach in the same rounds.
func BenchmarkWriters(b *testing.B) {
	rounds, errs := timing.Rounds{}, error(nil)
	for salt := uint64(0); b.Loop(); salt++ {
		keys := filtertest.Keys(salt, 1<<18)
		turns := timing.NewTurns(timing.Wall)
		for _, writers := range []int{1, 2, 4, 16} {
			f := filtertest.Make(b, elastic.Build, tableShape(18, salt))
			runtime.GC()
			turns.Time(timing.Lap{"elastic", fmt.Sprint(writers)}, len(keys), func() {
				errs = errors.Join(errs, share(f, keys, nil, writers))
			})
		}
		for _, goroutines := range []int{1, 2} {
			turns.Time(timing.Lap{"computing", fmt.Sprint(goroutines)}, len(keys), func() { errs = errors.Join(errs, share(computer{}, keys, nil, goroutines)) })
		}
		rounds.Add(turns)
	}
	if errs != nil {
		b.Fatal(errs)
	}
	for _, n := range []string{"2", "4", "16"} {
		b.ReportMetric(rounds.Nanos("elastic", "1")/rounds.Nanos("elastic", n), "x/"+n)
	}
	b.ReportMetric(rounds.Nanos("computing", "1")/rounds.Nanos("computing", "2"), "x/2-computing")
}
