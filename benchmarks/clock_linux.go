package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadClock is the processor time of the calling thread: what others take from the processor
// in the meantime is not in it.
func threadClock() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now) != nil {
		return wallClock()
	}
	return time.Duration(now.Nano())
}
