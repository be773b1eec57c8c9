package console

import (
	"testing"
	"time"
)

// TestBansAreReadWhenTheyAreShownAndChange asks at all moments.
func TestBansAreReadWhenTheyAreShownAndChange(t *testing.T) {
	at := time.Now()
	for _, c := range []struct {
		name          string
		since, viewed time.Duration // before now
		took          time.Duration
		events        uint64
		due           bool
	}{
		{"changed", time.Second, time.Second, time.Millisecond, 8, true},
		{"not changed", 9 * time.Second, time.Second, time.Millisecond, 7, false},
		{"not changed for long", 11 * time.Second, time.Second, time.Millisecond, 7, true},
		{"not shown", time.Minute, time.Minute, time.Millisecond, 8, false},
		{"slow", 9 * time.Second, time.Second, 500 * time.Millisecond, 8, false},
		{"slow, after a while", 11 * time.Second, time.Second, 500 * time.Millisecond, 8, true},
	} {
		g := gateWatch{bansAt: at.Add(-c.since), watched: at.Add(-c.viewed), bansTook: c.took, bansSeen: 7}
		g.status.Events = c.events
		if got := g.bansDue(at); got != c.due {
			t.Errorf("%s: %t", c.name, got)
		}
	}
	if !new(gateWatch).bansDue(at) {
		t.Error("bans that never were read are not due")
	}
}
