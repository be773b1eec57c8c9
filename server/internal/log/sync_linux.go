package log

import (
	"os"
	"syscall"
)

// dataSync is Sync without the times of the file.
func dataSync(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return err
		}
	}
}
