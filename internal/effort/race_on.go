//go:build race

package effort

// UnderRace is whether the race detector slows everything down, about tenfold.
const UnderRace = true
