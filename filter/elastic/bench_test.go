package elastic_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func BenchmarkFilter(b *testing.B) { filtertest.Benchmark(b, subject, tight) }
