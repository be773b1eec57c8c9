package everbloom

import (
	"fmt"
	"testing"
)

// BenchmarkNew makes empty sets. The rate changes from call to call in "fresh", so that
// no result of an earlier call helps.
func BenchmarkNew(b *testing.B) {
	for _, c := range []struct {
		name  string
		needs Needs
	}{
		{"kind=blocked", Needs{}},
		{"kind=bloom", Needs{Spare: TotalMemory}},
		{"kind=evergreen", Needs{Delete: true}},
		{"kind=scalable", Needs{Grow: true, Spare: TotalMemory}},
	} {
		for _, items := range []uint64{100, 10_000, 1_000_000} {
			c.needs.Items, c.needs.FPR = items, 0.01
			b.Run(fmt.Sprintf("%s/n=%d", c.name, items), func(b *testing.B) {
				for b.Loop() {
					if _, err := New(c.needs); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
	b.Run("fresh/kind=blocked/n=10000", func(b *testing.B) {
		rate := 0.01
		for b.Loop() {
			rate *= 1 - 1e-9
			if _, err := New(Needs{Items: 10_000, FPR: rate}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkPlan(b *testing.B) {
	for b.Loop() {
		if _, err := Plan(Needs{FPR: 0.01}); err != nil {
			b.Fatal(err)
		}
	}
}
