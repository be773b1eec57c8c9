package perennial

import (
	"fmt"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
)

// resize makes the ring one line longer or shorter: it rewrites the group that has one
// more or less, and what lies behind it as far as needed.
func (r *ring) resize(lines uint64) error {
	if lines < r.least || lines > maxLines {
		return fmt.Errorf("perennial: %d lines: %w", lines, filter.ErrFull)
	}
	to := layoutOf(lines)
	s := step{ring: r, to: to, grows: lines > r.layout.total}
	small := r.layout
	if !s.grows {
		small = to
	}
	s.group, s.splits = small.next, small.splits()
	if s.grows {
		if err := r.lines.Grow(lines); err != nil {
			return fmt.Errorf("perennial: %w: %w", filter.ErrStorage, err)
		}
	}
	if err := s.draft(); err != nil {
		r.discard()
		r.lines.Shrink(r.layout.total)
		return fmt.Errorf("%w: %w", filter.ErrFull, err)
	}
	s.weigh()
	if len(s.shorts) > 0 { // before they leave the ring
		r.shorts.Store(r.shorts.Load().with(s.shorts, r.maxCount()))
	}
	r.slots += uint64(s.after.slots - s.before.slots)
	r.publish(to)
	r.renumber()
	r.prefetchGroup(to.next)
	if !s.grows {
		r.lines.Shrink(lines)
	}
	return nil
}

// renumber gives a ring that has doubled, or is half as large, as many sequence numbers as
// it should have.
func (r *ring) renumber() {
	old := *r.seqs.Load()
	if uint64(len(old)) == sequencesFor(r.layout) {
		return
	}
	seqs := newSequences(r.layout)
	for i := range old {
		old[i].Add(1) // odd for good: late readers begin again
	}
	r.seqs.Store(seqs)
}

// A step is one line more or less.
type step struct {
	ring          *ring
	to            layout
	group         uint64
	grows, splits bool
	before, after sums
	bucket        int     // of the group, that is split next
	shorts        []short // that the ring will not have any more
}

// Sums are those of the entries of a group.
type sums struct {
	slots  int
	weight uint64
}

// weigh moves the group's part of the weights to its new level.
func (s *step) weigh() {
	r := s.ring
	switch {
	case !s.splits:
	case s.grows:
		r.weights[0] -= s.before.weight
		r.weights[1] += s.after.weight
		if s.to.level > r.layout.level {
			r.weights = [2]uint64{r.weights[1], 0}
		}
	default:
		if s.to.level < r.layout.level {
			r.weights = [2]uint64{0, r.weights[0]}
		}
		r.weights[1] -= s.before.weight
		r.weights[0] += s.after.weight
	}
}

// size returns how many buckets the group has before the step.
func (s *step) size() int {
	if s.splits && !s.grows {
		return 2 * buckets
	}
	return buckets
}

// draft drafts all lines that the step changes.
func (s *step) draft() error {
	r, w := s.ring, s.ring.borrow()
	level := min(r.layout.level, s.to.level)
	if level > 0 {
		done, err := s.draftGroup(level)
		if err != nil || done {
			return err
		}
	}
	from := w.numberOf(r.layout.groupOf(s.group))
	return w.rebuild(r.layout, s.to, func(all [][]uint64) [][]uint64 {
		out := append([][]uint64(nil), all[:from]...)
		out = append(out, s.transformAll(all[from:from+s.size()])...)
		return append(out, all[from+s.size():]...)
	})
}

// draftGroup drafts the group and what lies behind, or reports false if that is everything.
func (s *step) draftGroup(level uint8) (done bool, err error) {
	r, w := s.ring, s.ring.borrow()
	old := r.layout.groupOf(s.group)
	in := r.at(old.index()).in()
	w.begin(r.layout, old)
	if s.splits {
		if err := s.transformGroup(in); err != nil {
			return false, err
		}
	}
	p, left := s.to.groupOf(s.group), in
	first := p.index()
	for mask := uint64(1)<<level - 1; p.group&mask == s.group; p = s.to.after(p) {
		if left, err = w.write(p.index(), left, p.width()); err != nil {
			return false, err
		}
	}
	return w.flow(s.to, p, left, first)
}

// transformGroup makes of the buckets behind the next in, which are those of the group,
// what they will be.
func (s *step) transformGroup(in int) error {
	w := s.ring.borrow()
	w.collect(in + s.size())
	at := 0
	for _, count := range w.old.counts[:in] {
		w.new.append(w.old.slots[at : at+int(count)])
		at += int(count)
	}
	s.transform(w.old.counts[in:], w.old.slots[at:], &w.new)
	return w.insert(&w.new)
}

