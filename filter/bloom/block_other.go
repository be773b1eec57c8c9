//go:build !amd64 || purego

package bloom

import "github.com/everbloom-go/everbloom/filter"

func (f *Blocked) has(k filter.Key) bool { return f.portableHas(k) }

func (f *Blocked) add(k filter.Key) uint64 { return f.portableAdd(k) }

func (f *Blocked) hasBatch(keys []filter.Key, out []bool) { f.portableHasBatch(keys, out) }

func (f *Blocked) addBatch(keys []filter.Key) (added int) { return f.portableAddBatch(keys) }

func (f *Blocked) isSimple() bool { return false }
