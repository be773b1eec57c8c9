//go:build !linux

package timing

import "time"

// ThreadName is what Thread measures here.
const ThreadName = "time on the wall"

// Thread falls back to the wall: the processor time of a thread cannot be had
// portably.
func Thread() time.Duration { return Wall() }
