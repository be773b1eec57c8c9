package filtertest

import "testing"

func BenchmarkFilter(b *testing.B) { Benchmark(b, exactSubjects["Ignored"]) }
