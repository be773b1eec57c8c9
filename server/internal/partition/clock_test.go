package partition

import (
	"testing"
	"time"
)

func TestClockHoldsJumps(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		wall, running := time.UnixMilli(1_000_000_000), time.Duration(0)
		var c clock
		c.start(func() (time.Time, time.Duration) { return wall.Add(running), running })
		first, last := c.now(), ""
		step := func(d time.Duration) (reports int) {
			for range int(d / (100 * time.Millisecond)) {
				running += 100 * time.Millisecond
				if text, _ := c.adjust(); text != "" {
					reports++
					last = text
				}
			}
			return reports
		}
		if n := step(time.Minute); n != 0 || c.now() != first+60_000 {
			t.Errorf("%d reports, %d ms in a minute", n, c.now()-first)
		}
		wall = wall.Add(5 * time.Second) // as when a clock is set right
		step(time.Second)
		if got := c.now() - first; got != 66_000 {
			t.Errorf("%d ms after 66 s", got)
		}
		wall = wall.Add(jump)
		if got := c.now() - first; got != 66_000 {
			t.Errorf("a jump of %v is seen at once: %d ms", jump, got)
		}
		if n := step(30 * time.Second); n != 1 || c.now()-first != 96_000 {
			t.Errorf("%d reports, %d ms while the jump is held", n, c.now()-first)
		}
		if n := step(time.Minute); n != 1 || (last == standsStill) != (jump < 0) {
			t.Errorf("%d reports, the last one: %s", n, last)
		}
		if got, want := time.Duration(c.now()-first)*time.Millisecond, max(156*time.Second+jump, 96*time.Second); (got - want).Abs() > time.Second {
			t.Errorf("%v after the jump was followed, want %v", got, want)
		}
		wall = wall.Add(-jump) // another, taken back before it is followed
		step(time.Second)
		wall = wall.Add(jump)
		if n := step(2 * time.Minute); n != 0 || c.held != 0 {
			t.Errorf("%d reports, held %v", n, c.held)
		}
	}
}
