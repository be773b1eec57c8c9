package main

import "testing"

func TestThreadsAreCounted(t *testing.T) {
	if threadsText(1) != "1 thread" || threadsText(2) != "2 threads" {
		t.Error(threadsText(1), threadsText(2))
	}
}
