package perennial

import (
	"errors"
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
)

// add puts a key into the ring. Where too many buckets wait for room lines are added.
func (r *ring) add(k filter.Key) (added bool, err error) {
	z := r.mixer.Mix(k)
	added, err = r.insert(z)
	for n := 0; n < maxSteps && errors.Is(err, errNoRoom) && r.resize(r.layout.total+1) == nil; n++ {
		added, err = r.insert(z)
	}
	if err != nil && !r.addExtra(r.layout.locate(z, r.w).prefix(z, r.w), 1) {
		return false, fmt.Errorf("perennial: %w", err)
	}
	r.keys++
	r.extend()
	return added, nil
}

// insert puts the key with position z into its bucket.
func (r *ring) insert(z uint64) (added bool, err error) {
	t := r.layout.locate(z, r.w)
	r.prefetchBehind(t.place)
	p, l, idx := r.find(t)
	n, v, added, equal := r.newSlot(l, idx, t.y)
	var gained uint64
	if equal < tooMany && r.addSlot(p, l, n, v) {
		r.slots++
		if equal == 0 {
			gained = v & -v
		}
	} else if added, gained, err = r.addEntry(p, l, idx, entry{v: t.y, count: 1}); err != nil {
		return false, err
	}
	r.weights[t.level-r.layout.level] += gained
	return added, nil
}

// maxSteps is how many lines one operation adds or removes at most.
const maxSteps = 2

// maxWaiting is how many buckets may wait for room in front of a line, on average. With slots
// of 12 or 15 bits at a fill of 0.90 it is 5 to 9. Buckets are whole: where they are large, as
// when every key was added several times, lines have bits left over, and more wait.
const maxWaiting = 16

// crowded reports whether more than maxWaiting/n buckets wait in front of a line, on average.
func (r *ring) crowded(n uint64) bool { return r.waiting*n > maxWaiting*r.layout.total }

// extend adds a few lines if the ring is too full.
func (r *ring) extend() {
	for n := 0; n < maxSteps && (r.slots > r.limit || r.crowded(1)); n++ {
		if r.resize(r.layout.total+1) != nil {
			return // it stays fuller than it should be
		}
	}
}

// A position is that of a slot in a line.
type position struct {
	idx  int  // its bucket
	bit  uint // where the bucket begins in the map
	slot uint // the number of the slot in the line
}

// tooMany is how many equal slots are counted when there is one more.
const tooMany = 3

// newSlot returns what is to be stored for y, where in its bucket, whether it looks new, and
// how many of the same there are: tooMany in a bucket with voids or counts.
func (r *ring) newSlot(l *line, idx int, y uint64) (n position, v uint64, added bool, equal int) {
	first, count := l.find(idx)
	n = position{idx, headBits + uint(idx) + first, first}
	v, added = y, true
	for i := first; i < first+count; i++ {
		s := l.slot(i, r.w)
		if s == 0 {
			return n, 0, false, tooMany
		}
		if fits(s, y) {
			if added && r.joins(s) { // long ones come first
				v, n.slot = s, i
			}
			added = false
		}
		if s&1 == 1 && s < v {
			n.slot++
		}
		if s == v {
			equal++
		}
	}
	return n, v, added, equal
}

// joins reports whether slot s, which fits a key that is added, may be there once more in
// place of the key's own: it lacks at most three bits. So a key that is added again and again
// while the filter grows takes no more than a count. Shorter ones would never leave the filter.
func (c coder) joins(s uint64) bool { return s&-s <= min(8, c.flag()>>6) }

// A spill is the tail of a line that goes to the next one.
type spill struct {
	index  uint64
	extent extent // of the line
	tail   extent
}

// maxSpills is how many lines addSlot reaches.
const maxSpills = 32

// addSlot makes y a slot of the line at p. Buckets that have no room go to the next line.
// It reports false, and has changed nothing, where that is not so simple.
func (r *ring) addSlot(p place, l *line, n position, y uint64) bool {
	x := l.extent()
	if x.with(0, 1).fits(r.w) {
		next := *l
		next.insert(x, n.bit, n.slot, r.w, y)
		r.publishOne(p.index(), &next)
		return true
	}
	var spills [maxSpills]spill
	last, ok := r.planSpills(p, n.idx, x, &spills)
	if !ok {
		return false
	}
	r.borrow()
	for i := range spills[:last+1] {
		r.drafts = append(r.drafts, draft{spills[i].index, *r.at(spills[i].index)})
	}
	for i := last - 1; i >= 0; i-- { // from the end, so that there is room
		s, next := &spills[i], &spills[i+1]
		r.drafts[i].line.pushTail(&r.drafts[i+1].line, s.extent, next.extent.without(next.tail), s.tail, r.w)
	}
	first, x := &r.drafts[0].line, spills[0].extent.without(spills[0].tail)
	if uint(n.idx) >= x.held {
		n.bit -= x.end() - headBits
		n.slot -= x.slots
		first, x = &r.drafts[1].line, spills[1].extent.without(spills[1].tail).with(spills[0].tail.held, spills[0].tail.slots)
	}
	first.insert(x, n.bit, n.slot, r.w, y)
	r.publish(r.layout)
	return true
}

// planSpills finds out which buckets move so that bucket idx of the line at p, of extent x,
// can have one more slot. The last spill is empty: its line takes what the one before gives.
func (r *ring) planSpills(p place, idx int, x extent, spills *[maxSpills]spill) (last int, ok bool) {
	start := p.index()
	rest, goes, ok := r.at(start).makeRoom(x, uint(idx), r.w)
	spills[0] = spill{start, x, x.without(rest)}
	more := spills[0].tail
	if goes {
		more.slots++
	}
	for n := 1; ok && n < maxSpills; n++ {
		p = r.layout.after(p)
		i := p.index()
		l := r.at(i)
		if i == start || l.in()+int(more.held) > maxIn {
			return 0, false
		}
		x = l.extent()
		rest, ok = l.shed(x, more, r.w)
		more = x.without(rest)
		spills[n] = spill{i, x, more}
		if more.held == 0 {
			return n, ok
		}
	}
	return 0, false
}

// addEntry is insert for every bucket. It returns by how much the weight of the entries grows.
func (r *ring) addEntry(p place, l *line, idx int, e entry) (added bool, gained uint64, err error) {
	var slots [maxSlotsEver]uint64
	var entries [maxSlotsEver + 1]entry
	old := r.slotsOf(l, idx, slots[:0])
	all := r.decode(old, entries[:0])
	added = true
	y := e.v
	isNew := true
	for _, x := range all {
		if x.v == 0 || fits(x.v, y) {
			if added && y&1 == 1 && x.v != 0 && r.joins(x.v) {
				e.v = x.v
			}
			added = false
		}
		if x.v == e.v && x.depth == e.depth {
			e.count = min(e.count, r.maxCount()-x.count)
			isNew = false
		}
	}
	if isNew {
		gained = r.weight(e)
	}
	if e.count == 0 { // it cannot be counted any further
		return added, 0, nil
	}
	return added, gained, r.setBucket(p, idx, len(old), r.join(append(all, e)))
}

// setBucket gives bucket idx of the line at p other entries.
func (r *ring) setBucket(p place, idx, old int, entries []entry) error {
	var buf [maxSlotsEver]uint64
	slots := r.encode(entries, buf[:0])
	if err := r.borrow().replace(p, idx, slots); err != nil {
		r.discard()
		return fmt.Errorf("%w: %w", filter.ErrFull, err)
	}
	r.publish(r.layout)
	r.slots += uint64(len(slots) - old)
	return nil
}
