package dynamic_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func BenchmarkAdd(b *testing.B) { filtertest.BenchmarkAdd(b, subject, many, plain, parallel) }
func BenchmarkMayContain(b *testing.B) {
	filtertest.BenchmarkMayContain(b, subject, many, plain, parallel)
}
func BenchmarkDelete(b *testing.B)   { filtertest.BenchmarkDelete(b, subject, many, parallel) }
func BenchmarkSnapshot(b *testing.B) { filtertest.BenchmarkSnapshot(b, subject, many, parallel) }
