//go:build !unix

package everbloom

// A folder does nothing where folders cannot be synced by themselves.
type folder struct{}

func openFolder(string) (folder, error) { return folder{}, nil }
func (folder) Sync() error              { return nil }
func (folder) Close() error             { return nil }
