package timing

import (
	"time"

	"golang.org/x/sys/unix"
)

// ThreadName is what Thread measures here.
const ThreadName = "processor time"

// Thread is the processor time of the calling thread. What others take from the
// processor in the meantime is not in it; reading it takes longer than [Wall].
func Thread() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now) != nil {
		return Wall()
	}
	return time.Duration(now.Nano())
}
