package scalable_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func BenchmarkAdd(b *testing.B)             { filtertest.BenchmarkAdd(b, subject, grown) }
func BenchmarkAddBatch(b *testing.B)        { filtertest.BenchmarkAddBatch(b, subject, grown) }
func BenchmarkMayContain(b *testing.B)      { filtertest.BenchmarkMayContain(b, subject, grown) }
func BenchmarkMayContainBatch(b *testing.B) { filtertest.BenchmarkMayContainBatch(b, subject, grown) }
func BenchmarkSnapshot(b *testing.B)        { filtertest.BenchmarkSnapshot(b, subject, grown) }
