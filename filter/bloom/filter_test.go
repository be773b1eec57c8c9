package bloom_test

import (
	"io"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

var (
	classic = filtertest.Subject{
		Name: "bloom",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return bloom.New(bloom.Config{Items: items, FPR: fpr})
		},
		Read: func(r io.Reader) (filter.Filter, error) { return bloom.Read(r) },
	}
	blocked = filtertest.Subject{
		Name: "blocked",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return bloom.NewBlocked(bloom.Config{Items: items, FPR: fpr})
		},
		Read: func(r io.Reader) (filter.Filter, error) { return bloom.ReadBlocked(r) },
	}
)

func TestConformance(t *testing.T)        { filtertest.Run(t, classic) }
func TestBlockedConformance(t *testing.T) { filtertest.Run(t, blocked) }

// TestRateHoldsAtEverySize measures filters that hold exactly what they were
// made for, against the exact theory and against the config.
func TestRateHoldsAtEverySize(t *testing.T) {
	effort.PlainOnly(t)
	probes := effort.Pick(200_000, 1_000_000)
	for _, n := range []uint64{100, 3000, effort.Pick[uint64](10_000, 100_000)} {
		for _, fpr := range []float64{0.1, 0.01, 0.001, 1e-4} {
			for _, s := range []filtertest.Subject{classic, blocked} {
				hits := 0
				const filters = 5 // the mean over several evens out how each happens to fill
				for seed := range uint64(filters) {
					stream := filtertest.Stream{Seed: seed}
					f, err := s.New(n, fpr)
					if err != nil {
						t.Fatal(err)
					}
					for _, k := range filtertest.Keys(seed, n) {
						f.Add(k)
					}
					hits += filtertest.MeasureRate(f, stream, probes/filters)
				}
				checkRate(t, s.Name, n, fpr, hits, probes)
			}
		}
	}
}

// checkRate allows 4 standard deviations of the queries, and how unevenly small
// filters fill: that moves the rate of a filter by a share of about 4/sqrt(n)
// for these rates, less for the mean of five.
func checkRate(t *testing.T, name string, n uint64, fpr float64, hits, probes int) {
	t.Helper()
	uneven := 8 / sqrt(5*float64(n))
	mean := fpr * float64(probes)
	spread := 4*sqrt(mean) + uneven*mean + 0.011*mean // 1 % for whole numbers of hashes
	if float64(hits) > mean+spread {
		t.Errorf("%s, %d keys at %g: %d false positives of %d, want at most %.0f", name, n, fpr, hits, probes, mean+spread)
	}
	// Tiny blocked filters are rounded up to whole blocks and are better than asked.
	if n >= 3000 && float64(hits) < mean-spread {
		t.Errorf("%s, %d keys at %g: %d false positives of %d, want at least %.0f", name, n, fpr, hits, probes, mean-spread)
	}
}

func TestFullFilterStillAnswers(t *testing.T) {
	f := filtertest.Make(t, bloom.Build, bloom.Shape{Bits: 3, Hashes: 2})
	for _, k := range filtertest.Keys(1, 100) {
		f.Add(k)
	}
	info := f.Info()
	if info.Fill != 1 || info.FPR != 1 || info.Keys < 100 || !f.MayContain(12345) {
		t.Errorf("all bits set: %+v", info)
	}
}

func TestFromWordsTakesOnlyWhatFits(t *testing.T) {
	f, err := bloom.FromWords(bloom.Shape{Bits: 70, Hashes: 2}, []uint64{1, 1 << 5})
	if err != nil || f.Info().Fill != 2.0/70 {
		t.Errorf("two bits of 70: %v, %v", f, err)
	}
	for _, words := range [][]uint64{nil, {1}, {1, 1 << 6}, {1, 2, 3}} {
		if _, err := bloom.FromWords(bloom.Shape{Bits: 70, Hashes: 2}, words); err == nil {
			t.Errorf("%v taken for 70 bits", words)
		}
	}
}
