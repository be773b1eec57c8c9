package line

import "encoding/binary"

// A Run is fingerprints of one width that lie side by side. Bytes goes on for 8 bytes
// behind the beginning of the last one, so that each can be read and written as a word.
// It is of four words, as many as the compiler keeps in registers.
type Run struct {
	Bytes []byte
	count int32
	width int32 // in bytes
}

// NewRun returns the run of the first fingerprints of bytes.
func NewRun(bytes []byte, count, width int) Run {
	return Run{Bytes: bytes, count: int32(count), width: int32(width)}
}

// Mask returns the bits of fingerprints of so many bytes, at least one.
func Mask(width int) uint64 { return ^uint64(0) >> (64 - 8*width) }

// Len returns the number of fingerprints.
func (r Run) Len() int { return int(r.count) }

func (r Run) mask() uint64 { return Mask(int(r.width)) }

// At returns fingerprint i.
func (r Run) At(i int) uint64 { return binary.LittleEndian.Uint64(r.Bytes[i*int(r.width):]) & r.mask() }

// Set makes v fingerprint i, and leaves those behind it.
func (r Run) Set(i int, v uint64) {
	b := r.Bytes[i*int(r.width):]
	binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)&^r.mask()|v)
}

// SetLast makes v fingerprint i, and may overwrite those behind it.
func (r Run) SetLast(i int, v uint64) { binary.LittleEndian.PutUint64(r.Bytes[i*int(r.width):], v) }

// AppendTo appends all fingerprints to list.
func (r Run) AppendTo(list []uint64) []uint64 {
	for i := range r.Len() {
		list = append(list, r.At(i))
	}
	return list
}

func (r Run) portableFind(v uint64) int {
	for i := range r.Len() {
		if r.At(i) == v {
			return i
		}
	}
	return -1
}
