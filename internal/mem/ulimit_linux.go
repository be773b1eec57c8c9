//go:build linux && !purego

package mem

import (
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ulimit returns what the limit of the process's address space (ulimit -v) leaves.
func ulimit(root fs.FS) (uint64, bool) {
	var limit syscall.Rlimit
	text, err := fs.ReadFile(root, "proc/self/statm")
	if err != nil || syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur == math.MaxUint64 {
		return 0, false
	}
	fields := strings.Fields(string(text))
	if len(fields) == 0 {
		return 0, false
	}
	pages, err := strconv.ParseUint(fields[0], 10, 64)
	return minus(limit.Cur, pages*uint64(os.Getpagesize())), err == nil
}
