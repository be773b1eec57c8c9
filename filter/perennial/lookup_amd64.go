//go:build amd64 && !purego

package perennial

import (
	"golang.org/x/sys/cpu"

	"github.com/everbloom-go/everbloom/filter"
)

// hasKernel tells whether filterHas can run here.
var hasKernel = cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT

// kernelWidth is the largest width of slots that filterHas knows.
const kernelWidth = 15

// filterHas is filterLookup, which it calls where it cannot tell.
//
//go:noescape
func filterHas(f *Filter, k filter.Key) bool

// A pending query of a batch is a cache line of numbers that assembly keeps from its first
// loop to its second.
type pending [8]uint64

// ringHasBatch answers for up to stride keys. The bits of unknown are those that it cannot
// tell.
//
//go:noescape
func ringHasBatch(r *ring, keys *filter.Key, n int, out *bool, room *[stride]pending) (unknown uint64)

// ringPrefetch asks for the lines of n keys.
//
//go:noescape
func ringPrefetch(r *ring, keys *filter.Key, n int)
