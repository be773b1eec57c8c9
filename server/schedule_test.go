package server

import (
	"log/slog"
	"testing"
)

// TestImagesBeforeTheLogIsFull has logs with a limit: neither the setting nor large sets let them
// grow beyond a quarter of it.
func TestImagesBeforeTheLogIsFull(t *testing.T) {
	for _, c := range []struct {
		after string
		size  int64 // of the images
		limit int64 // of the log; 0: none
		want  uint64
	}{
		{"1000", 100, 0, 1000},
		{"1000", 4000, 0, 2000},
		{"1000", 4000, 8000, 2000},
		{"1000", 100, 2000, 500},
		{"10", 4000, 2000, 500},
	} {
		s := newServer(NewSettings(), slog.New(slog.DiscardHandler))
		if err := s.settings.Set("image-after", c.after); err != nil {
			t.Fatal(err)
		}
		if c.limit != 0 {
			s.node = &node{server: s, logBytes: c.limit}
		}
		k := &keeper{server: s}
		k.size.Store(c.size)
		if got := k.threshold(); got != c.want {
			t.Errorf("%+v: after %d", c, got)
		}
	}
}
