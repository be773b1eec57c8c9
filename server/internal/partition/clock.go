package partition

import (
	"fmt"
	"sync/atomic"
	"time"
)

// A clock never goes back, and does not follow a jump of the system's clock at once: keys
// would end too early. Between adjustments it runs with the time since the start.
type clock struct {
	source Clock
	base   atomic.Int64 // milliseconds since 1970 at the start
	last   atomic.Int64 // that it has shown

	// What follows belongs to the partition.

	held time.Duration // since the start, when a jump was seen; 0 if none was
}

// A Clock returns the time of day, and the time since some start, which does not jump.
type Clock func() (wall time.Time, running time.Duration)

// systemClock returns the clock of the system.
func systemClock() Clock {
	start := time.Now()
	return func() (time.Time, time.Duration) {
		now := time.Now()
		return now, now.Sub(start)
	}
}

const (
	maxDrift = 10 * time.Second // between two adjustments
	holdTime = time.Minute      // until a jump is followed
)

func (c *clock) start(source Clock) {
	if source == nil {
		source = systemClock()
	}
	wall, running := source()
	c.source = source
	c.base.Store(wall.UnixMilli() - running.Milliseconds())
}

// now returns the time in milliseconds since 1970.
func (c *clock) now() int64 {
	_, running := c.source()
	return c.least(c.base.Load() + running.Milliseconds())
}

// since returns how long ago a time in milliseconds was by the time of day.
func (c *clock) since(ms int64) time.Duration {
	wall, _ := c.source()
	return wall.Sub(time.UnixMilli(ms))
}

// least puts the clock forward to a time.
func (c *clock) least(ms int64) int64 {
	for {
		last := c.last.Load()
		if ms <= last {
			return last
		}
		if c.last.CompareAndSwap(last, ms) {
			return ms
		}
	}
}

// adjust follows the time of day. It returns what an operator must know, if anything.
func (c *clock) adjust() (text string, err error) {
	wall, running := c.source()
	base := wall.UnixMilli() - running.Milliseconds()
	drift := time.Duration(base-c.base.Load()) * time.Millisecond
	if drift.Abs() > maxDrift {
		switch {
		case c.held == 0:
			c.held = max(running, 1)
			return "the system clock jumped: keys expire by the previous time for a minute", fmt.Errorf("the jump is %v", drift)
		case running-c.held < holdTime:
			return "", nil
		}
		text = "following the system clock again"
	}
	c.held = 0
	c.base.Store(base)
	if err := c.behind(); err != nil && text != "" {
		return standsStill, err
	}
	return text, nil
}

const standsStill = "the system clock is behind the time of the last change: keys expire when it has caught up"

// behind returns an error if the time of day is behind the time that was shown last.
func (c *clock) behind() error {
	if ahead := -c.since(c.last.Load()); ahead > maxDrift {
		return fmt.Errorf("it is %v behind", ahead)
	}
	return nil
}
