package filter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// A bare filter has nothing but the three methods, and room for some keys.
type bare struct {
	keys map[Key]bool
	room int
}

func newBare(room int) *bare { return &bare{keys: make(map[Key]bool), room: room} }

func (f *bare) Add(k Key) (bool, error) {
	if f.keys[k] {
		return false, nil
	}
	if len(f.keys) == f.room {
		return false, fmt.Errorf("room for %d keys: %w", f.room, ErrFull)
	}
	f.keys[k] = true
	return true, nil
}

func (f *bare) MayContain(k Key) bool { return f.keys[k] }
func (f *bare) Info() Info            { return Info{Kind: "bare", Keys: uint64(len(f.keys))} }

// An able filter notes which of its abilities was asked for.
type able struct {
	*bare
	calls []string
}

func (f *able) called(name string) error {
	f.calls = append(f.calls, name)
	return errors.New(name)
}

func (f *able) Delete(k Key) error {
	switch {
	case k == 100:
		return fmt.Errorf("key %d: %w", k, ErrPinned)
	case k == 200:
		return f.called("Delete")
	case !f.keys[k]:
		return fmt.Errorf("key %d: %w", k, ErrNotFound)
	}
	delete(f.keys, k)
	return nil
}
func (f *able) Union(Filter) error     { return f.called("Union") }
func (f *able) Intersect(Filter) error { return f.called("Intersect") }
func (f *able) Grow() error            { return f.called("Grow") }
func (f *able) Shrink() error          { return f.called("Shrink") }
func (f *able) AddBatch(keys []Key) (done, added int, err error) {
	return 1, 2, f.called("AddBatch")
}
func (f *able) MayContainBatch([]Key, []bool) { _ = f.called("MayContainBatch") }
func (f *able) Snapshot() io.WriterTo         { return strings.NewReader("snapshot") }
func (f *able) ConcurrentUse()                {}

func TestAbilitiesAreThoseOfTheType(t *testing.T) {
	if got := AbilitiesOf((*bare)(nil)); got != (Abilities{}) {
		t.Errorf("a bare filter can %+v", got)
	}
	if got, want := AbilitiesOf((*able)(nil)), (Abilities{true, true, true, true, true, true, true}); got != want {
		t.Errorf("an able filter can %+v, want all", got)
	}
	for _, c := range []struct {
		f    Filter
		want Abilities
	}{
		{struct{ Deleter }{}, Abilities{Delete: true}},
		{struct{ Merger }{}, Abilities{Merge: true}},
		{struct{ Resizer }{}, Abilities{Resize: true}},
		{struct{ Batcher }{}, Abilities{Batch: true}},
		{struct{ Snapshotter }{}, Abilities{Snapshot: true}},
		{struct{ LockFree }{}, Abilities{LockFree: true}},
		{struct{ Concurrent }{}, Abilities{LockFree: true, Concurrent: true}},
	} {
		if got := AbilitiesOf(c.f); got != c.want {
			t.Errorf("%T can %+v, want %+v", c.f, got, c.want)
		}
	}
}

