package deletable_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func BenchmarkAdd(b *testing.B)             { filtertest.BenchmarkAdd(b, subject) }
func BenchmarkAddBatch(b *testing.B)        { filtertest.BenchmarkAddBatch(b, subject) }
func BenchmarkMayContain(b *testing.B)      { filtertest.BenchmarkMayContain(b, subject) }
func BenchmarkMayContainBatch(b *testing.B) { filtertest.BenchmarkMayContainBatch(b, subject) }
func BenchmarkDelete(b *testing.B)          { filtertest.BenchmarkDelete(b, subject) }
func BenchmarkSnapshot(b *testing.B)        { filtertest.BenchmarkSnapshot(b, subject) }
