//go:build race

package exact

const race = true
