//go:build !amd64 || purego

package perennial

import "github.com/everbloom-go/everbloom/filter"

const (
	hasKernel   = false
	kernelWidth = 0
)

func filterHas(f *Filter, k filter.Key) bool { return filterLookup(f, k) }

type pending struct{}

func ringHasBatch(*ring, *filter.Key, int, *bool, *[stride]pending) (unknown uint64) {
	return ^uint64(0)
}

func ringPrefetch(*ring, *filter.Key, int) {}
