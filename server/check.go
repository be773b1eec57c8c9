package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// Found is what Check found in a folder.
type Found struct {
	Keys    int64
	Bytes   int64  // of memory that they take
	Records uint64 // of the log since the folder was made
}

// Check reads everything that is in a folder, as Open does, and closes it again. It takes the
// lock, and the log engine writes files of its own: the folder must be writable.
func Check(ctx context.Context, settings *Settings, logger *slog.Logger) (found Found, err error) {
	dir := settings.Get("dir")
	if dir == "" {
		return found, errNoFolder
	}
	if _, err := os.Stat(filepath.Join(dir, "mode")); err != nil {
		return found, fmt.Errorf("server: %s is not the folder of a server: %w", dir, err)
	}
	s := &Server{settings: settings, logger: logger}
	defer func() { err = errors.Join(err, s.release()) }()
	if err := s.openFolder(); err != nil {
		return found, err
	}
	if err := s.load(ctx); err != nil {
		return found, err
	}
	found.Keys, _ = s.count()
	found.Bytes = s.bytes()
	p := s.first().partition
	p.Do(func() {
		chain, _ := p.Place()
		found.Records = chain.Number
	})
	return found, nil
}
