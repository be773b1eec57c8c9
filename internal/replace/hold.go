package replace

import (
	"errors"
	"os"
)

// ErrHeld is returned by Hold where another process has the lock.
var ErrHeld = errHeld

// Hold takes the lock of a file that exists for its lock only, and makes the file if it is
// not there. It does not wait: the error is ErrHeld if the lock is taken. The file stays when
// the lock is released.
func Hold(path string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	return tryAcquire(path)
}

// SyncFolder brings the names in the folder of a file to the disk.
func SyncFolder(path string) error {
	folder, err := openFolder(folderOf(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
