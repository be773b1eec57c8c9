package elastic_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// benchStride is how many operations one kind does before the next has its turn.
const benchStride = 256

// strides are the times of one operation in ns, stride by stride, of what is
// compared. Those who take turns see the same machine.
type strides map[string][]float64

// time runs a stride of the given name.
func (s strides) time(name string, run func()) {
	start := time.Now()
	run()
	s[name] = append(s[name], float64(time.Since(start).Nanoseconds())/benchStride)
}

// report tells a statistic of each name.
func (s strides) report(b *testing.B, what string, of func([]float64) float64) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	for name, times := range s {
		b.ReportMetric(of(times), name+"-"+what+"-ns")
	}
}

// median does not mind strides in which the machine did something else.
func median(times []float64) float64 {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// mean counts pauses, too.
func mean(times []float64) (sum float64) {
	for _, t := range times {
		sum += t
	}
	return sum / float64(len(times))
}

// draw fills keys with some of the n that are present, or with absent ones.
func draw(keys []filter.Key, kind string, n uint64, rng *rand.Rand) {
	for i := range keys {
		if kind == "present" {
			keys[i] = filtertest.Stream{}.Present(rng.Uint64N(n))
		} else {
			keys[i] = filtertest.Stream{}.Absent(rng.Uint64N(1 << 40))
		}
	}
}
