package ebf21

import (
	"time"

	"golang.org/x/sys/unix"
)

// clockName says what elapsed measures.
const clockName = "processor time of the thread"

// elapsed is the processor time that the calling thread has used, from some start
// on. What other programs do meanwhile is not in it.
func elapsed() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0 // it cannot fail for the thread itself
	}
	return time.Duration(t.Nano())
}
