package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/image"
	"github.com/everbloom-go/everbloom/server/internal/log"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// TestSharedImagesAreSavedTwiceAtOnce saves as SAVE beside BGSAVE does, which the race detector
// watches, and goes on when images that could not be read can be read again.
func TestSharedImagesAreSavedTwiceAtOnce(t *testing.T) {
	disk, err := image.MakeDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var broken atomic.Bool
	failure := errors.New("images cannot be read")
	open := func(context.Context) (image.Disk, error) {
		if broken.Load() {
			return nil, failure
		}
		return disk, nil
	}
	s := newServer(NewSettings(), slog.New(slog.DiscardHandler))
	h := &shard{server: s, store: store.New(), log: new(log.Memory)}
	config := partition.Config{Store: h.store, Log: h.log}
	if h.keeper, err = newSharedKeeper(t.Context(), h, open, &config); err != nil {
		t.Fatal(err)
	}
	if h.partition, err = partition.Open(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	defer h.close()
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for range 20 {
				if err := h.keeper.save(); err != nil && !errors.Is(err, command.ErrSaving) {
					t.Error(err)
				}
			}
		})
	}
	both.Wait()
	broken.Store(true)
	if err := h.keeper.save(); !errors.Is(err, failure) {
		t.Error("images that cannot be read:", err)
	}
	broken.Store(false)
	if err := h.keeper.save(); err != nil {
		t.Error("images that can be read again:", err)
	}
}
