package evergreen

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestChosenKeysAreTold has keys that were chosen to share blocks, however the filter
// grows: their blocks have far more false positives than asked, and Info says how often.
func TestChosenKeysAreTold(t *testing.T) {
	effort.PlainOnly(t)
	const groups, size, queries = 60, 150, 2_000_000
	for _, fpr := range []float64{1e-3, 1e-6, 1e-9} {
		f := filtertest.Make(t, New, Config{FPR: fpr})
		mixer := newMixer(0)
		rng := rand.New(rand.NewPCG(1, 1))
		for range groups {
			place := rng.Uint64() >> 40 // the first 24 bits of the address
			for range size {
				k := mixer.key(addressOf(rng.Uint64()<<24 | place))
				if _, err := f.Add(k); err != nil {
					t.Fatal(err)
				}
			}
		}
		positive := 0
		for range queries {
			if f.MayContain(filter.Key(rng.Uint64())) {
				positive++
			}
		}
		told, measured := f.Info().FPR, float64(positive)/queries
		sigma := math.Sqrt(told / queries)
		if math.Abs(told-measured) > 0.1*told+4*sigma || told < 1.2*fpr {
			t.Errorf("asked for %g: told %g, measured %g", fpr, told, measured)
		}
		if err := f.check(); err != nil {
			t.Error(err)
		}
		t.Logf("asked %g: told %g, measured %g, %d blocks, %d keys", fpr, told, measured, f.Blocks(), f.Len())
	}
}

// TestSumsOfRatesDoNotOverflow has all blocks of the largest filter full.
func TestSumsOfRatesDoNotOverflow(t *testing.T) {
	for perWord := 1; perWord <= 4; perWord++ {
		m := meter{rates: blockRates(perWord)}
		var sum uint64
		for _, level := range []uint{lowBits, maxLevel} {
			sum = uint64(m.share(len(m.rates)-1, level)) << level
			if sum > 1<<62+1<<33 || float64(sum)/one < 0.9 {
				t.Errorf("%d bits per word, level %d: full blocks add up to %g", perWord, level, float64(sum)/one)
			}
		}
	}
}
