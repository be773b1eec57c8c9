package evergreen_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func BenchmarkAdd(b *testing.B)             { filtertest.BenchmarkAdd(b, subject, compact) }
func BenchmarkAddBatch(b *testing.B)        { filtertest.BenchmarkAddBatch(b, subject, compact) }
func BenchmarkMayContain(b *testing.B)      { filtertest.BenchmarkMayContain(b, subject, compact) }
func BenchmarkMayContainBatch(b *testing.B) { filtertest.BenchmarkMayContainBatch(b, subject, compact) }
func BenchmarkDelete(b *testing.B)          { filtertest.BenchmarkDelete(b, subject, compact) }
func BenchmarkSnapshot(b *testing.B)        { filtertest.BenchmarkSnapshot(b, subject, compact) }
