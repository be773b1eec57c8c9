//go:build !linux || purego

package mem

import "io/fs"

// limitRoom knows of no limit.
func limitRoom(fs.FS) (uint64, bool) { return 0, false }
