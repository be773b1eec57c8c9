//go:build race

package everbloom

const raceEnabled = true
