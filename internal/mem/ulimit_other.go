//go:build !linux || purego

package mem

import "io/fs"

// ulimit knows of no limit.
func ulimit(fs.FS) (uint64, bool) { return 0, false }
