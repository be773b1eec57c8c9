package partition

import (
	"encoding/binary"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/server/internal/record"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// A Tx is what units decide in: the store as it will be when the batch is applied. Only
// the goroutine of the partition uses it, while it decides.
type Tx struct {
	p       *Partition
	finder  store.Finder
	builder record.Builder
	keys    overlay
	copies  map[copyOf]uint64 // of keys of exact sets that this batch has changed
	foresight
	names   map[string]*store.Entry // decided in this batch; nil if the name is free
	changed []*store.Entry
	origins []Origin // of the keys of keyed effects, in order
	flushed bool     // names that are not in names are free
	bytes   int64    // of entries that this batch makes
	now     int64

	units   []decided
	partial bool  // a part of the unit that is deciding is committed
	atomic  bool  // no commit may happen
	refuse  error // why nothing can be changed
	err     error // of a commit in the middle of a unit; nothing more of it is decided
}

// A decided unit waits for the commit.
type decided struct {
	Unit
	partial bool // a part of it is committed
}

// A Fixer is told when a key's outcome is not the one that was answered in advance.
type Fixer interface {
	// Fix says what the reply at an offset must be. Offsets are those before any reply is
	// fixed.
	Fix(offset int, form Form, o store.Outcome)
}

// A Form is the form of a reply that may have to be fixed; its meaning is the Fixer's.
type Form uint8

// An Origin is where the reply about a key stands.
type Origin struct {
	fixer  Fixer
	offset int
	form   Form
	always bool // the reply is not known in advance
}

// At says where the reply about a key will stand.
func At(f Fixer, offset int, form Form) Origin { return Origin{fixer: f, offset: offset, form: form} }

// Now returns the time in milliseconds since 1970. It never goes back.
func (t *Tx) Now() int64 { return t.now }

// Refuses returns why nothing can be changed at the moment, nil if it can.
func (t *Tx) Refuses() error { return t.refuse }

// Failed reports whether a commit in the middle of the unit has failed. Then nothing more of
// the unit is decided, and the partition answers it with the error.
func (t *Tx) Failed() bool { return t.err != nil }

// Bytes returns the memory that all entries will take, and those that this batch makes.
func (t *Tx) Bytes() int64 { return t.p.store.Bytes() + t.bytes }

// Store returns the store, for what does not depend on the batch.
func (t *Tx) Store() *store.Store { return t.p.store }

// change marks an entry as changed by this batch.
func (t *Tx) change(e *store.Entry) {
	if !e.Ahead.Changed {
		e.Ahead.Changed = true
		t.changed = append(t.changed, e)
	}
}

// Create makes an empty entry. The name must be free.
func (t *Tx) Create(name []byte, spec store.Spec) (*store.Entry, error) {
	e, err := t.p.store.NewEntry(t.p.store.NextNumber(), string(name), spec, nil)
	if err != nil {
		return nil, err
	}
	t.insert(record.Create, e, nil)
	return e, t.err
}

// Adopt makes an entry with content, in the place of the one that has the name.
func (t *Tx) Adopt(name []byte, spec store.Spec, content []byte) (*store.Entry, error) {
	e, err := t.p.store.Adopt(t.p.store.NextNumber(), string(name), spec, content)
	if err != nil {
		return nil, err
	}
	for len(content) > maxPiece && !t.atomic && t.room(maxPiece) {
		t.builder.Data(record.Piece, e.Number(), content[:maxPiece])
		content = content[maxPiece:]
		t.Barrier()
	}
	if t.room(len(content) + headroom) { // the old entry goes in the record that brings the new one
		if old := t.Find(name); old != nil {
			t.drop(old, record.ByCommand)
		}
		t.insert(record.Adopt, e, content)
	}
	if t.err != nil {
		t.p.store.ForgetPieces()
		return nil, t.err
	}
	return e, nil
}

// MaxContent is how large the content of an entry may be that a transaction adopts.
const MaxContent = maxPiece

// maxPiece is how many bytes of a content are in one record.
const maxPiece = 1 << 20

// Silence says that the last replies of a fixer, from an offset on, are not sent.
func (t *Tx) Silence(f Fixer, offset int) {
	for i, o := range slices.Backward(t.origins) {
		if o.fixer != f || o.offset < offset {
			return
		}
		t.origins[i].fixer = nil
	}
}

// insert logs that an entry is there.
func (t *Tx) insert(code record.Code, e *store.Entry, content []byte) {
	if !t.room(len(content)) {
		return
	}
	spec := e.Described()
	data := append(spec.AppendTo(nil), content...)
	t.builder.Named(code, e.Number(), []byte(e.Ahead.Name), data)
	t.p.store.Pend(e)
	t.bytes += e.Bytes()
	t.names[e.Ahead.Name] = e
	t.change(e)
	t.p.expiries.set(spec.Expiry, e.Number())
}

// Drop takes an entry away.
func (t *Tx) Drop(e *store.Entry) { t.drop(e, record.ByCommand) }

func (t *Tx) drop(e *store.Entry, why record.Reason) {
	if !t.room(0) {
		return
	}
	t.builder.Data(record.Drop, e.Number(), []byte{byte(why)})
	t.names[e.Ahead.Name] = nil
	e.Ahead.Gone = true
	t.change(e)
	t.p.expiries.set(0, e.Number())
}

// Flush drops all entries.
func (t *Tx) Flush() {
	if !t.room(0) {
		return
	}
	t.builder.Data(record.Flush, 0, nil)
	for _, e := range t.names {
		if e != nil {
			e.Ahead.Gone = true
		}
	}
	clear(t.names)
	t.p.expiries.clear()
	t.flushed = true
}

// Rename gives an entry another name, and drops the one that has it.
func (t *Tx) Rename(e *store.Entry, name []byte) {
	if !t.room(len(name) + headroom) { // one record drops and renames
		return
	}
	if old := t.Find(name); old != nil && old != e {
		t.drop(old, record.ByCommand)
	}
	t.builder.Named(record.Rename, e.Number(), name, nil)
	t.names[e.Ahead.Name] = nil
	t.names[string(name)] = e
	e.Ahead.Name = string(name)
	t.change(e)
}

// Expire says when an entry ends; 0 means never.
func (t *Tx) Expire(e *store.Entry, at int64) {
	if !t.room(0) {
		return
	}
	t.builder.Data(record.Expire, e.Number(), binary.LittleEndian.AppendUint64(nil, uint64(at)))
	e.Ahead.Expiry = at
	t.change(e)
	t.p.expiries.set(at, e.Number())
}

// key logs a keyed effect. It reports false if nothing more of the unit is decided.
func (t *Tx) key(code record.Code, e *store.Entry, k filter.Key, from Origin) bool {
	if !t.room(0) {
		return false
	}
	t.logKey(code, e, k, from)
	return true
}

// logKey is key when there is room.
func (t *Tx) logKey(code record.Code, e *store.Entry, k filter.Key, from Origin) {
	t.builder.Key(code, e.Number(), k)
	t.origins = append(t.origins, from)
	t.change(e)
}

// Barrier commits what was decided so far, so that the store has it. It reports false if
// it cannot: inside of a transaction, or if the log fails or has failed in this unit.
func (t *Tx) Barrier() bool {
	switch {
	case t.err != nil:
		return false
	case t.atomic:
		return len(t.changed) == 0 && !t.flushed
	case t.builder.Effects() == 0:
		return true
	}
	t.err = t.p.commit()
	t.partial = t.partial || t.err == nil
	return t.err == nil
}

// Preview returns an entry as it will be when what was decided is applied, in a copy that is
// not in the store.
func (t *Tx) Preview(e *store.Entry) (*store.Entry, error) {
	_, effects, err := record.Open(t.builder.Record(record.Header{}))
	if err != nil {
		return nil, err
	}
	return t.p.store.Preview(e, effects)
}

// Clean reports whether nothing was decided about an entry that is not applied.
func (t *Tx) Clean(e *store.Entry) bool { return !e.Ahead.Changed && !t.flushed }

// room sees to it that one more effect with n bytes fits the record. It reports false if
// nothing more of the unit is decided.
func (t *Tx) room(n int) bool {
	if size := t.builder.Len(); !t.atomic && size > headroom && size+n > softLimit {
		t.Barrier()
	}
	return t.err == nil
}

// MaxAtomic is how many bytes of effects a transaction may have.
const MaxAtomic = record.MaxSize - softLimit

const (
	softLimit = 512 << 10 // of a record, but for transactions and contents
	headroom  = 1 << 10
)

// Atomic runs do so that everything it decides is in one record. size is how many bytes
// of effects that may be, at most MaxAtomic.
func (t *Tx) Atomic(size int, do func()) {
	if t.builder.Len()+size > softLimit {
		t.Barrier()
	}
	if t.err != nil {
		return
	}
	t.atomic = true
	do()
	t.atomic = false
}
