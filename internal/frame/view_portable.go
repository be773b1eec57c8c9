//go:build purego || !(386 || amd64 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package frame

// view refuses: memory may have another order, or unsafe is not wanted.
func view([]uint64) (b []byte, ok bool) { return nil, false }
