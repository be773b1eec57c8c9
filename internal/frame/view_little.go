//go:build !purego && (386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package frame

import "unsafe"

// view returns the memory of words as bytes in little-endian order, without
// copying. The bytes live and change with the words.
func view(words []uint64) (b []byte, ok bool) {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words)), true
}
