package evergreen

import (
	"slices"
	"strconv"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// A filter of few whole keys keeps them in a list: an ascending slice that is never
// changed. Each change makes a new slice, of exactly the size that is needed, under
// Filter.mu. The key that is one too many turns the list into a table, and a table
// that has shrunk to half as many turns back.
//
// Why no reader misses a key: the set is in the table if there is one, else in the
// list. To turn, the goroutine that holds mu, and for a table all its locks, first
// stores the new form, which holds the same keys, and then nil for the old one. In
// between both are there, neither changes, and both say the same. A reader loads the
// table, and if there is none the list:
//
//   - It finds a table. What that says is true of the moment when it was loaded or of
//     a later one while it is the filter's; a table that was replaced stays as it was
//     when that happened, for a writer that comes late gets errMoved and begins anew.
//   - It finds no table, and a list. The list was the filter's at the time of the
//     second load or, if a table was stored in between, just before that: lists do not
//     change after a table was stored.
//   - It finds neither: the table came and the list went in between. It begins anew.
//
// A list is stored as its keys would be in 256 blocks, and so a table that could be a
// list has one block more: so the two differ when they are read back.
type keyList []filter.Key

// listMost is how many keys a list has at most: 512 take as much as the blocks and
// pages of a table do when it is made four times over. It is a variable only so that
// tests can turn after few.
var listMost = 512

// noKeys is the list of all filters without keys.
var noKeys keyList

// has reports whether k is in the list.
func (l keyList) has(k filter.Key) bool {
	_, found := slices.BinarySearch(l, k)
	return found
}

// with returns the list with k at place i.
func (l keyList) with(i int, k filter.Key) *keyList {
	longer := make(keyList, len(l)+1)
	copy(longer, l[:i])
	longer[i] = k
	copy(longer[i+1:], l[i:])
	return &longer
}

// without returns the list without the key at place i.
func (l keyList) without(i int) *keyList {
	if len(l) == 1 {
		return &noKeys
	}
	shorter := make(keyList, len(l)-1)
	copy(shorter, l[:i])
	copy(shorter[i:], l[i+1:])
	return &shorter
}

// missing returns those of the keys that are not in the list, ascending.
func (l keyList) missing(keys []filter.Key) keyList {
	fresh := slices.Clone(keys)
	slices.Sort(fresh)
	return slices.DeleteFunc(slices.Compact(fresh), l.has)
}

// merged returns the list with the given keys, which it does not have.
func (l keyList) merged(fresh keyList) *keyList {
	all := make(keyList, 0, len(l)+len(fresh))
	for _, k := range fresh {
		at, _ := slices.BinarySearch(l, k)
		all = append(append(all, l[:at]...), k)
		l = l[at:]
	}
	all = append(all, l...)
	return &all
}

// listBits returns the memory of a list of n keys: the keys and where they are.
func listBits(n uint64) uint64 { return 64 * (n + 3) }

// listRate returns the rate of a list: that of keys whose hashes are equal.
func listRate(n uint64) float64 { return float64(n) * 0x1p-64 }

// info describes a filter of the list.
func (l keyList) info(s Shape) filter.Info {
	n := uint64(len(l))
	return filter.Info{
		Kind:      "evergreen",
		Keys:      n,
		Exact:     true,
		FastBits:  listBits(n),
		FPR:       listRate(n),
		Fill:      64 * float64(n) / float64(listBits(n)),
		Unbounded: true,
		Details: []filter.Detail{
			{Name: "keys in a list", Value: strconv.Itoa(len(l))},
			{Name: "asked rate", Value: quantity.Rate(s.FPR)},
		},
	}
}

// present returns the table or, if there is none, the list.
func (f *Filter) present() (*table, keyList) {
	for {
		if t := f.table.Load(); t != nil {
			return t, nil
		}
		if l := f.list.Load(); l != nil {
			return nil, *l
		}
	}
}

// addToList is Add for a filter that had no table. The answer is errMoved if it has
// one now.
func (f *Filter) addToList(k filter.Key) (added bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.table.Load() != nil {
		return false, errMoved
	}
	list := *f.list.Load()
	at, found := slices.BinarySearch(list, k)
	switch {
	case found:
		return false, nil
	case len(list) >= listMost:
		return false, f.toTable(list)
	}
	f.list.Store(list.with(at, k))
	return true, nil
}

// mergeIntoList is AddBatch for a filter that had no table, for a part of the keys.
func (f *Filter) mergeIntoList(keys []filter.Key) (done, added int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.table.Load() != nil {
		return 0, 0, errMoved
	}
	list := *f.list.Load()
	keys = keys[:min(len(keys), listMost)]
	fresh := list.missing(keys)
	switch {
	case len(list)+len(fresh) > listMost:
		return 0, 0, f.toTable(list)
	case len(fresh) > 0:
		f.list.Store(list.merged(fresh))
	}
	return len(keys), len(fresh), nil
}

// deleteFromList is Delete for a filter that had no table. The answer is errMoved if
// it has one now.
func (f *Filter) deleteFromList(k filter.Key) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.table.Load() != nil {
		return errMoved
	}
	list := *f.list.Load()
	at, found := slices.BinarySearch(list, k)
	if !found {
		return errNotFound
	}
	f.list.Store(list.without(at))
	return nil
}

// toTable has a table take the place of the list. The caller holds mu. The answer is
// errMoved, or ErrStorage and nothing has changed.
func (f *Filter) toTable(list keyList) error {
	t, err := tableOf(f.shape, list, f.shape.leastBlocks(""))
	if err != nil {
		return err
	}
	f.table.Store(t)
	f.list.Store(nil)
	return errMoved
}

// tableOf returns a table of the keys.
func tableOf(s Shape, list keyList, blocks uint64) (*table, error) {
	t, err := newTable(s, blocks, "")
	if err != nil {
		return nil, err
	}
	for _, k := range list {
		mixed := t.mixer.mix(k)
		if _, err := t.insert(t.stripes.of(addressOf(mixed)), mixed); err != nil {
			return nil, err
		}
	}
	t.finish(minBlocks)
	return t, nil
}

// backToList has a list take the place of t, if that has few keys. If something else
// is resizing t, that is left to later.
func (f *Filter) backToList(t *table) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.table.Load() == t && t.size.isListable() && t.load().blocks() <= t.size.least && t.size.TryLock() {
		f.tryList(t, listMost/2)
		t.size.Unlock()
	}
}

// tryList has a list take the place of t, if that has no more than so many keys. The
// caller holds mu and the lock of t.size.
func (f *Filter) tryList(t *table, most int) bool {
	t.stripes.lockAll()
	defer t.stripes.unlockAll()
	var keys int64
	for i := range t.stripes {
		keys += t.stripes[i].keys
	}
	if t.gone != inUse || keys > int64(most) {
		return false
	}
	f.toList(t, listOf(t, int(keys)))
	return true
}

// toList has a list take the place of t. The caller holds mu and all locks of t.
func (f *Filter) toList(t *table, list *keyList) {
	t.gone = moved
	f.list.Store(list)
	f.table.Store(nil)
}

// listOf returns the keys of a table of whole keys. The caller holds all its locks.
func listOf(t *table, keys int) *keyList {
	if keys == 0 {
		return &noKeys
	}
	list := make(keyList, 0, keys)
	var fingerprints []uint64
	for low := range uint64(minBlocks) {
		fingerprints = t.groupOf(t.stripes.of(low), fingerprints[:0], low)
		for _, fp := range fingerprints {
			list = append(list, t.mixer.key(mixedOf(fp, low, t.width)))
		}
	}
	slices.Sort(list)
	return &list
}
