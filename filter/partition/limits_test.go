package partition

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// TestMemoryOfAnIDIsBounded builds the worst sets that are known, of clusters that keep
// splitting and of lone ids around them, and reads them again.
func TestMemoryOfAnIDIsBounded(t *testing.T) {
	for _, c := range []struct {
		name  string
		shape Shape
		perID uint64 // bits
		size  uint64 // ids of a cluster
	}{
		{"by bits", Shape{IDBits: 64, Depth: 48, UnitBits: 1 << 14, Hashes: 64, Full: 1 << 12}, 4 * 48 * 64, 80},
		{"by count", Shape{IDBits: 64, Depth: 60, UnitBits: 1 << 14, Hashes: 64, Full: 1 << 14, Count: 16}, 16 * 60 * 64, 17},
	} {
		f := build(t, c.shape)
		for cluster := range uint64(8) {
			base := cluster << 61
			for id := range c.size {
				f.Add(filter.Key(base + id))
			}
			for bit := c.shape.IDBits - c.shape.Depth; bit < 61; bit++ {
				f.Add(filter.Key(base | 1<<bit))
			}
		}
		if f.units.n < 8*40 {
			t.Errorf("%s: %d units for %d ids: not the worst of sets", c.name, f.units.n, f.Len())
		}
		g, err := Read(bytes.NewReader(stored(t, f)))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, f := range []*Filter{f, g} {
			if got, most := uint64(f.units.n)*f.bits, f.bits+c.perID*f.Len(); got > most {
				t.Errorf("%s: %d ids have units of %d bits, want %d at most", c.name, f.Len(), got, most)
			}
		}
	}
}

// TestClustersWithLoneIDs holds the figure of the package comment.
func TestClustersWithLoneIDs(t *testing.T) {
	effort.OneGoroutine(t)
	f := filtertest.Make(t, New, Config{Universe: 1 << 32, FPR: 1e-4})
	for cluster := range uint64(64) {
		base := cluster << 26
		for id := range uint64(1100) {
			f.Add(filter.Key(base + id))
		}
		for bit := range 15 {
			f.Add(filter.Key(base | 1<<(11+bit)))
		}
	}
	if got := f.Info().BitsPerKey(); got < 320 || got > 350 {
		t.Errorf("%.1f bits per key, want 334", got)
	}
}

// TestSnapshotWithoutMemorySaysSo gives too little for the stored form.
func TestSnapshotWithoutMemorySaysSo(t *testing.T) {
	f := filtertest.Make(t, New, Config{})
	addUniform(t, f, 1000, 1)
	f.units.from = mem.Heap{Limit: 100}
	var b bytes.Buffer
	if _, err := f.Snapshot().WriteTo(&b); !errors.Is(err, filter.ErrStorage) || !errors.Is(err, mem.ErrMemory) || b.Len() > 0 {
		t.Errorf("%d bytes were written: %v", b.Len(), err)
	}
}

// TestSnapshotsAreImages compares for sets whose stored form ends anywhere in a word.
func TestSnapshotsAreImages(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	f := filtertest.Make(t, New, Config{Universe: 1 << 20, Depth: 14})
	for i := range 100 {
		if !bytes.Equal(filtertest.Stored(t, f), stored(t, f)) {
			t.Fatalf("%d ids: the snapshot differs from the image", i)
		}
		f.Add(filter.Key(rng.Uint64N(1 << 20)))
	}
}
