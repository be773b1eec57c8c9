//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package mem

import (
	"errors"
	"os"
)

// mapsFiles says that CreateFile refuses: nothing below is called.
const mapsFiles = false

func lock(*os.File) error { return errors.ErrUnsupported }

type mapping []byte

func newMapping(*os.File, int64, int64) (mapping, error) { return nil, errors.ErrUnsupported }

func (mapping) words() []uint64 { return nil }

func (mapping) release() error { return nil }
