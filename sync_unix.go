//go:build unix

package everbloom

import (
	"errors"
	"fmt"
	"os"
)

// syncFolder brings a renamed file's new name to the disk.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("everbloom: save: %w", err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("everbloom: save: sync %s: %w", path, err)
	}
	return nil
}
