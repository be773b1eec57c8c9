//go:build !unix

package server

import "os"

// lockFile takes no lock: the system has none of the kind.
func lockFile(*os.File) error { return nil }
