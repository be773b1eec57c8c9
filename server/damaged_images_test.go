package server

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/server/internal/image"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// TestDamagedImagesStepBack loads images of a partition: the newest ones, and after some are
// damaged, those that are whole. Then the server says so. The log goes on behind what was loaded.
func TestDamagedImagesStepBack(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir)
	disk, err := image.MakeDir(filepath.Join(dir, "images"))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := image.Look(disk)
	if err != nil {
		t.Fatal(err)
	}
	if said := loadImages(t, disk, whole.Last()); strings.Contains(said, "damaged") {
		t.Error(said)
	}
	manifests, err := filepath.Glob(filepath.Join(dir, "images", "manifest-*"))
	if err != nil || len(manifests) != 2 {
		t.Fatal(manifests, err)
	}
	newest := uint64(0)
	for _, e := range whole.Last().Entries {
		newest = max(newest, e.Pack)
	}
	for _, c := range []struct {
		path string
		rest *image.Manifest
		says string
	}{
		{filepath.Join(dir, "images", fmt.Sprint("pack-", newest)), whole.Before(), "the newest images are damaged"},
		{manifests[1], whole.Before(), "a manifest of images is damaged"},
		{manifests[0], whole.Last(), "a manifest of images is damaged"},
	} {
		flipBits(t, c.path)
		if said := loadImages(t, disk, c.rest); !strings.Contains(said, c.says) {
			t.Errorf("%s is damaged, and it says %q", filepath.Base(c.path), said)
		}
		flipBits(t, c.path)
	}
}

// flipBits changes each byte of a file. Twice, it is as before.
func flipBits(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		b[i] ^= 1
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// loadImages loads images as a server of a cluster does, and returns what it says. They must be
// those of a manifest.
func loadImages(t *testing.T, disk image.Disk, want *image.Manifest) (said string) {
	t.Helper()
	var b strings.Builder
	s := newServer(NewSettings(), slog.New(slog.NewTextHandler(&b, nil)))
	h := &shard{server: s, store: store.New()}
	config := partition.Config{Store: h.store}
	open := func(context.Context) (image.Disk, error) { return disk, nil }
	if _, err := newSharedKeeper(t.Context(), h, open, &config); err != nil {
		t.Fatal(err)
	}
	if err := h.store.Loaded(); err != nil {
		t.Fatal(err)
	}
	if config.Position != want.Position || config.After != want.Chain || config.Store != h.store {
		t.Errorf("the log goes on at %d, not at %d", config.Position, want.Position)
	}
	for _, m := range want.Entries {
		if e := h.store.ByNumber(m.Number); e == nil || e.Version() != m.Record {
			t.Errorf("%s is not that of record %d: %+v", m.Name, m.Record, e)
		}
	}
	return b.String()
}
