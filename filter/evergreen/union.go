package evergreen

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// Union adds what is in other, which may have any size and, where whole keys are
// kept, any rate and salt. A compact filter adds copies, and needs equal width and
// salt. After an error nothing was added: ErrIncompatible, ErrStorage, or ErrFull if
// there are too many keys for the width or for a block. That holds while nothing else
// changes the filter; beside writers that use up the memory, part of other may have
// been added when the answer is ErrStorage. It needs 8 bytes for each key of other
// meanwhile.
func (f *Filter) Union(other filter.Filter) error { return merging.Union(f, other) }

// PrepareUnion takes all memory that a union needs, and finds out whether blocks have
// room, see [merging.Preparer]. If other has more than twice as many keys, blocks are
// split beforehand. That is undone if there is an error; otherwise they stay until
// keys are deleted.
func (f *Filter) PrepareUnion(other filter.Filter) (finish func(commit bool) error, err error) {
	complete, err := f.prepareUnion(other)
	if err != nil {
		return nil, err
	}
	return func(commit bool) error {
		if !commit {
			return nil
		}
		return complete()
	}, nil
}

func (f *Filter) prepareUnion(other filter.Filter) (complete func() error, err error) {
	o, err := f.peer(other)
	if err != nil {
		return nil, err
	}
	if f == o && f.shape.Exact() {
		return func() error { return nil }, nil
	}
	for {
		t, list := f.present()
		if t == nil {
			return f.prepareList(o, list)
		}
		u := &union{f: f, t: t}
		err := u.gather(o)
		if err == nil {
			err = u.prepare()
		}
		if !isMoved(err) {
			return u.complete, err
		}
	}
}

// prepareList makes the list or the table that takes the place of a list.
func (f *Filter) prepareList(o *Filter, list keyList) (complete func() error, err error) {
	theirs, err := roomFor(o)
	if err != nil {
		return nil, err
	}
	for k := range o.Keys() {
		theirs = append(theirs, uint64(k))
	}
	next := newListed(f.shape)
	next.list.Store(&list)
	if err := next.addAll(theirs); err != nil {
		return nil, err
	}
	return func() error {
		f.mu.Lock()
		now := f.list.Load()
		same := now != nil && slices.Equal(*now, list)
		if same {
			f.table.Store(next.table.Load())
			f.list.Store(next.list.Load())
		}
		f.mu.Unlock()
		if same {
			return nil
		}
		return f.addAll(theirs)
	}, nil
}

func (f *Filter) addAll(keys []uint64) error {
	for _, k := range keys {
		if _, err := f.Add(filter.Key(k)); err != nil {
			return err
		}
	}
	return nil
}

// roomFor returns an empty slice with room for the keys of o.
func roomFor(o *Filter) ([]uint64, error) {
	words, err := mem.Words(o.Len())
	if err != nil {
		return nil, fmt.Errorf("evergreen: union: %w: %w", filter.ErrStorage, err)
	}
	return words[:0], nil
}

// A union is the keys that a table is to get.
type union struct {
	f     *Filter
	t     *table
	mixed []uint64 // sorted by their blocks
}

// gather finds the keys of o that are not there.
func (u *union) gather(o *Filter) (err error) {
	t := u.t
	if mine, _ := t.count(); int64(o.Len()) > t.meter.capacity-mine {
		return errLimit
	}
	if u.mixed, err = roomFor(o); err != nil {
		return err
	}
	if !t.exact {
		u.mixed = slices.AppendSeq(u.mixed, o.table.Load().mixed())
		return nil
	}
	for k := range o.Keys() {
		if !t.contains(k) {
			u.mixed = append(u.mixed, t.mixer.mix(k))
		}
	}
	return nil
}

// prepare does all that can fail.
func (u *union) prepare() error {
	t := u.t
	keys, _ := t.count()
	more := int64(len(u.mixed))
	blocks := t.shape.tableBlocks(uint64(keys + more))
	goal := uint64(blocks)
	before := t.load().blocks()
	t.size.Lock()
	err := t.reserve(max(before, goal))
	t.size.Unlock()
	if err != nil {
		return err
	}
	if more > 2*keys {
		if err := t.size.splitTo(goal); err != nil {
			return err
		}
	}
	n := t.load().blocks()
	slices.SortFunc(u.mixed, func(a, b uint64) int { return cmp.Compare(place(a, n), place(b, n)) })
	slow := uint64(SlowBits(float64(keys+more), blocks, t.shape.Width))
	err = u.reserve(n, slow)
	if err != nil && n > before {
		t.size.Lock()
		t.size.mergeTo(before)
		t.size.Unlock()
	}
	return err
}

// reserve takes pages for the runs that n blocks will have, and for as many bits as are
// predicted, so that blocks can be split afterwards. Keys come block by block.
func (u *union) reserve(n, predicted uint64) error {
	s := u.t.store
	plan := s.Plan()
	var to int
	for from := 0; from < len(u.mixed); from = to {
		block := place(u.mixed[from], n)
		for to = from; to < len(u.mixed) && place(u.mixed[to], n) == block; to++ {
		}
		count, err := u.countOf(block)
		if err != nil {
			return err
		}
		if count+to-from > s.Most {
			return errCrowded
		}
		plan.Grow(count, count+to-from)
	}
	return s.Reserve(plan, predicted)
}

// countOf returns how many fingerprints the run of a block has, with those that were
// waiting for it.
func (u *union) countOf(block uint64) (int, error) {
	t := u.t
	st := t.stripes.of(block)
	st.Lock()
	defer st.Unlock()
	if err := t.gone.err(); err != nil {
		return 0, err
	}
	if err := t.deliver(st); err != nil {
		return 0, err
	}
	return t.store.Ref(block).Count(), nil
}

// complete puts the keys in, and lets the table grow afterwards. Keys for which there
// is no room, because the filter was changed in between, are added as Add does.
func (u *union) complete() error {
	rest := u.mixed[:0]
	for _, mixed := range u.mixed {
		if err := u.put(mixed); err != nil {
			rest = append(rest, mixed)
		}
	}
	for u.t.meter.isHigh() {
		before := u.t.load()
		if u.t.size.growIfNeeded() != nil || u.t.load() == before {
			break // the next Add tries again
		}
	}
	for _, mixed := range rest {
		var err error
		if u.t.exact {
			_, err = u.f.Add(u.t.mixer.key(mixed))
		} else {
			_, err = u.t.add(mixed)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// put adds a mixed key without splitting blocks and without an inbox.
func (u *union) put(mixed uint64) error {
	t := u.t
	st := t.stripes.of(addressOf(mixed))
	st.Lock()
	defer st.Unlock()
	if err := t.gone.err(); err != nil {
		return err
	}
	if st.inbox.crowded {
		if err := t.deliver(st); err != nil {
			return err
		}
	}
	n := t.load().blocks()
	block := place(mixed, n)
	if t.exact && t.stores(st, mixed, block) {
		return nil
	}
	if err := t.push(st, t.store.Ref(block), mixed, block, n); err != nil {
		return err
	}
	t.lines.at(block).Add(t.fingerprint(mixed), t.rounds)
	t.meter.record(st, 1, 0)
	return nil
}
