package ebf21

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// TestTraceIsHeavyTailed looks at the flow sizes: the share of flows with more than
// x packets falls as x^-1.1, so that few flows have most packets.
func TestTraceIsHeavyTailed(t *testing.T) {
	const n = 200_000
	packets, flows := makeTrace(rand.New(rand.NewPCG(seed, 1)), n)
	sizes := map[filter.Key]int{}
	for _, k := range packets {
		sizes[k]++
	}
	if flows != len(sizes) || math.Abs(float64(flows)-n*newFlow) > 6*math.Sqrt(n*newFlow) {
		t.Errorf("%d flows, want %v", flows, n*newFlow)
	}
	above := func(x int) (share float64) {
		for _, size := range sizes {
			if size > x {
				share += 1 / float64(len(sizes))
			}
		}
		return share
	}
	slope := math.Log(above(100)/above(10)) / math.Log(10)
	if slope > -0.9 || slope < -1.3 {
		t.Errorf("the tail falls as x^%.2f", slope)
	}
	largest := 0
	for _, size := range sizes {
		largest = max(largest, size)
	}
	if largest < n/100 {
		t.Errorf("the largest flow has %d packets", largest)
	}
}

// TestRepeatedPacketsChangeNothing is what Fig. 9 rests on.
func TestRepeatedPacketsChangeNothing(t *testing.T) {
	packets, _ := makeTrace(rand.New(rand.NewPCG(seed, 2)), 20_000)
	all, err := filled(12, 1, packets)
	slices.Sort(packets)
	once, err2 := filled(12, 1, slices.Compact(packets))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	all.FinishResize()
	once.FinishResize()
	if a, b := all.Info(), once.Info(); a.Keys != b.Keys || a.Fill != b.Fill || a.SlowBits != b.SlowBits {
		t.Errorf("%+v and %+v", a, b)
	}
}
