package evergreen

import (
	"unsafe"

	"github.com/everbloom-go/everbloom/filter"
)

// What is here asks for memory that will be needed soon, so that cache misses
// overlap. It changes nothing.

// PrefetchAdd asks for the blocks of keys that will be added. Filters that are large
// enough for it to pay have inboxes, and so need nothing else soon.
func (f *Filter) PrefetchAdd(keys []filter.Key) {
	if f.load().blocks() < prefetchFrom {
		return
	}
	for _, k := range keys {
		f.expectBlock(f.mixer.mix(k))
	}
}

// PrefetchDelete asks for all that deleting the first 16 keys will need: first for
// the blocks and the refs, then for the runs. It takes no lock, so what it finds may
// be out of date, and is only a hint.
func (f *Filter) PrefetchDelete(keys []filter.Key) {
	keys = keys[:min(stride, len(keys))]
	n := f.load().blocks()
	if n < prefetchFrom || f.file != nil { // which could be closed meanwhile
		return
	}
	var refs [stride]*uint64
	for j, k := range keys {
		i := f.place(f.mixer.mix(k), n)
		f.lines.expect(i)
		if words := f.store.refs.At(i); words != nil {
			refs[j] = &words[0]
			prefetch(unsafe.Pointer(refs[j]))
		}
	}
	for _, p := range refs[:len(keys)] {
		if p != nil {
			f.store.expectRun(ref(peek(p)))
		}
	}
}

// expectKey asks for what deleting a mixed key will need.
func (f *Filter) expectKey(mixed uint64) {
	n := f.load().blocks()
	if n < prefetchFrom || f.file != nil {
		return
	}
	f.expectBlock(mixed)
	if words := f.store.refs.At(f.place(mixed, n)); words != nil {
		f.store.expectRun(ref(peek(&words[0])))
	}
}

// expectSplit asks for what splitting the block that is next in turn among n, or
// undoing that, needs.
func (f *Filter) expectSplit(n uint64) {
	if n < prefetchFrom {
		return
	}
	lower, _ := split(n)
	for _, i := range [2]uint64{lower, n} {
		f.lines.expect(i)
		if words := f.store.refs.At(i); words != nil {
			f.store.expectRun(ref(peek(&words[0])))
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
