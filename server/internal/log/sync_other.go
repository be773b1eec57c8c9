//go:build !linux

package log

import "os"

func dataSync(f *os.File) error { return f.Sync() }
