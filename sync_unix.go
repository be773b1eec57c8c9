//go:build unix

package everbloom

import "os"

// openFolder opens a folder, whose Sync brings a file's new name to the disk.
func openFolder(path string) (*os.File, error) { return os.Open(path) }
