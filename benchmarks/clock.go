package main

import (
	"fmt"
	"runtime"
	"time"
)

// A clock returns the time since some moment in the past.
type clock func() time.Duration

var started = time.Now()

// wallClock is the time on the wall.
func wallClock() time.Duration { return time.Since(started) }

// parseClock returns the clock for work on one thread.
func parseClock(name string) (clock, error) {
	switch name {
	case "cpu":
		return threadClock, nil
	case "wall":
		return wallClock, nil
	}
	return nil, fmt.Errorf("%q is neither cpu nor wall", name)
}

// pin keeps the calling goroutine on its thread, without which the processor time of the thread
// would mean nothing, until the function it returns is called.
func pin() (unpin func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
