// Package timing compares how long several contenders take. They take turns at
// short strides of work, so that all of them see the same machine, whatever else it
// does, and are compared with each other round by round.
package timing

import (
	"runtime"
	"time"
)

// A Clock returns the time since some moment in the past.
type Clock func() time.Duration

var started = time.Now()

// Wall is the time on the wall.
func Wall() time.Duration { return time.Since(started) }

// Pinned keeps the calling goroutine on its thread while f runs, without which
// [Thread] would mean nothing.
func Pinned(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f()
}
