package elastic

import (
	"errors"
	"math"
	"os"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/theory"
)

func near(t *testing.T, where string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s: %g, want %g", where, got, want)
	}
}

// TestMistakesAreAsRareAsSaid has numbers so short that new keys are taken for old
// ones.
func TestMistakesAreAsRareAsSaid(t *testing.T) {
	const n, probes = 3000, 20_000
	f := build1(t, Shape{Bits: 1 << 13, Hashes: 2, HashBits: 15, Slots: 32, Branches: 3, Growth: 0, Threshold: 1})
	s := filtertest.Stream{Seed: 4}
	add(t, f, s.Keys(n)...)
	hits := 0
	for i := range uint64(probes) {
		if f.Contains(s.Absent(i)) {
			hits++
		}
	}
	// Some of the n were themselves taken for others: count those that are there.
	share := 1 - math.Exp(-float64(f.table.prints)/(1<<15))
	filtertest.CheckRate(t, "mistakes", hits, probes, share*share, 6)
	if upper := theory.ElasticMistakeOdds(n, 2, 15); share*share > upper {
		t.Errorf("%g is above the bound %g", share*share, upper)
	}
	for _, c := range []Config{{}, {FPR: 0.3}, {FPR: 1e-6}, {Items: 5}, {Items: 1 << 30}} {
		s := filtertest.Make(t, Config.Shape, c)
		if odds := theory.ElasticMistakeOdds(float64(s.Capacity()), s.Hashes, s.HashBits); odds > 1e-15 {
			t.Errorf("%+v: %g at %d keys", s, odds, s.Capacity())
		}
	}
}

// TestExpansionLowersTheRate is the paper's main claim, at every expansion from
// 2^15 to 2^24 bits; compression raises the rate back. In short form it ends at
// 2^18.
func TestExpansionLowersTheRate(t *testing.T) {
	effort.PlainOnly(t)
	last := 18
	if os.Getenv("EVERBLOOM_TRIALS") != "" {
		last = 24
	}
	probes := scale(1 << 18)
	f := build1(t, Shape{Bits: 1 << 15, Hashes: 5, HashBits: 40, Slots: 8, Branches: 3, Growth: last - 15, Threshold: 0.4})
	s := filtertest.Stream{Seed: 5}
	next := uint64(0)
	for size := uint64(1) << 15; size < 1<<last; size *= 2 {
		for f.Bits() == size {
			add(t, f, s.Present(next))
			next++
		}
		before := filtertest.MeasureRate(f, s, probes) // lazy: the copied bits have the rate of before
		lazy := f.Info().FPR
		filtertest.CheckRate(t, "unsplit", before, probes, lazy, 5)
		f.FinishResize()
		after := filtertest.MeasureRate(f, s, probes)
		filtertest.CheckRate(t, "split", after, probes, f.Info().FPR, 5)
		if 8*after > before+20 {
			t.Errorf("2^%d bits: %d false positives before, %d after", f.table.slow.sizeBits+uint64(f.table.slow.doublings), before, after)
		}
		t.Logf("%d keys, to %d bits: rate %.3g -> %.3g, measured %.3g -> %.3g", next, f.Bits(), lazy, f.Info().FPR,
			float64(before)/float64(probes), float64(after)/float64(probes))
	}
	for f.table.slow.doublings > 0 {
		low := f.Info().FPR
		if err := f.Shrink(); errors.Is(err, filter.ErrFull) {
			break
		} else if err != nil || f.Info().FPR < 8*low {
			t.Errorf("compression: %v, rate %g -> %g", err, low, f.Info().FPR)
		}
		remove(t, f, s.Keys(next)[next/2:]...)
		next /= 2
		f.FinishResize()
	}
}

