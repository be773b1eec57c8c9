package load

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of times in /proc.
const ticksPerSecond = 100

// ProcessCPU returns a function that tells the processor time of a process, nil if the
// system does not tell.
func ProcessCPU(pid int) func() (time.Duration, error) {
	if runtime.GOOS != "linux" {
		return nil
	}
	return func() (time.Duration, error) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return 0, err
		}
		_, rest, _ := strings.Cut(string(text), ") ") // the name may have spaces
		f := strings.Fields(rest)
		if len(f) < 13 {
			return 0, fmt.Errorf("load: /proc/%d/stat has %d fields", pid, len(f))
		}
		var ticks int64
		for _, field := range f[11:13] {
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, err
			}
			ticks += n
		}
		return time.Duration(ticks) * time.Second / ticksPerSecond, nil
	}
}
