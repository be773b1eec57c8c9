package perennial

import (
	"fmt"
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
)

// add puts a key into the ring.
func (r *ring) add(k filter.Key) (added bool, err error) {
	t := r.layout.locate(r.mixer.Mix(k), r.w)
	r.prefetchBehind(t.place)
	p, l, idx := r.find(t)
	n, added, simple := r.newSlot(l, idx, t.y)
	gained := uint64(1)
	if simple && r.addSlot(p, l, n, t.y) {
		r.slots++
	} else if added, gained, err = r.addEntry(p, l, idx, entry{v: t.y, count: 1}); err != nil {
		return false, err
	}
	r.keys++
	r.weights[t.level-r.layout.level] += gained
	for r.slots > r.limit {
		if r.resize(r.layout.total+1) != nil {
			break // it stays fuller than it should be
		}
	}
	return added, nil
}

// A position is that of a slot in a line.
type position struct {
	idx  int  // its bucket
	bit  uint // where the bucket begins in the map
	slot uint // the number of the slot in the line
}

// newSlot returns where y is to be in its bucket, and whether it looks new. A bucket with
// voids or counts, or with so many of y that they are to be counted, is not simple.
func (r *ring) newSlot(l *line, idx int, y uint64) (n position, added, simple bool) {
	first, count := l.find(idx)
	n = position{idx, headBits + uint(idx) + first, first}
	equal := 0
	added = true
	for i := first; i < first+count; i++ {
		v := l.slot(i, r.w)
		if v == 0 {
			return n, false, false
		}
		if fits(v, y) {
			added = false
		}
		if v&1 == 1 && v < y {
			n.slot++
		}
		if v == y {
			equal++
		}
	}
	return n, added, equal < 3
}

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
	if last >= fewDrafts {
		r.borrow()
	}
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
	extra := uint(1)  // the slot, in this line or the next
	var before extent // what comes from the line before
	for n := range spills {
		i := p.index()
		l := r.at(i)
		if n > 0 {
			if i == start || l.in()+int(before.held) > maxIn {
				return 0, false
			}
			x = l.extent()
		}
		rest := x
		for !rest.with(before.held, before.slots+extra).fits(r.w) {
			if rest.held == 0 {
				return 0, false // a bucket would pass more than one line
			}
			rest = rest.without(extent{1, l.lastCount(rest)})
			if n == 0 && int(rest.held) == idx {
				extra = 0 // it goes with its bucket
			}
		}
		tail := x.without(rest)
		spills[n] = spill{i, x, tail}
		if tail.held == 0 {
			return n, true
		}
		if n == 0 {
			extra = 1 - extra
		} else {
			extra = 0
		}
		before = tail
		p = r.layout.after(p)
	}
	return 0, false
}

