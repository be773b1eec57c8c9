package elastic

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

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
