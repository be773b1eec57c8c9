package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/everbloom-go/everbloom/server/internal/image"
)

// images are the files of a partition. They are as they were when Images was called, and what
// was changed through this value. After a change by another node every change fails with
// ErrStale.
//
// Files are written to the cache. Renaming one stores it as an object and names it in the
// directory.
type images struct {
	cluster   *Cluster
	partition int
	cache     string
	objects   *objects

	mu       sync.Mutex
	dir      directory
	drafts   map[string]string // files that are not renamed yet, and where they are
	verified map[string]bool   // objects whose copy in the cache was checked
	swept    bool

	loading sync.Mutex // one object at a time
}

// Images opens the images of a partition. A node that begins to lead opens them anew.
func (c *Cluster) Images(ctx context.Context, partition int) (image.Disk, error) {
	if c.config.Cache == "" {
		return nil, errors.New("cluster: there is no folder for copies of images")
	}
	d := &images{
		cluster: c, partition: partition, cache: filepath.Join(c.config.Cache, strconv.Itoa(partition)),
		drafts: make(map[string]string), verified: make(map[string]bool),
	}
	err := os.MkdirAll(d.cache, 0o700)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	if d.objects, err = c.openObjects(ctx, partition); err != nil {
		return nil, err
	}
	if d.dir, err = c.readDirectory(ctx, partition); err != nil {
		return nil, err
	}
	return d, d.clean()
}

// draftPrefix is that of files that this process writes. Others are left from before.
func (d *images) draftPrefix() string { return "draft-" + d.cluster.instance + "-" }

// clean removes copies of objects that are not in use.
func (d *images) clean() error {
	entries, err := os.ReadDir(d.cache)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	for _, e := range entries {
		if d.dir.uses(e.Name()) || strings.HasPrefix(e.Name(), d.draftPrefix()) {
			continue
		}
		if err := os.Remove(filepath.Join(d.cache, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cluster: %w", err)
		}
	}
	return nil
}

// draft makes a file in the cache.
func (d *images) draft() (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(d.cache, d.draftPrefix()+rand.Text()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return f, nil
}

// Create makes a file that only this node sees until it is renamed.
func (d *images) Create(name string) (image.File, error) {
	f, err := d.draft()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if old, ok := d.drafts[name]; ok {
		_ = os.Remove(old) // it is replaced
	}
	d.drafts[name] = f.Name()
	return f, nil
}

// Rename stores a file and gives it a name that all nodes see.
func (d *images) Rename(from, to string) error {
	d.mu.Lock()
	path, ok := d.drafts[from]
	_, exists := d.dir.Files[to]
	d.mu.Unlock()
	switch {
	case !ok:
		return fmt.Errorf("cluster: image %s is not being written: %w", from, fs.ErrNotExist)
	case exists:
		return fmt.Errorf("cluster: image %s: %w", to, fs.ErrExist)
	}
	f, err := d.upload(path)
	if err != nil {
		return fmt.Errorf("cluster: storing image %s: %w", to, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	dir, err := d.cluster.writeDirectory(d.partition, d.dir.with(to, f))
	if err != nil {
		if errors.Is(err, ErrStale) {
			d.discard(f.ID)
		}
		return err
	}
	d.dir = dir
	delete(d.drafts, from)
	if err := os.Rename(path, filepath.Join(d.cache, f.ID)); err == nil {
		d.verified[f.ID] = true
	}
	d.sweep()
	return nil
}

// upload stores a file as an object.
func (d *images) upload(path string) (f stored, err error) {
	file, err := os.Open(path)
	if err != nil {
		return f, err
	}
	defer func() { _ = file.Close() }() // it was only read
	for range attempts {
		id := rand.Text()
		if _, err = file.Seek(0, io.SeekStart); err != nil {
			return f, err
		}
		if f, err = d.objects.put(d.cluster.ctx, id, file); err == nil {
			return f, nil
		}
		d.discard(id)
		if pause(d.cluster.ctx, betweenThem) != nil {
			break
		}
	}
	return f, err
}

// discard removes an object that no directory names. What stays is swept later.
func (d *images) discard(id string) {
	ctx, cancel := context.WithTimeout(d.cluster.ctx, requestTime)
	defer cancel()
	if err := d.objects.remove(ctx, id); err != nil {
		d.cluster.config.Logger.Debug("an object is left", "bucket", d.objects.bucket, "object", id, "error", err)
	}
}

// sweep removes what is left of nodes that ended, once. The caller has the lock.
func (d *images) sweep() {
	if d.swept {
		return
	}
	d.swept = true
	ctx, cancel := context.WithTimeout(d.cluster.ctx, imageTime)
	defer cancel()
	if err := d.objects.sweep(ctx, orphanAge, d.dir.uses); err != nil {
		d.cluster.config.Logger.Debug("objects are left", "bucket", d.objects.bucket, "error", err)
	}
}

// Remove removes a file.
func (d *images) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if path, ok := d.drafts[name]; ok {
		delete(d.drafts, name)
		return os.Remove(path)
	}
	f, err := d.dir.find(name)
	if err != nil {
		return err
	}
	dir, err := d.cluster.writeDirectory(d.partition, d.dir.without(name))
	if err != nil {
		return err
	}
	d.dir = dir
	d.discard(f.ID)
	_ = os.Remove(filepath.Join(d.cache, f.ID)) // or later, by clean
	return nil
}

// List returns the names of all files, and of those that are being written.
func (d *images) List() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := d.dir.names()
	for name := range d.drafts {
		names = append(names, name)
	}
	return names, nil
}

// Open opens a file to read it.
func (d *images) Open(name string) (io.ReadCloser, error) { return d.open(name) }

// ReadAt fills b from an offset of a file.
func (d *images) ReadAt(name string, b []byte, offset int64) error {
	f, err := d.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	_, err = f.ReadAt(b, offset)
	return err
}
