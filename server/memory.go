package server

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// machineMemory returns the memory of the machine, or of the control group if that is less.
func machineMemory() int64 {
	limit := int64(math.MaxInt64)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemTotal:" {
				if n, err := strconv.ParseInt(f[1], 10, 64); err == nil {
					limit = n << 10
				}
			}
		}
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(path); err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
				limit = min(limit, n)
			}
		}
	}
	if limit == math.MaxInt64 {
		limit = 4 << 30 // unknown
	}
	return limit
}

// collect sees to it that there is little garbage: 64 MiB beside a heap that is not much
// larger, a fifth of a large one, and a GiB at most.
func collect(ctx context.Context) {
	const (
		someGarbage = 64 << 20
		mostGarbage = 1 << 30
		everything  = 100
	)
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	percent := everything
	for {
		metrics.Read(sample)
		want := everything
		if live := sample[0].Value.Uint64(); live > someGarbage {
			want = int(min(max(20, everything*someGarbage/live), max(2, everything*mostGarbage/live)))
		}
		if want != percent {
			debug.SetGCPercent(want)
			percent = want
		}
		select {
		case <-ctx.Done():
			debug.SetGCPercent(everything)
			return
		case <-ticks.C:
		}
	}
}
