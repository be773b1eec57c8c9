package line

import "encoding/binary"

// A Run is fingerprints that lie side by side. Bytes goes on for 8 bytes behind the
// beginning of the last one, so that each can be read and written as a word.
type Run struct {
	Bytes []byte
	Count int
	*Form
}

// A Form is what all fingerprints of a filter have in common.
type Form struct {
	Width int    // in bytes
	Mask  uint64 // the bits of that width
}

// FormOf returns the form of fingerprints of so many bytes.
func FormOf(width int) Form { return Form{Width: width, Mask: 1<<(8*width) - 1} }

// At returns fingerprint i.
func (r Run) At(i int) uint64 { return binary.LittleEndian.Uint64(r.Bytes[i*r.Width:]) & r.Mask }

// Set makes v fingerprint i, and leaves those behind it.
func (r Run) Set(i int, v uint64) {
	b := r.Bytes[i*r.Width:]
	binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)&^r.Mask|v)
}

// SetLast makes v fingerprint i, and may overwrite those behind it.
func (r Run) SetLast(i int, v uint64) { binary.LittleEndian.PutUint64(r.Bytes[i*r.Width:], v) }

// AppendTo appends all fingerprints to list.
func (r Run) AppendTo(list []uint64) []uint64 {
	for i := range r.Count {
		list = append(list, r.At(i))
	}
	return list
}

func (r Run) portableFind(v uint64) int {
	for i := range r.Count {
		if r.At(i) == v {
			return i
		}
	}
	return -1
}