func TestMissingAbilitiesAreNamed(t *testing.T) {
	f := newBare(10)
	_, snapshotErr := Snapshot(f)
	_, _, _, batchErr := DeleteBatch(f, []Key{1})
	for want, err := range map[string]error{
		"filter: kind bare cannot delete":         Delete(f, 1),
		"filter: kind bare cannot delete ":        batchErr,
		"filter: kind bare cannot merge":          Union(f, f),
		"filter: kind bare cannot merge ":         Intersect(f, f),
		"filter: kind bare cannot grow on demand": Grow(f),
		"filter: kind bare cannot shrink":         Shrink(f),
		"filter: kind bare cannot be written":     snapshotErr,
	} {
		if err == nil || err.Error() != strings.TrimSpace(want) || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestAbilitiesAreUsed(t *testing.T) {
	f := &able{bare: newBare(10)}
	for name, run := range map[string]func() error{
		"Delete":    func() error { return Delete(f, 200) },
		"Union":     func() error { return Union(f, f) },
		"Intersect": func() error { return Intersect(f, f) },
		"Grow":      func() error { return Grow(f) },
		"Shrink":    func() error { return Shrink(f) },
		"AddBatch": func() error {
			done, added, err := AddBatch(f, []Key{1, 2, 3})
			if done != 1 || added != 2 {
				t.Errorf("AddBatch gives %d, %d, want what the filter said: 1, 2", done, added)
			}
			return err
		},
		"MayContainBatch": func() error {
			MayContainBatch(f, nil, nil)
			return errors.New("MayContainBatch")
		},
	} {
		f.calls = nil
		if err := run(); err == nil || err.Error() != name || !slices.Equal(f.calls, []string{name}) {
			t.Errorf("%s: error %v, calls %v", name, err, f.calls)
		}
	}
	w, err := Snapshot(f)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil || b.String() != "snapshot" {
		t.Errorf("snapshot %q, error %v", b.String(), err)
	}
}

func TestAddBatchFallsBackAndStopsAtAnError(t *testing.T) {
	f := newBare(3)
	done, added, err := AddBatch(f, []Key{1, 2, 1, 2})
	if done != 4 || added != 2 || err != nil {
		t.Errorf("done %d, added %d, error %v; want 4, 2, none", done, added, err)
	}
	done, added, err = AddBatch(f, []Key{2, 3, 4, 5})
	if done != 2 || added != 1 || !errors.Is(err, ErrFull) {
		t.Errorf("done %d, added %d, error %v; want 2, 1, ErrFull", done, added, err)
	}
	if done, added, err := AddBatch(f, nil); done != 0 || added != 0 || err != nil {
		t.Errorf("an empty batch: done %d, added %d, error %v", done, added, err)
	}
}

func TestMayContainBatchFallsBackAndMindsItsBounds(t *testing.T) {
	f := newBare(3)
	_, _, _ = AddBatch(f, []Key{1, 3})
	out := []bool{false, true, false, true}
	MayContainBatch(f, []Key{1, 2, 3}, out)
	if want := []bool{true, false, true, true}; !slices.Equal(out, want) {
		t.Errorf("answers %v, want %v, the last one untouched", out, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("too few answers and no panic")
		}
	}()
	MayContainBatch(f, []Key{1, 2, 3}, make([]bool, 2, 4)) // the capacity is not offered
}

func TestDeleteBatchCountsAndStopsAtAnError(t *testing.T) {
	f := &able{bare: newBare(10)}
	for _, k := range []Key{1, 2, 3} {
		_, _ = f.Add(k)
	}
	deleted, notFound, pinned, err := DeleteBatch(f, []Key{1, 9, 2, 100, 1})
	if deleted != 2 || notFound != 2 || pinned != 1 || err != nil {
		t.Errorf("deleted %d, not found %d, pinned %d, error %v; want 2, 2, 1, none", deleted, notFound, pinned, err)
	}
	deleted, notFound, pinned, err = DeleteBatch(f, []Key{9, 200, 3})
	if deleted != 0 || notFound != 1 || pinned != 0 || err == nil || err.Error() != "Delete" {
		t.Errorf("deleted %d, not found %d, pinned %d, error %v; want a stop at the second", deleted, notFound, pinned, err)
	}
	if !f.MayContain(3) {
		t.Error("a key behind the error was deleted")
	}
}

func TestInfoAsText(t *testing.T) {
	for d, want := range map[Duplicates]string{
		DuplicatesIgnored: "ignored", DuplicatesCounted: "counted", DuplicatesPin: "pinned", 7: "Duplicates(7)",
	} {
		if d.String() != want {
			t.Errorf("%d is %q, want %q", uint8(d), d.String(), want)
		}
	}
	text, err := json.Marshal(Info{Kind: "x", Keys: 2, FastBits: 20, SlowBits: 4, Duplicates: DuplicatesCounted})
	want := `{"kind":"x","keys":2,"exact":false,"fast_bits":20,"slow_bits":4,"fpr":0,"fill":0,"overfull":false,"unbounded":false,"duplicates":"counted"}`
	if err != nil || string(text) != want {
		t.Errorf("JSON %s, error %v; want %s", text, err, want)
	}
}

func TestBitsPerKeyCountsAllMemory(t *testing.T) {
	if got := (Info{Keys: 2, FastBits: 20, SlowBits: 4}).BitsPerKey(); got != 12 {
		t.Errorf("%g bits per key, want 12", got)
	}
	if got := (Info{FastBits: 20}).BitsPerKey(); got != 0 {
		t.Errorf("an empty set has %g bits per key, want 0", got)
	}
}
