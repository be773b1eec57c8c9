package cluster

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"
)

// open opens the copy of a file in the cache, which is fetched if it is missing or wrong.
func (d *images) open(name string) (*os.File, error) {
	d.mu.Lock()
	f, err := d.dir.find(name)
	known := d.verified[f.ID]
	d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	d.loading.Lock()
	defer d.loading.Unlock()
	path := filepath.Join(d.cache, f.ID)
	if known || verify(path, f) {
		if file, err := os.Open(path); err == nil {
			d.trust(f.ID)
			return file, nil
		}
	}
	if err := d.fetch(f, path); err != nil {
		return nil, fmt.Errorf("cluster: image %s: %w", name, err)
	}
	d.trust(f.ID)
	return os.Open(path)
}

// trust notes that the copy of an object was checked.
func (d *images) trust(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.verified[id] = true
}

// verify reports whether a copy is what was stored.
func verify(path string, f stored) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // it was only read
	h := sha256.New()
	n, err := io.Copy(h, file)
	return err == nil && n == f.Size && jetstream.GetObjectDigestValue(h) == f.Digest
}

// fetch brings an object to the cache.
func (d *images) fetch(f stored, path string) error {
	file, err := d.draft()
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // it was renamed, or is not wanted
	for range attempts {
		if _, err = file.Seek(0, io.SeekStart); err == nil {
			err = file.Truncate(0)
		}
		if err == nil {
			err = d.objects.get(d.cluster.ctx, f, file)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) || pause(d.cluster.ctx, tryAgain) != nil {
			break
		}
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
