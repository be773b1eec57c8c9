package filter

import (
	"io"
	"iter"
)

// A Filter is a set of Keys that may answer yes too often and never no.
// Unless it is [Concurrent], a caller that changes it must be alone with it;
// any number of callers may read at the same time.
type Filter interface {
	// Add puts k into the set. It reports whether k looked new. An error is
	// ErrFull or ErrStorage, and then nothing was changed.
	Add(k Key) (added bool, err error)

	// MayContain reports whether k may be in the set. False is certain.
	MayContain(k Key) bool

	// Info describes the filter as it stands. It is cheap.
	Info() Info
}

// A Deleter can take keys out again.
type Deleter interface {
	Filter

	// Delete takes k out of the set: nil, ErrNotFound or ErrPinned. What
	// deleting a key does that was never added, Info's Duplicates and the kind's
	// package comment say.
	Delete(k Key) error
}

// A Merger can take in other filters of its kind.
type Merger interface {
	Filter

	// Union adds what is in other. After an error (ErrIncompatible, ErrFull,
	// ErrStorage) nothing was changed.
	Union(other Filter) error

	// Intersect keeps at least what is in both. After an error (ErrIncompatible,
	// ErrStorage) nothing was changed.
	Intersect(other Filter) error
}

// A Resizer can change its size on demand.
type Resizer interface {
	Filter

	// Grow enlarges the filter by one step, so that its rate falls.
	Grow() error

	// Shrink makes the filter smaller by one step. It answers ErrFull, and nothing
	// was changed, if its keys do not fit into less or it has its least size.
	Shrink() error
}

// A Batcher handles many keys at once, faster than one by one.
type Batcher interface {
	Filter

	// AddBatch adds the keys in order. The first done of them are in the set
	// when it returns, added of these looked new; err tells why it stopped.
	AddBatch(keys []Key) (done, added int, err error)

	// MayContainBatch answers MayContain(keys[i]) in out[i]. It panics if out is
	// shorter than keys.
	MayContainBatch(keys []Key, out []bool)
}

// A Prefetcher can bring the memory that changes will touch into the cache. It changes
// nothing.
type Prefetcher interface {
	Filter

	// PrefetchAdd asks for what adding the keys, a few at a time, will touch.
	PrefetchAdd(keys []Key)

	// PrefetchDelete asks for what deleting them will touch.
	PrefetchDelete(keys []Key)
}

// A Clearer can be emptied.
type Clearer interface {
	Filter

	// Clear takes all keys out. The shape and the capacity stay. After an error,
	// ErrStorage, nothing was changed.
	Clear() error
}

// An Exact filter stores its keys, or so much of them that it can answer exactly.
type Exact interface {
	Filter

	// Contains reports whether k is in the set.
	Contains(k Key) bool
}

// A Lister can list its keys.
type Lister interface {
	Filter

	// Keys returns the keys in the set, in no order.
	Keys() iter.Seq[Key]
}

// A Differencer can take the keys of another filter out of its own.
type Differencer interface {
	Filter

	// Difference takes all keys of other out. After an error nothing was changed.
	Difference(other Filter) error
}

// A LockFree filter may be read while one caller changes it: MayContain and
// MayContainBatch may run beside each other and beside any one of the other methods,
// and a key that is in the set throughout is found. Changes must still exclude each
// other and everything else. A Concurrent filter asks for even less.
type LockFree interface {
	Filter

	// LockFreeReaders marks the type; it does nothing.
	LockFreeReaders()
}

// A Snapshotter can be written to a file.
type Snapshotter interface {
	Filter

	// Snapshot captures the filter as it is now. The caller holds whatever lock
	// protects the filter during Snapshot, and need not hold it while the result
	// is written. Concurrent kinds say what their cut is.
	Snapshot() io.WriterTo
}

// A Concurrent filter may be used by many goroutines without outside locks.
type Concurrent interface {
	Filter

	// ConcurrentUse marks the type; it does nothing.
	ConcurrentUse()
}
