package server

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/server/internal/image"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/record"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// newKeeper loads the newest images, and says where the log goes on.
func newKeeper(h *shard, config *partition.Config) (*keeper, error) {
	s := h.server
	k := &keeper{shard: h, server: s}
	k.saved.Store(time.Now().Unix())
	if s.folder == nil {
		return k, nil
	}
	dir, err := image.MakeDir(filepath.Join(s.folder.path, "images"))
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if k.folder, err = image.Open(dir); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if k.tail, err = s.folder.readTail(); err != nil {
		s.logger.Warn("the end of the log cannot be verified", "error", err)
	}
	config.Tail = func(c record.Chain) {
		if err := s.folder.writeTail(c); err != nil {
			s.logger.Warn("the file tail cannot be written", "error", err)
		}
	}
	config.Check = k.verify
	m := k.folder.Last()
	if m == nil {
		return k, nil
	}
	if err := k.load(m, config); err != nil {
		return nil, fmt.Errorf("server: %w: restore a copy of the folder", err)
	}
	return k, nil
}

// newSharedKeeper is newKeeper for images that other servers write, too. If the newest ones are
// damaged it takes those before, since the log is kept from there on.
func newSharedKeeper(ctx context.Context, h *shard, open openDisk, config *partition.Config) (*keeper, error) {
	k := &keeper{shard: h, server: h.server, shared: open}
	k.saved.Store(time.Now().Unix())
	var err error
	if k.folder, err = open.look(ctx); err != nil {
		return nil, adviseShared(err)
	}
	if err := k.folder.Damage(); err != nil {
		h.server.logger.Warn("a manifest of images is damaged: those of the other one are loaded", "partition", h.number, "error", err)
	}
	for m := k.folder.Last(); m != nil; m = k.folder.Last() {
		err := k.load(m, config)
		if err == nil {
			return k, nil
		}
		if !errors.Is(err, image.ErrDamaged) || !k.folder.StepBack() {
			return nil, adviseShared(err)
		}
		h.server.logger.Warn("the newest images are damaged: loading those before", "partition", h.number, "error", err)
		h.store = store.New()
		config.Store = h.store
	}
	return k, nil
}

// load brings images into memory, and says where the log goes on.
func (k *keeper) load(m *image.Manifest, config *partition.Config) error {
	config.After, config.Position = m.Chain, m.Position
	k.size.Store(k.folder.Size())
	var hash filter.Hash
	if err := hash.UnmarshalBinary(m.Hash); err != nil {
		return fmt.Errorf("images: hash: %w", err)
	}
	k.shard.store.LoadState(hash, m.Last, m.Gone)
	for i := range m.Entries {
		e := &m.Entries[i]
		content, err := k.folder.Content(e)
		if err == nil {
			err = k.shard.store.Load(e.Meta, content)
		}
		if err != nil {
			return fmt.Errorf("images: %w", err)
		}
	}
	return nil
}

// adviseShared says what to do about images of a cluster that cannot be read.
func adviseShared(err error) error {
	if errors.Is(err, image.ErrDamaged) {
		return fmt.Errorf("server: %w: if a server of the cluster still has the sets, copy them with everbloom import; else restore copies of the folders of all servers", err)
	}
	return fmt.Errorf("server: %w", err)
}
