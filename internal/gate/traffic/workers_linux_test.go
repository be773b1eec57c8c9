package traffic

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/timing"
)

// BenchmarkWorkers judges the same records by one worker and by two, in turns. The ratio of
// the times on the wall means something on a machine with two idle processors only; elsewhere
// twice the ratio of the processor times tells what two could do.
func BenchmarkWorkers(b *testing.B) {
	const users, count, turn = 1_000_000, 4_000_000, 1 << 14
	list, a, black := records(b, users, count)
	config := gate.Config{Users: users, Patterns: a, Blacklist: black}
	out := make([]gate.Verdict, turn)
	b.ResetTimer()
	for range b.N {
		var gates [2]*gate.Workers
		for i := range gates {
			var err error
			if gates[i], err = gate.NewWorkers(config, i+1); err != nil {
				b.Fatal(err)
			}
		}
		var ratios []float64
		var spent [2]time.Duration // of the processor
		for from := 0; from < count; from += turn {
			part := list[from:min(count, from+turn)]
			var turns [2]float64
			for i, w := range gates {
				began, used := time.Now(), processorTime(b)
				w.StepBatch(part, out)
				turns[i] = float64(time.Since(began))
				spent[i] += processorTime(b) - used
			}
			ratios = append(ratios, turns[0]/turns[1])
		}
		b.ReportMetric(timing.Median(ratios), "one/two")
		b.ReportMetric(2*float64(spent[0])/float64(spent[1]), "one/two-processor-time")
	}
}

// processorTime is that of the whole process.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now); err != nil {
		b.Fatal(err)
	}
	return time.Duration(now.Nano())
}