// TestPredictionIsWhatComes compares the pure functions with filters.
func TestPredictionIsWhatComes(t *testing.T) {
	for _, c := range []Config{{Items: 1000, FPR: 0.01}, {Items: 300, FPR: 0.001, Hashes: 5}, {Items: 64, FPR: 0.2, Branches: 1}} {
		f := filtertest.Make(t, New, c)
		s := f.Shape()
		for i, k := range filtertest.Keys(6, uint64(scale(20_000))) {
			add(t, f, k)
			n := uint64(i + 1)
			if n != 500 && n != 2000 && n != 20_000 {
				continue
			}
			f.FinishResize()
			info := f.Info()
			if info.FastBits != s.FastBits(n) || info.SlowBits != s.SlowBits(n) {
				t.Errorf("%+v, %d keys: %d fast and %d slow bits, predicted %d and %d", s, n, info.FastBits, info.SlowBits, s.FastBits(n), s.SlowBits(n))
			}
			near(t, "rate", info.FPR, s.FPR(n), 0.15)
			near(t, "fill", info.Fill, math.Pow(s.FPR(n), 1/float64(s.Hashes)), 0.05)
		}
	}
}

// TestLoadRate is Fig. 9: how full slots are when the first tree overflows. The
// load rate falls with the size and rises with branches and slots.
func TestLoadRate(t *testing.T) {
	effort.PlainOnly(t)
	rate := func(size uint64, slots, branches int) float64 {
		sum := 0.0
		const trials = 4
		for trial := range uint64(trials) {
			f := build1(t, Shape{Bits: size, Hashes: 8, HashBits: 50, Slots: slots, Branches: branches, Growth: 0, Threshold: 1, Salt: trial})
			for i := uint64(0); ; i++ {
				if _, err := f.Add(filtertest.Stream{Seed: trial}.Present(i)); err != nil {
					break
				}
			}
			sum += f.table.slotFill()
		}
		return sum / trials
	}
	if a, b := rate(1<<9, 8, 3), rate(1<<13, 8, 3); a <= b {
		t.Errorf("2^9: %.3f, 2^13: %.3f", a, b)
	}
	last := 0.0
	for _, branches := range []int{1, 2, 4, 8} {
		r := rate(1<<12, 8, branches)
		t.Logf("2^12 bits, 8 slots, %d branches: load rate %.3f", branches, r)
		if r <= last {
			t.Errorf("%d branches: %.3f, fewer had %.3f", branches, r, last)
		}
		last = r
	}
	last = 0
	for _, slots := range []int{2, 4, 8, 16} {
		r := rate(1<<12, slots, 3)
		t.Logf("2^12 bits, %d slots, 3 branches: load rate %.3f", slots, r)
		if r <= last {
			t.Errorf("%d slots: %.3f, fewer had %.3f", slots, r, last)
		}
		last = r
	}
}

// TestMemoryPerKeyIsAsSaid holds the table of the package comment.
func TestMemoryPerKeyIsAsSaid(t *testing.T) {
	for fpr, want := range map[float64]struct{ fast, slow [2]float64 }{
		0.1:   {[2]float64{4.7, 9.7}, [2]float64{1000, 2600}},
		0.01:  {[2]float64{9.5, 19.3}, [2]float64{1400, 3900}},
		0.001: {[2]float64{14.3, 29}, [2]float64{1800, 5600}},
		1e-4:  {[2]float64{19, 38.5}, [2]float64{2300, 6700}},
	} {
		for items := uint64(1000); items <= 1e9; items *= 10 {
			s := filtertest.Make(t, Config.Shape, Config{Items: items, FPR: fpr})
			for e := 1; e < 5; e++ {
				s.Growth = e
				n := float64(s.Capacity()) // just before a doubling; half as many are just after one
				fast, slow := float64(s.Bits<<e)/n, float64(s.SlowBitsAt(e))/n
				if fast < want.fast[0] || 2*fast > want.fast[1] || slow < want.slow[0] || 2*slow > want.slow[1] {
					t.Errorf("rate %g, %d items, %d doublings: %.1f to %.1f fast, %.0f to %.0f slow", fpr, items, e, fast, 2*fast, slow, 2*slow)
				}
			}
		}
	}
}
