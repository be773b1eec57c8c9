//go:build amd64 && !purego

package perennial

import (
	"github.com/everbloom-go/everbloom/filter"
	"golang.org/x/sys/cpu"
)

// hasKernel tells whether filterHas can run here.
var hasKernel = cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT

// kernelWidth is the largest width of slots that filterHas knows.
const kernelWidth = 15

// filterHas is filterLookup, which it calls where it cannot tell.
//
//go:noescape
func filterHas(f *Filter, k filter.Key) bool

// ringPrefetch asks for the lines of n keys.
//
//go:noescape
func ringPrefetch(r *ring, keys *filter.Key, n int)
