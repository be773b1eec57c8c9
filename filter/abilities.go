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

// DeleteBatch deletes the keys one by one. Keys that were not found or are
// pinned are counted and passed over; any other error stops it.
func DeleteBatch(f Filter, keys []Key) (deleted, notFound, pinned int, err error) {
	d, ok := f.(Deleter)
	if !ok {
		return 0, 0, 0, unsupported(f, "delete")
	}
	for _, k := range keys {
		switch err := d.Delete(k); {
		case err == nil:
			deleted++
		case errors.Is(err, ErrNotFound):
			notFound++
		case errors.Is(err, ErrPinned):
			pinned++
		default:
			return deleted, notFound, pinned, err
		}
	}
	return deleted, notFound, pinned, nil
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

// Abilities says which optional interfaces a filter has.
type Abilities struct {
	Delete     bool `json:"delete"`
	Merge      bool `json:"merge"`
	Resize     bool `json:"resize"`
	Batch      bool `json:"batch"`
	Snapshot   bool `json:"snapshot"`
	Concurrent bool `json:"concurrent"`
}

// AbilitiesOf asks f's concrete type. A nil pointer of that type will do.
func AbilitiesOf(f Filter) Abilities {
	_, deletes := f.(Deleter)
	_, merges := f.(Merger)
	_, resizes := f.(Resizer)
	_, batches := f.(Batcher)
	_, snapshots := f.(Snapshotter)
	_, concurrent := f.(Concurrent)
	return Abilities{
		Delete: deletes, Merge: merges, Resize: resizes,
		Batch: batches, Snapshot: snapshots, Concurrent: concurrent,
	}
}
