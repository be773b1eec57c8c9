package dleft_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func BenchmarkAdd(b *testing.B)             { filtertest.BenchmarkAdd(b, subject, odd) }
func BenchmarkAddBatch(b *testing.B)        { filtertest.BenchmarkAddBatch(b, subject, odd) }
func BenchmarkMayContain(b *testing.B)      { filtertest.BenchmarkMayContain(b, subject, odd) }
func BenchmarkMayContainBatch(b *testing.B) { filtertest.BenchmarkMayContainBatch(b, subject, odd) }
func BenchmarkDelete(b *testing.B)          { filtertest.BenchmarkDelete(b, subject, odd) }
func BenchmarkSnapshot(b *testing.B)        { filtertest.BenchmarkSnapshot(b, subject, odd) }
