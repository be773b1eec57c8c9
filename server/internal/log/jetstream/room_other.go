//go:build !linux

package jetstream

import "errors"

// disk returns the size of the disk that a folder is on, and how much of it is free; here
// that is unknown.
func disk(string) (size, free uint64, err error) { return 0, 0, errors.ErrUnsupported }
