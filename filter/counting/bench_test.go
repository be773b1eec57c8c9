package counting_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func BenchmarkAdd(b *testing.B)             { filtertest.BenchmarkAdd(b, four) }
func BenchmarkAddBatch(b *testing.B)        { filtertest.BenchmarkAddBatch(b, four) }
func BenchmarkMayContain(b *testing.B)      { filtertest.BenchmarkMayContain(b, four) }
func BenchmarkMayContainBatch(b *testing.B) { filtertest.BenchmarkMayContainBatch(b, four) }
func BenchmarkDelete(b *testing.B)          { filtertest.BenchmarkDelete(b, four) }
func BenchmarkSnapshot(b *testing.B)        { filtertest.BenchmarkSnapshot(b, four) }
