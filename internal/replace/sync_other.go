//go:build !unix

package replace

import (
	"io/fs"
	"os"
)

// A folder does nothing where folders cannot be synced by themselves.
type folder struct{}

func openFolder(string) (folder, error) { return folder{}, nil }
func (folder) Sync() error              { return nil }
func (folder) Close() error             { return nil }

// keepOwner does nothing where files have no owner of that kind.
func keepOwner(*os.File, fs.FileInfo) {}
