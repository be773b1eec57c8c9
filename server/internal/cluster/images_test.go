package cluster_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/everbloom-go/everbloom/server/internal/cluster"
	"github.com/everbloom-go/everbloom/server/internal/cluster/clustertest"
	"github.com/everbloom-go/everbloom/server/internal/image"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// openImages opens the images of a partition at a node.
func openImages(t *testing.T, c *cluster.Cluster, partition int) image.Disk {
	t.Helper()
	d, err := c.Images(testContext(t), partition)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// contentOf is some megabytes.
func contentOf(text string) []byte { return bytes.Repeat([]byte(text), 3<<20/len(text)) }

// writeImages writes a generation with one entry.
func writeImages(f *image.Folder, text string) error {
	w, err := f.Begin(0)
	if err != nil {
		return err
	}
	e := image.Entry{Meta: store.Meta{Number: 1, Name: "set", Spec: store.Spec{Type: store.Text}}}
	if err := w.Add(e, bytes.NewReader(contentOf(text))); err != nil {
		return err
	}
	return w.Commit(&image.Manifest{Hash: []byte(text)})
}

// wantImages reads the newest generation.
func wantImages(t *testing.T, d image.Disk, text string) {
	t.Helper()
	f, err := image.Look(d)
	if err != nil {
		t.Fatal(err)
	}
	m := f.Last()
	if m == nil || string(m.Hash) != text {
		t.Fatalf("manifest %+v, want %q", m, text)
	}
	if b, err := f.Content(&m.Entries[0]); err != nil || !bytes.Equal(b, contentOf(text)) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// cached returns the files in the cache of a node.
func cached(t *testing.T, w *clustertest.Net, i, partition int) (paths []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(w.Dir(i), "cache", fmt.Sprint(partition), "*"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// testImages writes images at one node and reads them at others.
func testImages(t *testing.T, w *clustertest.Net) {
	t.Helper()
	first, err := image.Open(openImages(t, w.Node(0), 5))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two", "three"} {
		if err := writeImages(first, text); err != nil {
			t.Fatal(err)
		}
		wantImages(t, openImages(t, w.Node(1), 5), text)
	}
	t.Run("cache", func(t *testing.T) { testCache(t, w) })

	// The second node takes over. What the first one writes afterwards does not count, and
	// removes nothing.
	second, err := image.Open(openImages(t, w.Node(1), 5))
	if err != nil {
		t.Fatal(err)
	}
	if err := writeImages(second, "four"); err != nil {
		t.Fatal(err)
	}
	if err := writeImages(first, "late"); !errors.Is(err, cluster.ErrStale) {
		t.Error("the old writer:", err)
	}
	disk := openImages(t, w.Node(2), 5)
	wantImages(t, disk, "four")
	names, err := disk.List()
	if err != nil || !slices.Equal(names, []string{"manifest-3", "manifest-4", "pack-3", "pack-4"}) {
		t.Errorf("%q, %v", names, err)
	}
	if err := disk.Remove("pack-9"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := disk.Rename("pack-9.tmp", "pack-9"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if left := len(cached(t, w, 2, 5)); left != 3 {
		t.Errorf("%d files in the cache, want those that were read", left)
	}
}

// testCache damages all copies of a node, and leaves a file of another process.
func testCache(t *testing.T, w *clustertest.Net) {
	t.Helper()
	paths := cached(t, w, 1, 5)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2] ^= 1
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stray := filepath.Join(filepath.Dir(paths[0]), "draft-other-1")
	if err := os.WriteFile(stray, []byte("left"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantImages(t, openImages(t, w.Node(1), 5), "three")
	if _, err := os.Stat(stray); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file of another process is still there")
	}
}

// testLostObjects takes the objects away, that of the newest manifest first. The node that wrote
// them has copies.
func testLostObjects(t *testing.T, w *clustertest.Net) {
	t.Helper()
	f, err := image.Open(openImages(t, w.Node(0), 6))
	for _, text := range []string{"before", "kept"} {
		if err == nil {
			err = writeImages(f, text)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.RemoveObject(t.Context(), openImages(t, w.Node(0), 6), "manifest-2"); err != nil {
		t.Fatal(err)
	}
	wantImages(t, openImages(t, w.Node(1), 6), "before")
	stream, err := cluster.JetStream(w.Node(0)).Stream(t.Context(), "OBJ_everbloom-images-6")
	if err != nil {
		t.Fatal(err)
	}
	testSweep(t, openImages(t, w.Node(0), 6), stream)
	if err := stream.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantImages(t, openImages(t, w.Node(0), 6), "kept")
	if _, err := image.Look(openImages(t, w.Node(2), 6)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("without a copy:", err)
	}
}

// testSweep removes an object that is left of a node that ended, when it is old enough,
// and nothing else.
func testSweep(t *testing.T, d image.Disk, stream jetstream.Stream) {
	t.Helper()
	messages := func() uint64 {
		info, err := stream.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return info.State.Msgs
	}
	before := messages()
	if err := cluster.Orphan(t.Context(), d, bytes.NewReader(contentOf("orphan"))); err != nil {
		t.Fatal(err)
	}
	with := messages()
	if err := cluster.Sweep(t.Context(), d, time.Hour); err != nil || messages() != with {
		t.Errorf("young: %d messages of %d, %v", messages(), with, err)
	}
	if err := cluster.Sweep(t.Context(), d, 0); err != nil || messages() != before {
		t.Errorf("old: %d messages, want %d, %v", messages(), before, err)
	}
}

// testMoves stores files while the leader of the object store moves. What is stored is
// right: a message that is sent again would be behind later ones.
func testMoves(t *testing.T, w *clustertest.Net) {
	t.Helper()
	disk := openImages(t, w.Node(0), 7)
	content := bytes.Repeat(contentOf("moves"), 4)
	for i := range 3 {
		name := fmt.Sprint("pack-", i)
		f, err := disk.Create(name + ".tmp")
		if err == nil {
			_, err = f.Write(append(content, name...))
		}
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		moves := time.AfterFunc(time.Duration(i)*5*time.Millisecond, func() { cluster.StepDown(w.Node(1), "OBJ_everbloom-images-7") })
		waitFor(t, "a file is stored", func() bool { return disk.Rename(name+".tmp", name) == nil })
		moves.Stop()
	}
	other := openImages(t, w.Node(2), 7)
	names, err := other.List()
	if err != nil || len(names) != 3 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		r, err := other.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil || !bytes.Equal(b, append(content, name...)) {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}
