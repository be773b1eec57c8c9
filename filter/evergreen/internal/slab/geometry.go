package slab

import (
	"encoding/binary"
	"sync"
	"unsafe"
)

const (
	pageBytes = 4096
	pageWords = pageBytes / 8
	pageBits  = 8*pageBytes + 64 // with its link

	// ownerBytes is the beginning of every run: the number of the block it belongs to.
	ownerBytes = 4

	// noOwner is the owner of a free place.
	noOwner = 1<<32 - 1
)

// runSizes are the sizes in bytes that a run can have. Each is a multiple of 8, and
// a page has hardly anything left over when it is cut into runs of one size. The
// first stands for no run at all.
var runSizes = [...]int{
	0, 32, 48, 64, 96, 128, 160, 208, 256, 336, 448, 584, 816, 1360, 4096,
}

const classCount = len(runSizes)

// perPage returns how many runs of a class a page holds.
func perPage(class int) int { return pageBytes / runSizes[class] }

// A Geometry says how fingerprints of one width lie in runs.
type Geometry struct {
	Width    int             // of a fingerprint in bytes
	Most     int             // how many a run holds at most
	capacity [classCount]int // of a run of each class, in fingerprints
	class    []uint8         // for each number of fingerprints
}

var geometries = func() (all [9]func() *Geometry) {
	for width := range all {
		all[width] = sync.OnceValue(func() *Geometry { return newGeometry(width) })
	}
	return all
}()

// GeometryOf returns the geometry of fingerprints of so many bytes, which is made when
// it is first needed.
func GeometryOf(width int) *Geometry { return geometries[width]() }

// newGeometry leaves room behind the last fingerprint, so that each can be read and
// written as 8 bytes.
func newGeometry(width int) *Geometry {
	g := &Geometry{Width: width}
	spare := ownerBytes + 8 - width
	g.class = []uint8{0}
	for c, size := range runSizes[1:] {
		g.capacity[c+1] = (size - spare) / width
		for len(g.class) <= g.capacity[c+1] {
			g.class = append(g.class, uint8(c+1))
		}
	}
	g.Most = len(g.class) - 1
	return g
}

// A Ref says where the run of a block lies and how many fingerprints it holds. The
// number implies the class. An empty block has no run and the ref 0.
type Ref uint64

const (
	addressBits = 48
	addressMask = 1<<addressBits - 1
)

func newRef(address uint64, count int) Ref { return Ref(uint64(count)<<addressBits | address) }

// Count returns the number of fingerprints.
func (r Ref) Count() int { return int(r >> addressBits) }

// address counts words from the beginning of the first page.
func (r Ref) address() uint64 { return uint64(r) & addressMask }

func owner(place []byte) uint32 { return binary.LittleEndian.Uint32(place) }

func setOwner(place []byte, block uint32) { binary.LittleEndian.PutUint32(place, block) }

// Bytes returns words as the bytes that they are made of.
func Bytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
