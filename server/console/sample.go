package console

import (
	"slices"
	"time"
)

const (
	ranShown   = 40              // commands that are shown as they run
	watchedFor = 3 * time.Second // after a page was shown
)

// addSample takes the commands that were watched. Nothing is watched if no page shows them.
func (h *history) addSample(s Source, now time.Time) {
	watch := now.Sub(h.watched) < watchedFor
	sample, of := s.Sample(watch)
	if !watch {
		h.ran, h.ranOf = nil, 0
		return
	}
	slices.SortFunc(sample, func(a, b Ran) int { return b.At.Compare(a.At) })
	h.ran, h.ranOf = append(sample, h.ran...), of
	h.ran = h.ran[:min(len(h.ran), ranShown)]
}

// sample returns the last commands, and how many there were in the last second. They are
// watched for some seconds from now on.
func (h *history) sample(now time.Time) (ran []Ran, of int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watched = now
	return h.ran, h.ranOf
}
