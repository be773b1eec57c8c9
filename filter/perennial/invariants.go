package perennial

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// check verifies the whole ring and the sums that are kept of it.
func (f *Filter) check() error {
	r := f.ring.Load()
	slots, waiting, weights := r.slots, r.waiting, r.weights
	if err := r.recount(); err != nil {
		return err
	}
	if r.slots != slots || r.waiting != waiting || r.weights != weights {
		return fmt.Errorf("%d slots, %d buckets waiting, weights %d, counted %d, %d and %d",
			slots, waiting, weights, r.slots, r.waiting, r.weights)
	}
	return nil
}

// recount verifies the whole ring and computes its sums. It takes time in proportion to the
// lines.
func (r *ring) recount() error {
	r.slots, r.waiting, r.weights = 0, 0, [2]uint64{}
	for p := range r.places() {
		if err := r.checkLine(p); err != nil {
			return fmt.Errorf("line %d: %w", p.index(), err)
		}
		r.waiting += uint64(r.at(p.index()).in())
	}
	keys, counted, err := r.countExtras()
	if err != nil {
		return err
	}
	var runs voidRuns
	err = r.walk(func(t target, slots []uint64, entries []entry) error {
		r.slots += uint64(len(slots))
		for _, e := range entries {
			if e.v != 0 || t.idx%(1<<e.depth) == 0 { // no copy
				keys += e.count
			}
			counted = counted && e.count < r.maxCount()
			r.weights[t.level-r.layout.level] += r.weight(e)
		}
		if !slices.Equal(slots, r.encode(entries, nil)) {
			return fmt.Errorf("bucket %d of group %d: not in its shortest form", t.idx, t.group)
		}
		if err := runs.check(t.idx, entries); err != nil {
			return fmt.Errorf("bucket %d of group %d: %w", t.idx, t.group, err)
		}
		return checkEntries(t, entries)
	})
	if err == nil && (r.keys > keys && counted || r.keys > math.MaxInt64) {
		err = fmt.Errorf("%d keys have %d entries", r.keys, keys)
	}
	r.moved()
	return err
}

// countExtras returns for how many keys extras are, and whether all are counted.
func (r *ring) countExtras() (keys uint64, counted bool, err error) {
	counted = true
	for _, e := range r.extras.Load().all() {
		if e.count < 1 || e.count > r.maxCount() {
			return 0, false, fmt.Errorf("an extra is there %d times", e.count)
		}
		keys += e.count
		counted = counted && e.count < r.maxCount()
	}
	return keys, counted, nil
}

// voidRuns has how often a void of each depth is in the buckets that have copies of it.
type voidRuns [maxVoid + 1]uint64

// check verifies that voids have all their copies: in 2^depth buckets from one whose number
// that divides.
func (v *voidRuns) check(bucket int, entries []entry) error {
	for depth := range uint64(maxVoid) {
		count := voids(entries, depth+1)
		if bucket%(2<<depth) == 0 {
			v[depth] = count
		} else if v[depth] != count {
			return fmt.Errorf("%d voids of depth %d, %d in the bucket before", count, depth+1, v[depth])
		}
	}
	return nil
}

// checkLine verifies the form of a line and that no bucket behind it has room in it.
func (r *ring) checkLine(p place) error {
	l, next := r.at(p.index()), r.at(r.layout.after(p).index())
	in, held := l.in(), l.held()
	end := l.end(held)
	slots := end - headBits - uint(held)
	low := lineBits - slots*r.w
	switch {
	case held > 0 && end == lineBits || slots > uint(maxSlotsEver)*maxHeld || end+slots*r.w > lineBits:
		return fmt.Errorf("%d buckets with %d slots of %d bits", held, slots, r.w)
	case !l.isClear(end, low):
		return errors.New("bits are set between buckets and slots")
	case uint64(in) >= r.layout.buckets():
		return fmt.Errorf("%d buckets from lines before, of %d in all", in, r.layout.buckets())
	case in+p.width() < held || next.in() != in+p.width()-held:
		return fmt.Errorf("%d of %d buckets, %d from lines before; the next has %d of these", held, p.width(), in, next.in())
	case held == 0 && next.in() > 0:
		return errors.New("no buckets, although some have no room")
	}
	if next.in() > 0 && next.held() > 0 && held < maxHeld {
		if _, count := next.find(0); l.extent().with(1, count).fits(r.w) {
			return errors.New("the next bucket has room here")
		}
	}
	return nil
}

// isClear reports whether the bits from lo to below hi are 0.
func (l *line) isClear(lo, hi uint) bool {
	for i := lo >> 6; i<<6 < hi; i++ {
		if l[i]&within(i, lo, hi) != 0 {
			return false
		}
	}
	return true
}

// checkEntries verifies that entries are those of a bucket.
func checkEntries(t target, entries []entry) error {
	for i, e := range entries {
		switch {
		case e.count == 0:
			return fmt.Errorf("bucket %d of group %d: an entry is there 0 times", t.idx, t.group)
		case i > 0 && order(entries[i-1], e) >= 0:
			return fmt.Errorf("bucket %d of group %d: not in order", t.idx, t.group)
		case e.v == 0 && (e.depth < 1 || e.depth > maxVoid):
			return fmt.Errorf("bucket %d of group %d: a void of depth %d", t.idx, t.group, e.depth)
		}
	}
	return nil
}
