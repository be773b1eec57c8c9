package jetstream

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/everbloom-go/everbloom/server/internal/log"
)

const (
	unknownRoom = 1 << 50
	leastRoom   = 64 << 20
	reserve     = 1 << 30 // at most; otherwise a twentieth of the disk
	probeSize   = 1 << 20
)

// diskRoom returns how many bytes the log may take: what is free and what it has, less a
// tenth.
func diskRoom(dir string) int64 {
	_, free, err := disk(dir)
	if err != nil {
		return unknownRoom
	}
	return max(int64(free/10*9)+folderSize(dir), leastRoom)
}

// folderSize returns how many bytes the files of a folder have.
func folderSize(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what cannot be seen is not counted
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}

// Room returns an error if less than a twentieth of the disk is free, and less than a GiB.
func (l *Log) Room() error { return Room(l.dir) }

// Probe is Room, and writes a file: a quota may leave less than the disk has.
func (l *Log) Probe() error { return Probe(l.dir) }

// Room returns an error if less than a twentieth of the disk of a folder is free, and less
// than a GiB.
func Room(dir string) error {
	size, free, err := disk(dir)
	if err != nil {
		return nil //nolint:nilerr // how much is free is unknown: appending will tell
	}
	if least := min(size/20, reserve); free < least {
		return fmt.Errorf("jetstream: %d bytes of the disk are free, at least %d must be: %w", free, least, log.ErrFull)
	}
	return nil
}

// Probe is Room, and writes a file to the folder.
func Probe(dir string) error {
	if err := Room(dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "probe-*.tmp")
	if err != nil {
		return fmt.Errorf("jetstream: %w: %w", log.ErrFull, err)
	}
	_, err = f.Write(make([]byte, probeSize))
	if err = errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name())); err != nil {
		return fmt.Errorf("jetstream: %w: %w", log.ErrFull, err)
	}
	return nil
}
