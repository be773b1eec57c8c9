package packed

import (
	"fmt"
	"testing"
)

var sink uint32

func BenchmarkAccess(b *testing.B) {
	const n = 1 << 12
	for _, width := range []int{4, 14} {
		a, err := New(n, width)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("op=get/width=%d", width), func(b *testing.B) {
			var sum uint32
			for i := uint64(0); b.Loop(); i += 1021 {
				sum += a.Get(i % n)
			}
			sink = sum
		})
		b.Run(fmt.Sprintf("op=set/width=%d", width), func(b *testing.B) {
			for i := uint64(0); b.Loop(); i += 1021 {
				a.Set(i%n, uint32(i))
			}
		})
	}
}