// transformAll is transform for a rebuild.
func (s *step) transformAll(all [][]uint64) [][]uint64 {
	if !s.splits {
		return all
	}
	var from, to list
	for _, slots := range all {
		from.append(slots)
	}
	s.transform(from.counts, from.slots, &to)
	var out [][]uint64
	at := 0
	for _, count := range to.counts {
		out = append(out, to.slots[at:at+int(count)])
		at += int(count)
	}
	return out
}

// transform appends what the buckets of the group will be.
func (s *step) transform(counts []uint16, slots []uint64, to *list) {
	s.before, s.after, s.bucket, s.shorts = sums{}, sums{}, 0, nil
	next := func() (bucket []uint64) {
		bucket, slots = slots[:counts[0]], slots[counts[0]:]
		counts = counts[1:]
		return bucket
	}
	for len(counts) > 0 {
		if s.grows {
			s.split(next(), to)
			s.bucket++
		} else {
			low := next()
			s.merge(low, next(), to)
		}
	}
}

// split appends the two halves of a bucket.
func (s *step) split(slots []uint64, to *list) {
	flag := s.ring.flag()
	weight := uint64(0)
	for _, v := range slots {
		if v == 0 || v == flag {
			s.splitEntries(slots, to)
			return
		}
		weight += v & -v
	}
	// Each half stays in order.
	begin := len(to.slots)
	for _, v := range slots {
		if v < flag {
			to.slots = append(to.slots, v<<1)
		}
	}
	half := len(to.slots)
	for _, v := range slots {
		if v > flag {
			to.slots = append(to.slots, (v-flag)<<1)
		}
	}
	to.counts = append(to.counts, uint16(half-begin), uint16(len(to.slots)-half))
	s.before.add(len(slots), weight)
	s.after.add(len(slots), 2*weight)
}

// splitEntries is split for buckets with voids, or what becomes one, or counts.
func (s *step) splitEntries(slots []uint64, to *list) {
	c := s.ring.coder
	entries := c.decode(slots, nil)
	s.before.addEntries(c, len(slots), entries)
	if n := len(entries) - 1; n >= 0 && entries[n].depth == maxVoid {
		s.shorten(entries[n])
		entries = entries[:n]
	}
	low, high := c.split(entries, nil, nil)
	s.append(low, to)
	s.append(high, to)
}

// shorten makes a short of a void of the largest depth. It has a copy in each of 2^maxVoid
// buckets, of which the first is counted.
func (s *step) shorten(e entry) {
	if s.bucket%(1<<maxVoid) == 0 {
		t := target{place: place{group: s.group, level: s.ring.layout.level}, idx: s.bucket}
		s.shorts = append(s.shorts, short{s.ring.prefix(t, e), e.count})
	}
}

// merge appends the bucket whose halves are given.
func (s *step) merge(low, high []uint64, to *list) {
	c := s.ring.coder
	begin := len(to.slots)
	before, after := uint64(0), uint64(0)
	top := uint64(0)
	for _, half := range [2][]uint64{low, high} {
		for _, v := range half {
			if v == 0 {
				to.slots = to.slots[:begin]
				s.mergeEntries(low, high, to)
				return
			}
			before += v & -v
			v = top | v>>1 | v&1
			after += v & -v
			to.slots = append(to.slots, v)
		}
		top = c.flag()
	}
	merged := to.slots[begin:]
	slices.SortFunc(merged, compareSlots)
	for i := 3; i < len(merged); i++ {
		if merged[i] == merged[i-3] {
			to.slots = to.slots[:begin]
			s.mergeEntries(low, high, to)
			return
		}
	}
	to.counts = append(to.counts, uint16(len(merged)))
	s.before.add(len(low)+len(high), before)
	s.after.add(len(merged), after)
}

// mergeEntries is merge for buckets with voids or counts.
func (s *step) mergeEntries(low, high []uint64, to *list) {
	c := s.ring.coder
	lows, highs := c.decode(low, nil), c.decode(high, nil)
	s.before.addEntries(c, len(low), lows)
	s.before.addEntries(c, len(high), highs)
	s.append(c.merge(lows, highs, nil), to)
}

// append appends a bucket with these entries.
func (s *step) append(entries []entry, to *list) {
	slots := s.ring.encode(entries, nil)
	s.after.addEntries(s.ring.coder, len(slots), entries)
	to.append(slots)
}

func (s *sums) add(slots int, weight uint64) {
	s.slots += slots
	s.weight += weight
}

func (s *sums) addEntries(c coder, slots int, entries []entry) {
	s.slots += slots
	for _, e := range entries {
		s.weight += c.weight(e)
	}
}
