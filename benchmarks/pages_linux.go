package main

import (
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"
)

// ownPages sees to it that what c is built in is what it would be in a process of its own. Where
// programs get huge pages only if they ask for them, everbloom asks, and the contender that gets the memory
// next would have them, too.
func ownPages(c contender, keys uint64) {
	if keys < 500_000 || !hugePagesOnDemand() {
		return
	}
	asks := uintptr(1) // does not
	if c.module == "" {
		asks = 0
	}
	_ = unix.Prctl(unix.PR_SET_THP_DISABLE, asks, 0, 0, 0) // a kernel that cannot leaves it as it was
	if asks != 0 {
		debug.FreeOSMemory() // with the huge pages in it
	}
}

func hugePagesOnDemand() bool {
	mode, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	return err == nil && strings.Contains(string(mode), "[madvise]")
}
