package load

import (
	"bufio"
	"fmt"
	"net"
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

// InfoCPU returns a function that asks a server how much processor time it has used, as
// Redis tells it. That of a server which does not tell is 0.
func InfoCPU(addr string) func() (time.Duration, error) {
	return func() (total time.Duration, err error) {
		conn, err := net.DialTimeout("tcp", addr, askTime)
		if err != nil {
			return 0, err
		}
		defer func() { _ = conn.Close() }() // everything was read
		if err := conn.SetDeadline(time.Now().Add(askTime)); err != nil {
			return 0, err
		}
		if _, err := conn.Write([]byte("INFO cpu\r\nQUIT\r\n")); err != nil {
			return 0, err
		}
		lines := bufio.NewScanner(conn)
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ":")
			if name != "used_cpu_sys" && name != "used_cpu_user" {
				continue
			}
			seconds, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				return 0, fmt.Errorf("load: %s tells no time: %w", addr, err)
			}
			total += time.Duration(seconds * float64(time.Second))
		}
		return total, lines.Err()
	}
}

const askTime = 10 * time.Second
