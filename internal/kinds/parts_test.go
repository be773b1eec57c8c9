package kinds

import (
	"math"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestPartsAreAsFullAsTheFilter adds up the fill of all parts.
func TestPartsAreAsFullAsTheFilter(t *testing.T) {
	for _, k := range All() {
		f := build(t, k, Config{Items: 1000, FPR: 0.01})
		p, ok := f.(interface {
			Parts() (n uint64, fill func(i uint64) float64)
		})
		if !ok {
			continue
		}
		keys := uint64(1500)
		if refuses[k.Name] {
			keys = 1000
		}
		for _, key := range (filtertest.Stream{Seed: 1}).Keys(keys) {
			if _, err := f.Add(key); err != nil {
				t.Fatal(k.Name, err)
			}
		}
		sum, low, high := 0.0, 1.0, 0.0
		n, fill := p.Parts()
		for i := range n {
			part := fill(i)
			sum, low, high = sum+part, min(low, part), max(high, part)
		}
		want := f.Info().Fill
		if e, ok := f.(*evergreen.Filter); ok { // whose Fill is that of the slow memory
			want = expectedFill(e, float64(keys))
		}
		if mean := sum / float64(n); n < 2 || low < 0 || high > 1 || math.Abs(mean-want) > 0.02 {
			t.Errorf("%s: %d parts, %.3f to %.3f full, %.3f on average, want %.3f", k.Name, n, low, high, sum/float64(n), want)
		}
	}
}

// expectedFill is the share of set bits: each key sets some in each word of its block.
func expectedFill(f *evergreen.Filter, keys float64) float64 {
	bits := float64(f.Shape().Hashes) / 8 * keys / float64(f.Blocks())
	return 1 - math.Pow(1-1.0/64, bits)
}

// TestPartsOfAList has evergreen without blocks, and none of them is there.
func TestPartsOfAList(t *testing.T) {
	f, err := evergreen.New(evergreen.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(filter.Key(1)); err != nil {
		t.Fatal(err)
	}
	if n, _ := f.Parts(); n != 0 || f.Block(0) != [8]uint64{} {
		t.Error(n, f.Block(0))
	}
}
