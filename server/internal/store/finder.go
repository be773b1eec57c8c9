package store

// A Finder finds entries for one goroutine. It remembers the last one, because pipelines ask
// about the same name again and again.
type Finder struct {
	store   *Store
	name    []byte
	entry   *Entry
	renames uint64 // of the store before the entry was looked up; nothing is kept if it is 0
}

// maxKeptName is how long a name may be that a Finder remembers.
const maxKeptName = 256

// NewFinder returns a Finder for the entries of s.
func NewFinder(s *Store) Finder { return Finder{store: s} }

// Lookup is that of the store.
func (f *Finder) Lookup(name []byte, now int64) *Entry {
	renames := f.store.renames.Load() // before the lookup: what changes afterwards is noticed
	if renames != f.renames || string(name) != string(f.name) || renames == 0 {
		e := f.store.Lookup(name, 0)
		if e == nil || len(name) > maxKeptName {
			f.Forget()
			return e.at(now)
		}
		f.name, f.entry, f.renames = append(f.name[:0], name...), e, renames
	}
	return f.entry.at(now)
}

// Forget lets the entry go, which may be dropped while its goroutine waits.
func (f *Finder) Forget() { f.renames, f.entry = 0, nil }

// at returns the entry unless it has ended by now. It may be nil.
func (e *Entry) at(now int64) *Entry {
	if e == nil {
		return nil
	}
	if end := e.expiry.Load(); end != 0 && end <= now {
		return nil
	}
	return e
}
