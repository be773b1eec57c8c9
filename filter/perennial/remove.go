package perennial

import "github.com/everbloom-go/everbloom/filter"

// remove takes a key out of the ring. Of the entries that fit it the longest goes: the
// key's own is no longer, so it is a prefix of that one and serves whatever key that was
// for.
func (r *ring) remove(k filter.Key) error {
	z := r.mixer.Mix(k)
	t := r.layout.locate(z, r.w)
	r.prefetchBehind(t.place)
	p, l, idx := r.find(t)
	i, length := r.extras.Load().longest(z)
	if n, v, equal := r.longest(l, idx, t.y); v != 0 && length <= uint(t.level)+bucketLog+r.lengthOf(v) {
		if r.removeSlot(p, l, n) {
			if equal == 1 {
				r.weights[t.level-r.layout.level] -= v & -v
			}
		} else {
			r.removeEntry(t, entry{v: v})
		}
	} else if !r.removeFitting(z, t, l, idx, length) {
		if length == 0 {
			return filter.ErrNotFound
		}
		r.removeExtra(i)
	}
	if r.keys > 0 { // what was added too often to be counted can be deleted more often
		r.keys--
	}
	for n := 0; n < maxSteps && r.slots < r.low && !r.crowded(2); n++ {
		if r.resize(r.layout.total-1) != nil {
			break
		}
	}
	return nil
}

// longest returns the longest slot of a bucket that fits y and how often it is there, or 0 if
// there is none or the bucket has voids or counts.
func (r *ring) longest(l *line, idx int, y uint64) (n position, v uint64, equal int) {
	first, count := l.find(idx)
	n = position{idx, headBits + uint(idx) + first, first}
	for i := range count {
		s := l.slot(first+i, r.w)
		if s == 0 {
			return n, 0, 0
		}
		if v == 0 && fits(s, y) { // long ones come first
			n.slot, v = first+i, s
		}
		if s == v {
			equal++
		}
	}
	return n, v, equal
}

// removeSlot takes a slot out of the line at p, and takes back what lines behind hold for
// those before. It reports false, and has changed nothing, where that is not so simple.
func (r *ring) removeSlot(p place, l *line, n position) bool {
	i := p.index()
	x := l.extent()
	r.borrow()
	r.drafts = append(r.drafts, draft{i, *l})
	changed := &r.drafts[0].line
	changed.remove(x, n.bit, n.slot, r.w)
	x.slots--
	ok := true
	if n.idx == 0 && l.in() > 0 { // the bucket is smaller now, and may have room before
		before := r.layout.before(p)
		ok = r.pull(before, r.view(before.index()).extent())
		x = r.view(i).extent()
	}
	if !ok || !r.pull(p, x) {
		r.discard()
		return false
	}
	r.slots--
	r.publish(r.layout)
	return true
}

// pull moves buckets to the line at p, of extent x, that are behind it for want of room, and
// so on. It reports false if they go all the way round, or are behind the next line, too.
func (r *ring) pull(p place, x extent) bool {
	for start := p.index(); ; {
		l := r.view(p.index())
		if l.in()+p.width() == int(x.held) {
			return true
		}
		q := r.layout.after(p)
		if q.index() == start {
			return false
		}
		next := r.view(q.index())
		y, in := next.extent(), uint(next.in())
		c := chunkOf(next)
		head := c.firstFitting(min(in, y.held), x, r.w)
		switch head.held {
		case y.held:
			return false
		case 0:
			return true
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
// are removed together. What would be deeper is an extra.
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

// removeExtra takes extra i away, unless it may be there more often than is counted.
func (r *ring) removeExtra(i int) {
	if s := r.extras.Load(); s.list[i].count < r.maxCount() {
		r.extras.Store(s.without(i))
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
		lost := uint64(0)
		if entries[i].count--; x.count == 1 {
			entries = append(entries[:i], entries[i+1:]...)
			lost = r.weight(x)
		}
		if idx == 0 && l.in() > 0 { // the bucket may have room in the line before now
			p = r.layout.before(p)
			idx = r.at(p.index()).held()
		}
		if r.setBucket(p, idx, len(old), entries) != nil {
			return // the ring is too full to be packed: what stays is a false positive
		}
		r.weights[t.level-r.layout.level] -= lost
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
