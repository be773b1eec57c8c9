package bloom_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func BenchmarkAdd(b *testing.B)             { filtertest.BenchmarkAdd(b, classic, blocked) }
func BenchmarkAddBatch(b *testing.B)        { filtertest.BenchmarkAddBatch(b, classic, blocked) }
func BenchmarkMayContain(b *testing.B)      { filtertest.BenchmarkMayContain(b, classic, blocked) }
func BenchmarkMayContainBatch(b *testing.B) { filtertest.BenchmarkMayContainBatch(b, classic, blocked) }
func BenchmarkSnapshot(b *testing.B)        { filtertest.BenchmarkSnapshot(b, classic, blocked) }
