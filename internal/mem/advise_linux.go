//go:build linux && !purego

package mem

import (
	"syscall"
	"unsafe"
)

const hugePage = 2 << 20

// collapse is MADV_COLLAPSE, which package syscall does not have: make huge pages of
// what is there, now.
const collapse = 25

// adviseHuge asks for huge pages inside a block: from the first to the last boundary of
// such a page. It is only advice. Kernels without huge pages say no, and the block is as
// good as before. Pages that are not touched yet become huge when they are; small ones
// that the runtime recycled are joined here, at half a millisecond for each MiB (Linux
// 6.1 and later).
func adviseHuge(words []uint64) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(words)))
	skip := -start % hugePage
	size := uintptr(len(words)) * wordBytes
	if size < skip+hugePage {
		return
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
	inside := (size - skip) / hugePage * hugePage
	_ = syscall.Madvise(bytes[skip:skip+inside], syscall.MADV_HUGEPAGE)
	_ = syscall.Madvise(bytes[skip:skip+inside], collapse)
}

// adviseAround asks for huge pages wherever part of a block lies, for one of at least a
// thirty-second of such a page. Blocks that an array takes one after the other lie side by
// side as a rule, and the pages that they share would be missed otherwise.
func adviseAround(words []uint64) {
	size := uintptr(len(words)) * wordBytes
	if size < hugePage/32 {
		return
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(words)))
	first, end := start/hugePage*hugePage, (start+size+hugePage-1)/hugePage*hugePage
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, first, end-first, syscall.MADV_HUGEPAGE)
}
