// Package clock tells the time that experiments measure by: that on the wall, and
// the processor time of a thread, in which nobody else's work is.
package clock

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
