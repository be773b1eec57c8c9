package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"time"
)

// imageTime is how long a change of the images of a partition may take, but for the transfer
// of files.
const imageTime = 30 * time.Second

// A stored file is an object.
type stored struct {
	ID     string // of the object
	Size   int64
	Digest string // SHA-256, as object stores write it
}

// A directory says which objects are the files of a partition. It is one value of the
// register: a change is made from what the writer has read, or fails.
type directory struct {
	Files    map[string]stored
	revision uint64
}

func directoryKey(partition int) string { return "images." + strconv.Itoa(partition) }

// readDirectory reads the directory of a partition.
func (c *Cluster) readDirectory(ctx context.Context, partition int) (d directory, err error) {
	b, revision, err := c.register.get(ctx, directoryKey(partition))
	if err == nil && revision > 0 {
		err = json.Unmarshal(b, &d)
	}
	if err != nil {
		return d, fmt.Errorf("cluster: images of partition %d: %w", partition, err)
	}
	d.revision = revision
	if d.Files == nil {
		d.Files = make(map[string]stored)
	}
	return d, nil
}

// writeDirectory changes the directory of a partition.
func (c *Cluster) writeDirectory(partition int, d directory) (directory, error) {
	ctx, cancel := context.WithTimeout(c.ctx, imageTime)
	defer cancel()
	b, err := json.Marshal(d)
	if err != nil {
		return d, fmt.Errorf("cluster: %w", err)
	}
	d.revision, err = c.register.put(ctx, directoryKey(partition), b, d.revision)
	if err != nil {
		return d, fmt.Errorf("cluster: images of partition %d: %w", partition, err)
	}
	return d, nil
}

// with returns the directory with a file more.
func (d directory) with(name string, f stored) directory {
	d.Files = maps.Clone(d.Files)
	d.Files[name] = f
	return d
}

// without returns the directory without a file.
func (d directory) without(name string) directory {
	d.Files = maps.Clone(d.Files)
	delete(d.Files, name)
	return d
}

// find returns a file.
func (d directory) find(name string) (stored, error) {
	f, ok := d.Files[name]
	if !ok {
		return f, fmt.Errorf("cluster: image %s: %w", name, fs.ErrNotExist)
	}
	return f, nil
}

// uses reports whether an object is a file.
func (d directory) uses(id string) bool {
	for _, f := range d.Files {
		if f.ID == id {
			return true
		}
	}
	return false
}

// names returns the names of all files.
func (d directory) names() []string { return slices.Sorted(maps.Keys(d.Files)) }
