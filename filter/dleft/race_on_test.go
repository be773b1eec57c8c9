//go:build race

package dleft

// underRace is whether the race detector slows everything down. Long runs of one
// goroutine are shorter then: there is nothing for it to find.
const underRace = true
