package perennial

import (
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
)

// add puts a key into the ring.
func (r *ring) add(k filter.Key) (added bool, err error) {
	t := r.layout.locate(r.mixer.Mix(k), r.w)
	p, l, idx := r.find(t)
	at, added, simple := r.placeFor(l, idx, t.y)
	gained := uint64(1)
	if simple && r.addSlot(p, l, idx, at, t.y) {
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

// placeFor returns which slot of its bucket y is to be, and whether it looks new. A bucket
// with voids or counts, or with so many of y that they are to be counted, is not simple.
func (r *ring) placeFor(l *line, idx int, y uint64) (at uint, added, simple bool) {
	first, count := l.find(idx)
	equal := 0
	added = true
	for i := first; i < first+count; i++ {
		v := l.slot(i, r.w)
		if v == 0 {
			return 0, false, false
		}
		if fits(v, y) {
			added = false
		}
		if v&1 == 1 && v < y {
			at++
		}
		if v == y {
			equal++
		}
	}
	return at, added, equal < 3
}

// A spill is the tail of a line that goes to the next one.
type spill struct {
	index   uint64
	buckets int
	slots   uint
}

// maxSpills is how many lines addSlot reaches.
const maxSpills = 32

// addSlot makes y a slot of bucket idx of the line at p. Buckets that have no room go to
// the next line. It reports false, and has changed nothing, where that is not so simple.
func (r *ring) addSlot(p place, l *line, idx int, at uint, y uint64) bool {
	if used(l.held(), l.slots()+1, r.w) <= lineBits {
		r.draft(p.index()).insert(idx, at, r.w, y)
		r.publish(r.layout)
		return true
	}
	var spills [maxSpills]spill
	n, ok := r.planSpills(p, idx, &spills)
	if !ok {
		return false
	}
	for i := n - 1; i >= 0; i-- { // from the end, so that there is room
		s := &spills[i]
		l, next := r.draftPair(s.index, spills[i+1].index)
		l.pushTail(next, s.buckets, s.slots, r.w)
	}
	first := r.draft(spills[0].index)
	if held := first.held(); idx >= held {
		first, idx = r.draft(spills[1].index), idx-held
	}
	first.insert(idx, at, r.w, y)
	r.publish(r.layout)
	return true
}

// planSpills finds out which buckets move so that bucket idx of the line at p can have one
// more slot. The last of the n+1 spills is the line that takes what the one before gives.
func (r *ring) planSpills(p place, idx int, spills *[maxSpills]spill) (n int, ok bool) {
	start := p.index()
	extra := r.w + 1 // bits that the slot needs, in this line or the next
	var more spill   // what comes from the line before
	for n < maxSpills-1 {
		l := r.at(p.index())
		held, slots := l.held(), l.slots()
		need := used(held+more.buckets, slots+more.slots, r.w) + extra
		out := spill{index: p.index()}
		for need > lineBits || held+more.buckets-out.buckets > maxHeld {
			if out.buckets == held {
				return 0, false // a bucket would pass more than one line
			}
			_, count := l.find(held - out.buckets - 1)
			out.buckets++
			out.slots += count
			need -= 1 + count*(r.w+1)
			if n == 0 && held-out.buckets == idx {
				need -= extra
			}
		}
		spills[n] = out
		if out.buckets == 0 {
			return n, true
		}
		if n == 0 && held-out.buckets > idx || n > 0 {
			extra = 0
		}
		p = r.layout.after(p)
		if p.index() == start || r.at(p.index()).in()+out.buckets > maxIn {
			return 0, false
		}
		more = out
		n++
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
	w := r.borrow()
	w.begin()
	if err := w.replace(p, idx, slots); err != nil {
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
	p, l, idx := r.find(t)
	if at, v := r.longest(l, idx, t.y); v != 0 {
		r.removeSlot(p, idx, at)
		r.weights[t.level-r.layout.level] -= v & -v
	} else if err := r.removeFitting(z, t, l, idx); err != nil {
		return err
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
func (r *ring) longest(l *line, idx int, y uint64) (at uint, v uint64) {
	first, count := l.find(idx)
	for i := range count {
		s := l.slot(first+i, r.w)
		if s == 0 {
			return 0, 0
		}
		if v == 0 && fits(s, y) { // long ones come first
			at, v = i, s
		}
	}
	return at, v
}

// removeSlot takes a slot out of bucket idx of the line at p, and takes back what lines
// behind hold for those before.
func (r *ring) removeSlot(p place, idx int, at uint) {
	l := r.draft(p.index())
	l.remove(idx, at, r.w)
	r.slots--
	if idx == 0 && l.in() > 0 {
		r.pull(r.layout.before(p)) // the bucket is smaller now
	}
	r.pull(p)
	r.publish(r.layout)
}

// pull moves buckets to the line at p that are behind it for want of room, and so on.
func (r *ring) pull(p place) {
	start := p.index()
	for {
		held, in, slots := r.headOf(p.index())
		if in+p.width() == held {
			return
		}
		q := r.layout.after(p)
		if q.index() == start {
			return
		}
		next := r.view(q.index())
		k, count := 0, uint(0)
		for k < min(next.in(), next.held()) && held+k < maxHeld {
			_, c := next.find(k)
			if used(held+k+1, slots+count+c, r.w) > lineBits {
				break
			}
			k, count = k+1, count+c
		}
		if k == 0 {
			return
		}
		l, next := r.draftPair(p.index(), q.index())
		l.pullHead(next, k, count, r.w)
		p = q
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

func (r *ring) headOf(i uint64) (held, in int, slots uint) {
	l := r.view(i)
	return l.held(), l.in(), l.slots()
}

// maxVoid is up to which depth all copies of a void are removed together: that many
// doublings of buckets are touched. Deeper ones leave copies behind, which cost a slot
// and are joined again when the filter shrinks.
const maxVoid = 3

// removeFitting is remove for every bucket.
func (r *ring) removeFitting(z uint64, t target, l *line, idx int) error {
	var slots [maxSlotsEver]uint64
	var entries [maxSlotsEver]entry
	for _, e := range r.decode(r.slotsOf(l, idx, slots[:0]), entries[:0]) {
		if e.v != 0 && !fits(e.v, t.y) {
			continue
		}
		if e.v == 0 && e.depth <= maxVoid {
			r.removeVoids(z, uint(t.level)+bucketLog-uint(e.depth))
		} else {
			r.removeEntry(t, e)
		}
		return nil
	}
	return filter.ErrNotFound
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
