package filter

import (
	"errors"
	"io"
)

// Delete takes k out of f, or answers that f's kind cannot.
func Delete(f Filter, k Key) error {
	if d, ok := f.(Deleter); ok {
		return d.Delete(k)
	}
	return unsupported(f, "delete")
}

// DeleteBatch deletes the keys in order. Keys that are not found or are pinned are
// counted and passed over; any other error stops it.
func DeleteBatch(f Filter, keys []Key) (deleted, notFound, pinned int, err error) {
	var results [stride]error
	for len(keys) > 0 {
		n := min(stride, len(keys))
		done, err := DeleteEach(f, keys[:n], results[:n])
		for _, result := range results[:done] {
			switch {
			case result == nil:
				deleted++
			case errors.Is(result, ErrNotFound):
				notFound++
			default:
				pinned++
			}
		}
		if err != nil {
			return deleted, notFound, pinned, err
		}
		keys = keys[n:]
	}
	return deleted, notFound, pinned, nil
}

// DeleteEach deletes the keys in order and tells each key's result in results[i]: nil,
// ErrNotFound or ErrPinned. Any other error stops it; the first done keys have
// results. It panics if results is shorter than keys.
func DeleteEach(f Filter, keys []Key, results []error) (done int, err error) {
	d, ok := f.(Deleter)
	if !ok {
		return 0, unsupported(f, "delete")
	}
	results = results[:len(keys):len(results)]
	p, prefetches := f.(Prefetcher)
	for i, k := range keys {
		if prefetches && i%stride == 0 {
			p.PrefetchDelete(keys[i:min(i+stride, len(keys))])
		}
		results[i] = d.Delete(k)
		if err := results[i]; err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrPinned) {
			return i, err
		}
	}
	return len(keys), nil
}

// Union adds what is in other to f, or answers that f's kind cannot.
func Union(f, other Filter) error {
	if m, ok := f.(Merger); ok {
		return m.Union(other)
	}
	return unsupported(f, "merge")
}

// Intersect keeps in f at least what is in both, or answers that f's kind cannot.
func Intersect(f, other Filter) error {
	if m, ok := f.(Merger); ok {
		return m.Intersect(other)
	}
	return unsupported(f, "merge")
}

// Grow enlarges f by one step, or answers that f's kind cannot.
func Grow(f Filter) error {
	if r, ok := f.(Resizer); ok {
		return r.Grow()
	}
	return unsupported(f, "grow on demand")
}

// Shrink makes f smaller by one step, or answers that f's kind cannot.
func Shrink(f Filter) error {
	if r, ok := f.(Resizer); ok {
		return r.Shrink()
	}
	return unsupported(f, "shrink")
}

// Snapshot captures f, or answers that f's kind cannot be written.
func Snapshot(f Filter) (io.WriterTo, error) {
	if s, ok := f.(Snapshotter); ok {
		return s.Snapshot(), nil
	}
	return nil, unsupported(f, "be written")
}

// AddBatch adds the keys in order, at once where f can, else one by one.
// Its results are those of [Batcher].
func AddBatch(f Filter, keys []Key) (done, added int, err error) {
	if b, ok := f.(Batcher); ok {
		return b.AddBatch(keys)
	}
	for _, k := range keys {
		isNew, err := f.Add(k)
		if err != nil {
			return done, added, err
		}
		done++
		if isNew {
			added++
		}
	}
	return done, added, nil
}

// stride is how many keys are prefetched together: enough to keep the memory busy,
// few enough to stay in the first cache.
const stride = 16

// AddEach adds the keys in order and reports in added[i] whether keys[i] looked new.
// An error stops it; the first done keys are in the set. It panics if added is
// shorter than keys.
func AddEach(f Filter, keys []Key, added []bool) (done int, err error) {
	added = added[:len(keys):len(added)]
	p, prefetches := f.(Prefetcher)
	b, batches := f.(Batcher)
	for i, k := range keys {
		if i%stride == 0 {
			switch end := min(i+stride, len(keys)); {
			case prefetches:
				p.PrefetchAdd(keys[i:end])
			case batches:
				b.MayContainBatch(keys[i:end], added[i:end]) // for the cache only
			}
		}
		if added[i], err = f.Add(k); err != nil {
			return i, err
		}
	}
	return len(keys), nil
}

// MayContainBatch answers MayContain(keys[i]) in out[i], at once where f can,
// else one by one. It panics if out is shorter than keys.
func MayContainBatch(f Filter, keys []Key, out []bool) {
	if b, ok := f.(Batcher); ok {
		b.MayContainBatch(keys, out)
		return
	}
	out = out[:len(keys):len(out)]
	for i, k := range keys {
		out[i] = f.MayContain(k)
	}
}

// Contains reports whether k is in f, from the keys that f stores, or answers that f's
// kind does not store them.
func Contains(f Filter, k Key) (bool, error) {
	if e, ok := f.(Exact); ok {
		return e.Contains(k), nil
	}
	return false, unsupported(f, "answer exactly")
}

// Clear takes all keys out of f, or answers that f's kind cannot.
func Clear(f Filter) error {
	if c, ok := f.(Clearer); ok {
		return c.Clear()
	}
	return unsupported(f, "be cleared")
}

// Difference takes all keys of other out of f, or answers that f's kind cannot.
func Difference(f, other Filter) error {
	if d, ok := f.(Differencer); ok {
		return d.Difference(other)
	}
	return unsupported(f, "take differences")
}

// Abilities says which optional interfaces a filter has.
type Abilities struct {
	Delete     bool `json:"delete"`
	Merge      bool `json:"merge"`
	Resize     bool `json:"resize"`
	Batch      bool `json:"batch"`
	Snapshot   bool `json:"snapshot"`
	LockFree   bool `json:"lock_free"` // for readers
	Concurrent bool `json:"concurrent"`
}

// AbilitiesOf asks f's concrete type. A nil pointer of that type will do.
func AbilitiesOf(f Filter) Abilities {
	_, deletes := f.(Deleter)
	_, merges := f.(Merger)
	_, resizes := f.(Resizer)
	_, batches := f.(Batcher)
	_, snapshots := f.(Snapshotter)
	_, lockFree := f.(LockFree)
	_, concurrent := f.(Concurrent)
	return Abilities{
		Delete: deletes, Merge: merges, Resize: resizes,
		Batch: batches, Snapshot: snapshots, LockFree: lockFree || concurrent, Concurrent: concurrent,
	}
}
