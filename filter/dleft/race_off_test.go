//go:build !race

package dleft

const underRace = false
