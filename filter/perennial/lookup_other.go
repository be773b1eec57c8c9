//go:build !amd64 || purego

package perennial

import "github.com/everbloom-go/everbloom/filter"

const (
	hasKernel   = false
	kernelWidth = 0
)

func filterHas(f *Filter, k filter.Key) bool { return filterLookup(f, k) }

func ringPrefetch(*ring, *filter.Key, int) {}
