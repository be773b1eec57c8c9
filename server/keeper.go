package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/image"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/record"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// lookTime is how long images of a cluster may take to be opened.
const lookTime = time.Minute

// An openDisk opens images that several servers write. What it opened is good until another
// server has written.
type openDisk func(context.Context) (image.Disk, error)

// look reads the newest manifest.
func (o openDisk) look(ctx context.Context) (*image.Folder, error) {
	disk, err := o(ctx)
	if err != nil {
		return nil, err
	}
	return image.Look(disk)
}

// A keeper writes images, and knows where the log should end.
type keeper struct {
	shard  *shard
	server *Server
	shared openDisk      // where other servers write to, too; nil if there is none
	folder *image.Folder // nil if nothing is kept; guarded by mu once the shard is open
	tail   record.Chain  // as it was when the server was opened

	mu      sync.Mutex // one generation at a time
	copying sync.Mutex // a set is copied part by part: by one at a time
	running atomic.Bool
	failed  atomic.Bool // the last time
	saved   atomic.Int64
	logged  atomic.Uint64 // bytes of the log when images were written last
	size    atomic.Int64  // of the images
}

// state returns how the writing of images goes.
func (k *keeper) state() command.ImageState {
	return command.ImageState{Last: time.Unix(k.saved.Load(), 0), Running: k.running.Load(), Failed: k.failed.Load()}
}

// keeps reports whether there are images at all.
func (k *keeper) keeps() bool { return k.shared != nil || k.server.folder != nil }

// save writes a generation of images and trims the log.
func (k *keeper) save() error {
	if !k.keeps() {
		return errors.New("the server keeps nothing")
	}
	if !k.shard.partition.Leads() {
		return partition.ErrNotLeading
	}
	if !k.mu.TryLock() {
		return command.ErrSaving
	}
	defer k.mu.Unlock()
	k.running.Store(true)
	defer k.running.Store(false)
	started, logged := time.Now(), k.logSize()
	written, err := k.write()
	k.failed.Store(err != nil)
	if err != nil {
		k.server.logger.Error("writing images failed", "error", err)
		return err
	}
	k.logged.Store(logged)
	k.size.Store(k.folder.Size())
	k.saved.Store(time.Now().Unix())
	k.server.logger.Info("images written", "sets", written, "took", time.Since(started).Round(time.Millisecond))
	if before := k.folder.Before(); before != nil && before.Position > 0 {
		if err := k.trim(before.Position); err != nil {
			k.server.logger.Warn("trimming the log failed", "error", err)
		}
	}
	return nil
}

// trim forgets the log through a position.
func (k *keeper) trim(through uint64) error {
	if k.shared == nil {
		if err := k.server.folder.tail.Sync(); err != nil {
			return err
		}
	}
	return k.shard.log.Trim(context.Background(), through)
}

// write writes a generation, and returns how many entries had changed.
func (k *keeper) write() (changed int, err error) {
	if k.shared != nil {
		ctx, cancel := context.WithTimeout(context.Background(), lookTime)
		defer cancel()
		folder, err := k.shared.look(ctx)
		if err != nil {
			return 0, adviseShared(err)
		}
		k.folder = folder
	}
	m, entries, err := k.begin()
	if err != nil {
		return 0, err
	}
	w, err := k.folder.Begin(uint64(k.shard.partition.Leader().Epoch) << 32)
	if err != nil {
		return 0, err
	}
	old := k.unchanged(entries)
	thin := k.folder.Thin(func(e *image.Entry) bool { return old[e.Number] != nil })
	var stale []*store.Entry
	for _, e := range entries {
		switch kept := old[e.Number()]; {
		case kept == nil:
			stale = append(stale, e)
		case !thin[kept.Pack]:
			w.Keep(*kept)
		default:
			content, err := k.folder.Content(kept)
			if err == nil {
				err = w.Add(*kept, bytes.NewReader(content))
			}
			if err != nil {
				w.Cancel()
				return 0, err
			}
		}
	}
	if err := k.cutAll(w, m, stale); err != nil {
		w.Cancel()
		return 0, err
	}
	return len(stale), w.Commit(m)
}

var errEnded = errors.New("the server ends")

// begin returns the manifest of this moment, and all entries.
func (k *keeper) begin() (m *image.Manifest, entries []*store.Entry, err error) {
	p := k.shard.partition
	ok := p.Do(func() {
		m = &image.Manifest{Last: k.shard.store.LastNumber(), Gone: make(map[uint64]uint64)}
		m.Chain, m.Position = p.Place()
		k.shard.store.Entries(func(e *store.Entry) { entries = append(entries, e) })
	})
	if !ok {
		return nil, nil, errEnded
	}
	m.Hash, err = k.shard.store.Hash().MarshalBinary()
	return m, entries, err
}

// unchanged returns the images that are still right, by number.
func (k *keeper) unchanged(entries []*store.Entry) map[uint64]*image.Entry {
	last := k.folder.Last()
	old := make(map[uint64]*image.Entry)
	if last == nil {
		return old
	}
	images := make(map[uint64]*image.Entry, len(last.Entries))
	for i := range last.Entries {
		images[last.Entries[i].Number] = &last.Entries[i]
	}
	for _, e := range entries {
		if i := images[e.Number()]; i != nil && i.Record >= e.Version() {
			old[e.Number()] = i
		}
	}
	return old
}

// cutTime is how long commands may wait while sets are copied, but for one large set.
const cutTime = 2 * time.Millisecond

// A cut is an entry at one moment.
type cut struct {
	image.Entry
	content io.WriterTo
	live    *store.Entry // to be captured while it changes
}

// cutAll captures entries between commits, a few at a time, and writes them.
func (k *keeper) cutAll(w *image.Writer, m *image.Manifest, entries []*store.Entry) error {
	for len(entries) > 0 {
		var err error
		if entries, err = k.cutSome(w, m, entries); err != nil {
			return err
		}
	}
	return nil
}

// cutSome captures and writes the first entries, and returns the others.
func (k *keeper) cutSome(w *image.Writer, m *image.Manifest, entries []*store.Entry) (rest []*store.Entry, err error) {
	k.copying.Lock()
	defer k.copying.Unlock()
	var cuts []cut
	ok := k.shard.partition.Do(func() {
		cuts, rest, err = k.cut(m, entries)
	})
	if !ok {
		return nil, errEnded
	}
	for _, c := range cuts {
		if c.live != nil && err == nil {
			c.content, err = c.live.Snapshot()
		}
		if err == nil {
			err = w.Add(c.Entry, c.content)
		}
	}
	return rest, err
}

// cut captures entries for a short while and returns the others. The partition runs it.
func (k *keeper) cut(m *image.Manifest, entries []*store.Entry) (cuts []cut, rest []*store.Entry, err error) {
	chain, _ := k.shard.partition.Place()
	for started := time.Now(); len(entries) > 0 && time.Since(started) < cutTime; entries = entries[1:] {
		e := entries[0]
		if k.shard.store.ByNumber(e.Number()) != e {
			m.Gone[e.Number()] = chain.Number
			continue
		}
		c := cut{Entry: image.Entry{Meta: e.Meta(chain.Number)}}
		if e.Concurrent() {
			c.live = e
		} else if c.content, err = e.Stream(k.shard.partition.Do); err != nil {
			return nil, nil, err
		}
		cuts = append(cuts, c)
	}
	return cuts, entries, nil
}

// wait waits for images that are being written.
func (k *keeper) wait() {
	k.mu.Lock()
	defer k.mu.Unlock()
}
