package evergreen

import (
	"unsafe"

	"github.com/everbloom-go/everbloom/filter"
)

// What is here asks for memory that will be needed soon, so that cache misses
// overlap. It changes nothing.

// prefetchAdd asks for the blocks of keys that will be added. Filters that are large
// enough for it to pay have inboxes, and so need nothing else soon.
func (t *table) prefetchAdd(keys []filter.Key) {
	if t.load().blocks() < prefetchFrom {
		return
	}
	for _, k := range keys {
		t.expectBlock(t.mixer.mix(k))
	}
}

// prefetchDelete asks for all that deleting the first 16 keys will need: first for
// the blocks and the refs, then for the runs. It takes no lock, so what it finds may
// be out of date, and is only a hint.
func (t *table) prefetchDelete(keys []filter.Key) {
	keys = keys[:min(stride, len(keys))]
	n := t.load().blocks()
	if n < prefetchFrom || t.file != nil { // which could be closed meanwhile
		return
	}
	var refs [stride]*uint64
	for j, k := range keys {
		i := t.place(t.mixer.mix(k), n)
		t.lines.expect(i)
		if words := t.store.refs.At(i); words != nil {
			refs[j] = &words[0]
			prefetch(unsafe.Pointer(refs[j]))
		}
	}
	for _, p := range refs[:len(keys)] {
		if p != nil {
			t.store.expectRun(ref(peek(p)))
		}
	}
}

// expectKey asks for what deleting a mixed key will need.
func (t *table) expectKey(mixed uint64) {
	n := t.load().blocks()
	if n < prefetchFrom || t.file != nil {
		return
	}
	t.expectBlock(mixed)
	if words := t.store.refs.At(t.place(mixed, n)); words != nil {
		t.store.expectRun(ref(peek(&words[0])))
	}
}

// expectSplit asks for what splitting the block that is next in turn among n, or
// undoing that, needs.
func (t *table) expectSplit(n uint64) {
	if n < prefetchFrom {
		return
	}
	lower, _ := split(n)
	for _, i := range [2]uint64{lower, n} {
		t.lines.expect(i)
		if words := t.store.refs.At(i); words != nil {
			t.store.expectRun(ref(peek(&words[0])))
		}
	}
}

// expect asks for a block.
func (l *lines) expect(i uint64) { prefetch(unsafe.Pointer(l.at(i))) }

// expectTail asks for the end of a run, or all of it if it will have to move.
func (s *store) expectTail(r ref) {
	n := r.count()
	if n == s.capacity[s.classes[n]] {
		s.expectRun(r)
		return
	}
	prefetch(unsafe.Pointer(&s.run(r)[ownerBytes+n*s.width]))
}

// expectPlace asks for the beginning of a place, given its address plus one, or 0 if
// there is none.
func (s *store) expectPlace(address uint64) {
	if address != 0 {
		prefetch(unsafe.Pointer(&s.pages.words.At((address - 1) / pageWords)[(address-1)%pageWords]))
	}
}

// expectRun asks for the lines of a run.
func (s *store) expectRun(r ref) {
	words := s.pages.words.At(r.page())
	if words == nil || r.count() == 0 {
		return
	}
	first := r.address() % pageWords * 8
	bytes := min(uint64(ownerBytes+r.count()*s.width), pageBytes-first)
	prefetchRun(&bytesOf(words)[first], int(bytes))
}
