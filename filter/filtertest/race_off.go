//go:build !race

package filtertest

// UnderRace is whether the race detector slows everything down. Long runs of one
// goroutine are shorter then: there is nothing for it to find.
const UnderRace = false
