package perennial

import (
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
)

// resize makes the ring one line longer or shorter: it rewrites the group that has one
// more or less, and what lies behind it as far as needed.
func (r *ring) resize(lines uint64) error {
	if lines < r.least || lines > maxLines {
		return fmt.Errorf("%w: %d lines", filter.ErrFull, lines)
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
			return fmt.Errorf("%w: %w", filter.ErrStorage, err)
		}
	}
	if err := s.draft(); err != nil {
		r.discard()
		r.lines.Shrink(r.layout.total)
		return fmt.Errorf("%w: %w", filter.ErrFull, err)
	}
	s.weigh()
	if len(s.extras) > 0 { // before they leave the ring
		r.extras.Store(r.extras.Load().with(s.extras, r.maxCount()))
	}
	r.slots += uint64(s.after.slots - s.before.slots)
	r.publish(to)
	if len(s.back) > 0 { // after they are in the ring
		r.extras.Store(r.extras.Load().less(s.back))
	}
	r.renumber()
	r.prefetchGroup(to.next)
	if !s.grows {
		r.keep(lines)
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
	bucket        int     // of the group, that is split or merged next
	extras        []extra // that the ring will not have any more
	back          []extra // that it will have again
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
	r.drafts = r.drafts[:0]
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
