//go:build !amd64 || purego

package bloom

import "github.com/everbloom-go/everbloom/filter"

// HasFastPath reports whether the filter has MayContainFast and AddFast.
func (f *Blocked) HasFastPath() bool { return true }

// MayContainFast is MayContain for filters with a fast path, one call shorter.
func (f *Blocked) MayContainFast(k filter.Key) bool { return f.portableHas(k) }

// AddFast is Add for filters with a fast path. It returns how many bits it set, which the
// caller hands to CountBits later, and may run beside others that set bits of other
// blocks.
func (f *Blocked) AddFast(k filter.Key) (fresh uint64) { return f.portableAdd(k) }

func (f *Blocked) has(k filter.Key) bool { return f.portableHas(k) }

func (f *Blocked) add(k filter.Key) uint64 { return f.portableAdd(k) }

func (f *Blocked) hasBatch(keys []filter.Key, out []bool) { f.portableHasBatch(keys, out) }

func (f *Blocked) addBatch(keys []filter.Key) (added int) { return f.portableAddBatch(keys) }

func (f *Blocked) isSimple() bool { return false }
