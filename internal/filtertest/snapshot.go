package filtertest

import (
	"bytes"
	"errors"
	"io"
	"testing/iotest"

	"github.com/everbloom-go/everbloom/filter"
)

// snapshotReadsBackEqual writes filters of several sizes, reads them back, and
// goes on with both: equal filters stay equal.
func snapshotReadsBackEqual(c checker) {
	for _, n := range []uint64{1, 100, 5000} {
		stream := c.stream(n)
		keys := stream.Keys(n + n/2 + 1)
		f := c.make(2*n, 0.01)
		c.wantTwin(f, nil, stream, "an empty filter")
		c.addAll(f, keys[:n])
		g := c.wantTwin(f, keys[:n], stream, "a filter")

		for i := range n / 2 {
			c.sameDelete(f, g, keys[i])
		}
		c.addAll(f, keys[n:])
		c.addAll(g, keys[n:])
		if !bytes.Equal(c.state(f), c.state(g)) {
			c.Errorf("a filter that was read back went another way than the original after the same changes")
		}
	}
}

// sameDelete deletes k from both, if they can.
func (c checker) sameDelete(f, g filter.Filter, k filter.Key) {
	one, other := filter.Delete(f, k), filter.Delete(g, k)
	if (one == nil) != (other == nil) {
		c.Fatalf("deleting %#x: %v from the original, %v from the filter read back", k, one, other)
	}
}

// wantTwin writes f, reads it back and checks that the two are equal in all that shows.
func (c checker) wantTwin(f filter.Filter, keys []filter.Key, stream Stream, what string) filter.Filter {
	stored := c.state(f)
	g, err := c.s.Read(bytes.NewReader(stored))
	if err != nil {
		c.Fatalf("reading back %s of %d keys: %v", what, len(keys), err)
	}
	c.wantSame(g, f.Info(), stored, what+" was written and read back: that")
	c.wantAll(g, keys, what+", read back")
	for i := range uint64(2000) {
		if k := stream.Absent(i); f.MayContain(k) != g.MayContain(k) {
			c.Fatalf("%s and its twin, read back, answer differently for absent key %d, %#x", what, i, k)
		}
	}
	slow, err := c.s.Read(iotest.OneByteReader(bytes.NewReader(stored)))
	if err != nil {
		c.Fatalf("reading back %s byte by byte: %v", what, err)
	}
	c.wantSame(slow, f.Info(), stored, what+" was written and read back byte by byte: that")
	return g
}

// snapshotIsFrozen takes two snapshots at one moment. One is written at once, the
// other after the filter has changed.
func snapshotIsFrozen(c checker) {
	const n = 5000
	keys := c.keys(73, 2*n)
	f := c.make(2*n, 0.01).(filter.Snapshotter)
	c.addAll(f, keys[:n])
	early, late := f.Snapshot(), f.Snapshot()
	want := c.written(early)
	c.addAll(f, keys[n:])
	for _, k := range keys[:n] {
		_ = filter.Delete(f, k)
	}
	_ = filter.Grow(f)
	_, _, _ = filter.AddBatch(f, c.keys(74, 100))
	if bytes.Equal(c.state(f), want) {
		c.Error("the filter was changed, and its snapshot is the same as before")
	}
	if !bytes.Equal(c.written(late), want) {
		c.Error("a snapshot changed with the filter after it was taken")
	}
}

// imageIsTheSnapshot is about kinds that can be written without a copy.
func imageIsTheSnapshot(c checker) {
	c.wantImage(c.filled(c.keys(97, 500)))
}

// wantImage checks that f's Image, if it has one, is written as its Snapshot is.
func (c checker) wantImage(f filter.Filter) {
	i, ok := f.(interface{ Image() io.WriterTo })
	if ok && !bytes.Equal(c.written(i.Image()), c.state(f)) {
		c.Error("Image and Snapshot are written as different bytes")
	}
}

// snapshotReportsWriteErrors fails the writer after some bytes, at the start, in
// the middle and with the last.
func snapshotReportsWriteErrors(c checker) {
	f := c.filled(c.keys(79, 2000)).(filter.Snapshotter)
	size := len(c.state(f))
	for _, room := range []int{0, 1, 20, size / 2, size - 1} {
		w := &fullWriter{room: room}
		n, err := f.Snapshot().WriteTo(w)
		if !errors.Is(err, errNoRoom) {
			c.Errorf("writing %d bytes where %d fit: error %v, want that of the writer", size, room, err)
		}
		if n > int64(room) {
			c.Errorf("writing where %d bytes fit: WriteTo reports %d", room, n)
		}
	}
}

var errNoRoom = errors.New("no room left")

// A fullWriter takes some bytes and fails from then on.
type fullWriter struct{ room int }

func (w *fullWriter) Write(b []byte) (int, error) {
	n := min(len(b), w.room)
	w.room -= n
	if n < len(b) {
		return n, errNoRoom
	}
	return n, nil
}

var _ io.Writer = (*fullWriter)(nil)
