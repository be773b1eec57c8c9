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

// TestDamagedImagesStepBack damages images of a partition: a server of a cluster loads those that
// are whole, says so, and goes on in the log from there.
func TestDamagedImagesStepBack(t *testing.T) {
	for name, damaged := range map[string]func(whole *image.Folder, manifests []string) (file string, rest *image.Manifest){
		"Pack": func(whole *image.Folder, _ []string) (string, *image.Manifest) {
			newest := uint64(0)
			for _, e := range whole.Last().Entries {
				newest = max(newest, e.Pack)
			}
			return fmt.Sprint("pack-", newest), whole.Before()
		},
		"Manifest":       func(whole *image.Folder, m []string) (string, *image.Manifest) { return m[1], whole.Before() },
		"ManifestBefore": func(whole *image.Folder, m []string) (string, *image.Manifest) { return m[0], whole.Last() },
	} {
		t.Run(name, func(t *testing.T) {
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
			manifests, err := filepath.Glob(filepath.Join(dir, "images", "manifest-*"))
			if err != nil || len(manifests) != 2 {
				t.Fatal(manifests, err)
			}
			for i := range manifests {
				manifests[i] = filepath.Base(manifests[i])
			}
			file, rest := damaged(whole, manifests)
			flipBits(t, filepath.Join(dir, "images", file))
			loadsRest(t, disk, rest)
		})
	}
}

// flipBits damages each byte of a file.
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

// loadsRest loads images of which some are damaged.
func loadsRest(t *testing.T, disk image.Disk, rest *image.Manifest) {
	t.Helper()
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
	if config.Position != rest.Position || config.Store != h.store || h.store.Lookup([]byte("bf"), 0) == nil {
		t.Errorf("the sets are not those of the other images, or the log goes on at %d, not at %d", config.Position, rest.Position)
	}
	if !strings.Contains(said.String(), "damaged") {
		t.Error("nothing is said")
	}
}
