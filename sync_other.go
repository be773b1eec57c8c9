//go:build !unix

package everbloom

// syncFolder does nothing where folders cannot be synced by themselves.
func syncFolder(string) error { return nil }
