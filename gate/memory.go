package gate

import (
	"unsafe"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// plain are the types of the gate's tables: they have no pointers.
type plain interface {
	bucket | filter.Key | int64 | tag | uint8
}

// table returns n zeroed elements that begin on a cache line, or an error if there is
// not enough memory.
func table[T plain](n uint64) ([]T, error) {
	var element T
	words, err := mem.Words((n*uint64(unsafe.Sizeof(element)) + 7) / 8)
	if err != nil {
		return nil, fault.In("gate", "%w: %w", filter.ErrStorage, err)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(words))), n), nil
}
