package router

import (
	"bytes"
	"iter"
)

// slots is how many slots there are.
const slots = 16384

// crcTable is that of CRC16/XMODEM: polynomial 0x1021, nothing reflected.
var crcTable = func() (t [256]uint16) {
	for i := range t {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		t[i] = crc
	}
	return t
}()

// Slot returns the slot of a key: the checksum of its name, or of what stands between the
// first { and the first } behind it, if that is not empty.
func Slot(name []byte) int {
	if open := bytes.IndexByte(name, '{'); open >= 0 {
		if n := bytes.IndexByte(name[open+1:], '}'); n > 0 {
			name = name[open+1 : open+1+n]
		}
	}
	crc := uint16(0)
	for _, b := range name {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^b]
	}
	return int(crc) % slots
}

// Partition returns the partition of a key, of so many.
func Partition(name []byte, partitions int) int { return Slot(name) * partitions / slots }

// slotsOf returns the first and the last slot of a partition.
func slotsOf(i, partitions int) (first, last int) {
	return (i*slots + partitions - 1) / partitions, ((i+1)*slots+partitions-1)/partitions - 1
}

// A span is neighbouring slots with the same leader.
type span struct {
	first, last int
	leader      string // the name of the node, "" if it is not known
}

// spans yields the slots in order, by leader.
func (n *Node) spans() iter.Seq[span] {
	return func(yield func(span) bool) {
		var s span
		for i := range n.partitions {
			first, last := slotsOf(i, n.partitions)
			leader := n.shards.Leader(i).Node
			if i > 0 && leader == s.leader {
				s.last = last
				continue
			}
			if i > 0 && !yield(s) {
				return
			}
			s = span{first, last, leader}
		}
		yield(s)
	}
}