// addEntry is add for every bucket. It returns how many times more e is there: fewer than
// asked for if it cannot be counted any further.
func (r *ring) addEntry(p place, l *line, idx int, e entry) (added bool, gained uint64, err error) {
	var slots [maxSlotsEver]uint64
	var entries [maxSlotsEver + 1]entry
	old := r.slotsOf(l, idx, slots[:0])
	all := r.decode(old, entries[:0])
	added = true
	for _, x := range all {
		if x.v == 0 || fits(x.v, e.v) {
			added = false
		}
		if x.v == e.v && x.depth == e.depth {
			e.count = min(e.count, r.maxCount()-x.count)
		}
	}
	if e.count == 0 {
		return added, 0, nil
	}
	return added, e.count, r.setBucket(p, idx, len(old), r.join(append(all, e)))
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

// remove takes a key out of the ring. Of the entries that fit it the longest goes: the
// key's own is no longer, so it is a prefix of that one and serves whatever key that was
// for.
func (r *ring) remove(k filter.Key) error {
	z := r.mixer.Mix(k)
	t := r.layout.locate(z, r.w)
	r.prefetchBehind(t.place)
	p, l, idx := r.find(t)
	i, length := r.shorts.Load().longest(z)
	if n, v := r.longest(l, idx, t.y); v != 0 && length <= uint(t.level)+bucketLog+r.lengthOf(v) {
		r.removeSlot(p, l, n)
		r.weights[t.level-r.layout.level] -= v & -v
	} else if !r.removeFitting(z, t, l, idx, length) {
		if length == 0 {
			return filter.ErrNotFound
		}
		r.removeShort(i)
	}
	if r.keys > 0 { // what was added too often to be counted can be deleted more often
		r.keys--
	}
	for r.slots < r.low && r.resize(r.layout.total-1) == nil {
	}
	return nil
}

// longest returns the longest slot of a bucket that fits y, or 0 if there is none or the
// bucket has voids or counts.
func (r *ring) longest(l *line, idx int, y uint64) (n position, v uint64) {
	first, count := l.find(idx)
	n = position{idx, headBits + uint(idx) + first, first}
	for i := range count {
		s := l.slot(first+i, r.w)
		if s == 0 {
			return n, 0
		}
		if v == 0 && fits(s, y) { // long ones come first
			n.slot, v = first+i, s
		}
	}
	return n, v
}

// removeSlot takes a slot out of the line at p, and takes back what lines behind hold for
// those before.
func (r *ring) removeSlot(p place, l *line, n position) {
	i := p.index()
	x := l.extent()
	r.slots--
	r.drafts = append(r.drafts, draft{i, *l})
	changed := &r.drafts[0].line
	changed.remove(x, n.bit, n.slot, r.w)
	x.slots--
	if n.idx == 0 && l.in() > 0 { // the bucket is smaller now, and may have room before
		before := r.layout.before(p)
		r.pull(before, r.view(before.index()).extent())
		x = r.view(i).extent()
	}
	r.pull(p, x)
	r.publish(r.layout)
}

// pull moves buckets to the line at p, of extent x, that are behind it for want of room, and
// so on.
func (r *ring) pull(p place, x extent) {
	for start := p.index(); ; {
		l := r.view(p.index())
		if l.in()+p.width() == int(x.held) {
			return
		}
		q := r.layout.after(p)
		if q.index() == start {
			return
		}
		next := r.view(q.index())
		y, in := next.extent(), uint(next.in())
		var head extent
		for bit := uint(headBits); head.held < min(in, y.held); {
			count := uint(bits.TrailingZeros64(^next.window(bit)))
			if !x.with(head.held+1, head.slots+count).fits(r.w) {
				break
			}
			head = head.with(1, count)
			bit += count + 1
		}
		if head.held == 0 {
			return
		}
		l, next = r.draftPair(p.index(), q.index())
		l.pullHead(next, x, y, head, r.w)
		p, x = q, y.without(head)
	}
}

// view returns line i as it will be.
func (r *ring) view(i uint64) *line {
	for j := range r.drafts {
		if r.drafts[j].index == i {
			return &r.drafts[j].line
		}
	}
	return r.at(i)
}

// maxVoid is the largest depth of a void. Its copies are in as many doublings of buckets, and
// are removed together. What would be deeper is a short.
const maxVoid = 3

// removeFitting is remove for every bucket. It leaves entries that are not longer than the
// given length, and reports whether there was another.
func (r *ring) removeFitting(z uint64, t target, l *line, idx int, length uint) bool {
	var slots [maxSlotsEver]uint64
	var entries [maxSlotsEver]entry
	for _, e := range r.decode(r.slotsOf(l, idx, slots[:0]), entries[:0]) {
		if e.v != 0 && !fits(e.v, t.y) {
			continue
		}
		n := r.prefix(target{place: t.place, idx: t.idx + t.start()}, e).n
		switch {
		case n < length:
			return false
		case e.v == 0:
			r.removeVoids(z, n)
		default:
			r.removeEntry(t, e)
		}
		return true
	}
	return false
}

// removeShort takes short i away, unless it may be there more often than is counted.
func (r *ring) removeShort(i int) {
	if s := r.shorts.Load(); s.list[i].count < r.maxCount() {
		r.shorts.Store(s.without(i))
	}
}

// removeEntry takes one entry like e out of the bucket of t, if it is there.
func (r *ring) removeEntry(t target, e entry) {
	p, l, idx := r.find(t)
	var slots [maxSlotsEver]uint64
	var buf [maxSlotsEver]entry
	old := r.slotsOf(l, idx, slots[:0])
	entries := r.decode(old, buf[:0])
	for i, x := range entries {
		if x.v != e.v || x.depth != e.depth {
			continue
		}
		if x.count == r.maxCount() {
			return // it may be there more often
		}
		if entries[i].count--; x.count == 1 {
			entries = append(entries[:i], entries[i+1:]...)
		}
		if idx == 0 && l.in() > 0 { // the bucket may have room in the line before now
			p = r.layout.before(p)
			idx = r.at(p.index()).held()
		}
		if err := r.setBucket(p, idx, len(old), entries); err != nil {
			panic(err) // there are not more slots than before
		}
		e.count = 1
		r.weights[t.level-r.layout.level] -= r.weight(e)
		return
	}
}

// removeVoids takes a void out of every bucket whose keys have the first n bits of z.
func (r *ring) removeVoids(z uint64, n uint) {
	first := z >> (64 - n) << (64 - n)
	for at := first; at>>(64-n) == first>>(64-n); {
		t := r.layout.locate(at, r.w)
		length := uint(t.level) + bucketLog
		r.removeEntry(t, entry{depth: uint64(length - n)})
		at += 1 << (64 - length)
		if at == 0 {
			return // behind the last bucket
		}
	}
}
