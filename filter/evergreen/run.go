package evergreen

import (
	"encoding/binary"
	"unsafe"
)

// A ref says where the run of a block lies and how many fingerprints it holds. The
// number implies the class. An empty block has no run and the ref 0.
type ref uint64

const (
	addressBits = 48
	addressMask = 1<<addressBits - 1
)

func newRef(address uint64, count int) ref { return ref(uint64(count)<<addressBits | address) }

func (r ref) count() int { return int(r >> addressBits) }

// address counts words from the beginning of the first page.
func (r ref) address() uint64 { return uint64(r) & addressMask }

func (r ref) page() uint64 { return r.address() / pageWords }

// get returns fingerprint i of a run.
func (g *geometry) get(run []byte, i int) uint64 {
	return binary.LittleEndian.Uint64(run[ownerBytes+i*g.width:]) & g.mask
}

// put makes v fingerprint i of a run, and leaves those behind it.
func (g *geometry) put(run []byte, i int, v uint64) {
	b := run[ownerBytes+i*g.width:]
	binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)&^g.mask|v)
}

// add makes v fingerprint i of a run that has i.
func (g *geometry) add(run []byte, i int, v uint64) {
	binary.LittleEndian.PutUint64(run[ownerBytes+i*g.width:], v)
}

// portableFind returns the place of the first fingerprint v among n, or -1.
func (g *geometry) portableFind(run []byte, n int, v uint64) int {
	for i := range n {
		if g.get(run, i) == v {
			return i
		}
	}
	return -1
}

// fingerprints appends those of a run of n to list.
func (g *geometry) fingerprints(list []uint64, run []byte, n int) []uint64 {
	for i := range n {
		list = append(list, g.get(run, i))
	}
	return list
}

// fill writes the list into a run.
func (g *geometry) fill(run []byte, list []uint64) {
	for i, v := range list {
		g.add(run, i, v)
	}
}

func owner(run []byte) uint32 { return binary.LittleEndian.Uint32(run) }

func setOwner(run []byte, block uint32) { binary.LittleEndian.PutUint32(run, block) }

// bytesOf returns words as the bytes that they are made of.
func bytesOf(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
