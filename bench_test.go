package everbloom

import (
	"fmt"
	"testing"
)

// BenchmarkNew makes empty sets.
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
}
