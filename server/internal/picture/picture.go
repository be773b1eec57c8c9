package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// A Part is an array of cells.
type Part struct {
	Title string
	Width int // cells in a row
	Cells []Cell

	// Asked says that the filter asks the cells that the key touches: if all of them are on,
	// in one such part, the key may be in the set.
	Asked bool
}

// A Cell is a bit, or a number that is stored.
type Cell struct {
	Text    string // of a number; empty for a bit, and for a number if there is none
	On      bool
	Touched bool // by the key
	Zone    Zone
}

// A Zone is what a cell is for, where a part has cells of several uses.
type Zone int

// The zones.
const (
	Plain  Zone = iota
	Marked      // of a region where keys collided
	Head        // of a line: how many buckets it has
	Map         // of a line: how many slots each bucket has
	Slot        // of a line: every other slot, so that they can be told apart
)

// Small returns an empty filter of a kind that is small enough to be drawn.
func Small(kind string) (filter.Filter, error) {
	small := map[string]func() (filter.Filter, error){
		"bloom":   func() (filter.Filter, error) { return bloom.Build(bloom.Shape{Bits: 64, Hashes: 4}) },
		"blocked": func() (filter.Filter, error) { return bloom.BuildBlocked(bloom.BlockedShape{Blocks: 2, Hashes: 8}) },
		"counting": func() (filter.Filter, error) {
			return counting.Build(counting.Shape{Counters: 64, Hashes: 4, CounterBits: 4})
		},
		"deletable": func() (filter.Filter, error) {
			return deletable.Build(deletable.Shape{Bits: 80, Hashes: 4, Regions: 16})
		},
		"dleft": func() (filter.Filter, error) {
			return dleft.Build(dleft.Shape{Subtables: 3, Buckets: 4, Cells: 4, Remainder: 6, Counter: 2})
		},
		"scalable": func() (filter.Filter, error) { return scalable.Build(scalable.Shape{Items: 12, FPR: 0.1}) },
		"dynamic":  func() (filter.Filter, error) { return dynamic.Build(smallUnit()) },
		"parallel": func() (filter.Filter, error) {
			return dynamic.BuildParallel(dynamic.ParallelShape{Partitions: 2, Shape: smallUnit()})
		},
		"partition": func() (filter.Filter, error) {
			return partition.Build(partition.Shape{IDBits: 32, Depth: 16, UnitBits: 64, Hashes: 4, Full: 32})
		},
		"elastic":   func() (filter.Filter, error) { return elastic.New(elastic.Config{Items: 12, FPR: 0.1, Hashes: 3}) },
		"evergreen": func() (filter.Filter, error) { return evergreen.New(evergreen.Config{FPR: 0.1}) },
		"perennial": func() (filter.Filter, error) { return perennial.New(perennial.Config{Items: 40, FPR: 0.1}) },
	}
	build, ok := small[kind]
	if !ok {
		return nil, fmt.Errorf("picture: no kind is called %q", kind)
	}
	return build()
}

func smallUnit() dynamic.Shape {
	return dynamic.Shape{Positions: 64, Hashes: 4, CounterBits: 4, Full: 32}
}

// Draw returns the parts of a filter, with the cells that a key touches, unless it is nil.
func Draw(f filter.Filter, k *filter.Key) ([]Part, error) {
	switch f := f.(type) {
	case *bloom.Filter:
		return drawBloom(f, k)
	case *bloom.Blocked:
		return drawBlocked(f, k)
	case *counting.Filter:
		return drawCounting(f, k)
	case *deletable.Filter:
		return drawDeletable(f, k)
	case *dleft.Filter:
		return drawDleft(f, k)
	case *scalable.Filter:
		return drawScalable(f, k)
	case *dynamic.Filter:
		return drawLists(f, f.Shape(), 1, func() (filter.Filter, error) { return dynamic.Build(f.Shape()) }, k)
	case *dynamic.Parallel:
		return drawLists(f, f.Shape().Shape, f.Shape().Partitions, func() (filter.Filter, error) { return dynamic.BuildParallel(f.Shape()) }, k)
	case *partition.Filter:
		return drawPartition(f, k)
	case *elastic.Filter:
		return drawElastic(f, k)
	case *evergreen.Filter:
		return drawEvergreen(f, k), nil
	case *perennial.Filter:
		return drawPerennial(f, k)
	}
	return nil, fmt.Errorf("picture: %T cannot be drawn", f)
}

// words returns the payload of the stored form of a filter.
func words(f filter.Filter) ([]uint64, error) {
	s, ok := f.(filter.Snapshotter)
	if !ok {
		return nil, fmt.Errorf("picture: %T cannot be stored", f)
	}
	var b bytes.Buffer
	if _, err := s.Snapshot().WriteTo(&b); err != nil {
		return nil, err
	}
	r, err := frame.Open(&b)
	if err != nil {
		return nil, err
	}
	payload, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	out := make([]uint64, len(payload)/8)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(payload[8*i:])
	}
	return out, nil
}

// with adds a key to a filter, which is empty so far.
func with[F filter.Filter](f F, err error, k filter.Key) (F, error) {
	if err == nil {
		_, err = f.Add(k)
	}
	return f, err
}

// touchedBy returns the words of a filter of a shape with one key; nil if there is none.
func touchedBy[S any, F interface {
	filter.Filter
	Words() []uint64
}](k *filter.Key, shape S, build func(S) (F, error),
) ([]uint64, error) {
	if k == nil {
		return nil, nil
	}
	f, err := build(shape)
	if f, err = with(f, err, *k); err != nil {
		return nil, err
	}
	return f.Words(), nil
}

// cellsOf returns n bits as cells; those that are set in touched are touched.
func cellsOf(of, touched []uint64, n uint64) []Cell {
	cells := make([]Cell, n)
	for i := range cells {
		cells[i].On = of[i/64]>>(i%64)&1 != 0
		cells[i].Touched = touched != nil && touched[i/64]>>(i%64)&1 != 0
	}
	return cells
}
