//go:build !linux

package ebf21

import "time"

// clockName says what elapsed measures.
const clockName = "time by the clock"

var started = time.Now()

// elapsed is the time since some start.
func elapsed() time.Duration { return time.Since(started) }
