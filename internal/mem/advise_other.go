//go:build !linux || purego

package mem

// adviseHuge does nothing: the system decides about its pages.
func adviseHuge([]uint64) {}

func adviseAround([]uint64) {}
