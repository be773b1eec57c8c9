//go:build !linux

package main

import "time"

// threadClock falls back to the wall: the processor time of a thread cannot be had portably.
func threadClock() time.Duration { return wallClock() }
