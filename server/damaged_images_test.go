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

// TestDamagedImagesStepBack damages the newest images of a partition: a server of a cluster
// loads those before, says so, and goes on in the log from there.
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
	newest := uint64(0)
	for _, e := range whole.Last().Entries {
		newest = max(newest, e.Pack)
	}
	pack := filepath.Join(dir, "images", fmt.Sprint("pack-", newest))
	b, err := os.ReadFile(pack)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		b[i] ^= 1
	}
	if err := os.WriteFile(pack, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	s := newServer(NewSettings(), slog.New(slog.NewTextHandler(&said, nil)))
	h := &shard{server: s, store: store.New()}
	config := partition.Config{Store: h.store}
	open := func(context.Context) (image.Disk, error) { return disk, nil }
	if _, err := newSharedKeeper(t.Context(), h, open, &config); err != nil {
		t.Fatal(err)
	}
	if err := h.store.Loaded(); err != nil {
		t.Fatal(err)
	}
	if config.Position != whole.Before().Position || config.Store != h.store || h.store.Lookup([]byte("bf"), 0) == nil {
		t.Errorf("the sets are not those before, or the log goes on at %d, not at %d", config.Position, whole.Before().Position)
	}
	if !strings.Contains(said.String(), "the newest images are damaged") {
		t.Error("nothing is said")
	}
}
