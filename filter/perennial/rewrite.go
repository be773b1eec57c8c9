package perennial

import (
	"errors"
	"math/bits"
	"slices"
)

var (
	// errNoRoom says that more buckets wait for room than a line can tell, or wait in more
	// lines than are changed together.
	errNoRoom = errors.New("too many keys in neighbouring buckets")

	// errTooLarge says that a bucket has more slots than a line.
	errTooLarge = errors.New("too many keys in one bucket")
)

// A rewriter moves buckets. It reads them in ring order: first those of chunks, then lines
// of the ring, which it does not change. It writes them into drafts.
type rewriter struct {
	ring   *ring
	layout layout  // of the lines that are read
	place  place   // of the next one
	ends   bool    // there is nothing to read behind the chunks
	chunks []chunk // those from at on are to be read
	spare  []chunk // memory for others
	at     int
	edits  int    // so many chunks hold what the ring does not have
	packed []line // the lines of these
	old    list
	new    list
}

// begin prepares for reading from the line at p on.
func (w *rewriter) begin(y layout, p place) {
	w.layout, w.place, w.ends = y, p, false
	w.chunks, w.at, w.edits, w.packed = w.chunks[:0], 0, 0, w.packed[:0]
	w.old.clear()
	w.new.clear()
}

// next returns the chunk with the next bucket, or nil if there is none.
func (w *rewriter) next() *chunk {
	for {
		if w.at == len(w.chunks) {
			if w.ends {
				return nil
			}
			w.chunks, w.at = append(w.chunks[:0], chunkOf(w.ring.at(w.place.index()))), 0
			w.place = w.layout.after(w.place)
		}
		if c := &w.chunks[w.at]; c.idx < c.held {
			return c
		}
		w.at++
		w.edits--
	}
}

// collect reads n buckets into the list old.
func (w *rewriter) collect(n int) {
	width := w.ring.w
	for range n {
		c := w.next()
		count := uint(bits.TrailingZeros64(^c.line.window(c.bit)))
		w.old.counts = append(w.old.counts, uint16(count))
		for i := range count {
			w.old.slots = append(w.old.slots, c.line.bits(c.slot-(i+1)*width, width))
		}
		c.skip(extent{1, count}, width)
	}
}

// insert makes the buckets of a list those that are read next.
func (w *rewriter) insert(q *list) error {
	slots := q.slots
	for n := 0; n < len(q.counts); {
		var l line
		var x extent
		for n < len(q.counts) && x.with(1, uint(q.counts[n])).fits(w.ring.w) {
			count := uint(q.counts[n])
			l.setBits(x.end(), count+1, 1<<count-1)
			for i, v := range slots[:count] {
				l.setBits(lineBits-(x.slots+uint(i)+1)*w.ring.w, w.ring.w, v)
			}
			slots = slots[count:]
			x = x.with(1, count)
			n++
		}
		if x.held == 0 {
			return errTooLarge
		}
		l.setHead(0, int(x.held))
		w.packed = append(w.packed, l)
	}
	all := w.spare[:0]
	for i := range w.packed {
		all = append(all, chunkOf(&w.packed[i]))
	}
	all = append(all, w.chunks[w.at:]...)
	w.chunks, w.spare, w.at, w.edits = all, w.chunks, 0, len(w.packed)
	return nil
}

// write drafts the line at index of the buckets that are next: the first in of them, which
// come from lines before, and width more. It returns how many of these are left over.
func (w *rewriter) write(index uint64, in, width int) (left int, err error) {
	if in > maxIn {
		return 0, errNoRoom
	}
	r := w.ring
	r.drafts = append(r.drafts, draft{index: index})
	l := &r.drafts[len(r.drafts)-1].line
	var x extent
	for want := uint(min(in+width, maxHeld)); x.held < want; {
		c := w.next()
		if c == nil {
			break
		}
		n := min(want-x.held, c.held-c.idx)
		part := c.first(n)
		if !x.with(n, part.slots).fits(r.w) {
			part = c.firstFitting(n, x, r.w)
		}
		l.putBits(x.end(), c.line, c.bit, part.held+part.slots)
		x = x.with(part.held, part.slots)
		c.skip(part, r.w)
		l.putBits(lineBits-x.slots*r.w, c.line, c.slot, part.slots*r.w)
		if part.held < n {
			break
		}
	}
	if x.held == 0 && in+width > 0 && w.next() != nil {
		return 0, errNoRoom
	}
	l.setHead(in, int(x.held))
	return in + width - int(x.held), nil
}

// maxFlow is how many lines a change may write. A hundredth of it is much, except for keys
// that were chosen for it.
const maxFlow = 1 << 12

// flow drafts lines from p on, until what is left over is what the next line has from
// lines before already. It reports false if that is not so before line stop.
func (w *rewriter) flow(y layout, p place, left int, stop uint64) (done bool, err error) {
	for {
		if w.next(); left == w.ring.at(p.index()).in() && w.edits <= 0 {
			return true, nil
		}
		if p.index() == stop {
			return false, nil
		}
		if len(w.ring.drafts) == maxFlow {
			return false, errNoRoom
		}
		if left, err = w.write(p.index(), left, p.width()); err != nil {
			return false, err
		}
		p = y.after(p)
	}
}

// replace gives bucket idx of the line at p, or of the line behind if p has no more, other
// slots.
func (w *rewriter) replace(p place, idx int, slots []uint64) error {
	r := w.ring
	in := r.at(p.index()).in()
	w.begin(r.layout, p)
	r.drafts = r.drafts[:0]
	w.collect(idx + 1)
	w.old.slots = w.old.slots[:len(w.old.slots)-int(w.old.counts[idx])]
	w.old.counts = w.old.counts[:idx]
	w.old.append(slots)
	if err := w.insert(&w.old); err != nil {
		return err
	}
	left, err := w.write(p.index(), in, p.width())
	if err != nil {
		return err
	}
	done, err := w.flow(r.layout, r.layout.after(p), left, p.index())
	if err != nil || done {
		return err
	}
	number, bucket := w.numberOf(p)-in+idx, slices.Clone(slots)
	return w.rebuild(r.layout, r.layout, func(all [][]uint64) [][]uint64 {
		all[(number+len(all))%len(all)] = bucket
		return all
	})
}

// numberOf returns how many buckets lie nominally before the line at p.
func (w *rewriter) numberOf(p place) int {
	n := 0
	for at := range w.ring.places() {
		if at == p {
			break
		}
		n += at.width()
	}
	return n
}

// maxRebuild is how many lines are written anew together. More are spilled over only by
// keys that were chosen for it.
const maxRebuild = 128

// rebuild drafts all lines, for layout to, from those of layout from. It is for small rings,
// in which buckets may be spilled all the way round.
func (w *rewriter) rebuild(from, to layout, change func(all [][]uint64) [][]uint64) error {
	if from.total > maxRebuild {
		return errNoRoom
	}
	all := change(w.all(from))
	for in := 0; in <= maxIn && in < len(all); {
		w.begin(to, to.groupOf(0))
		w.ring.drafts = w.ring.drafts[:0]
		w.ends = true
		for i := range all {
			w.old.append(all[(i+len(all)-in)%len(all)])
		}
		if err := w.insert(&w.old); err != nil {
			return err
		}
		if err := w.writeAll(to, in); err != nil {
			return err
		}
		if w.next() == nil {
			return nil
		}
		in += w.waiting()
	}
	return errNoRoom
}

// writeAll drafts all lines of a layout, of which the first has so many buckets from lines
// before.
func (w *rewriter) writeAll(y layout, in int) (err error) {
	first := y.groupOf(0)
	for p := first; ; {
		if in, err = w.write(p.index(), in, p.width()); err != nil {
			return err
		}
		if p = y.after(p); p == first {
			return nil
		}
	}
}

// waiting returns how many buckets of chunks were not read.
func (w *rewriter) waiting() (n int) {
	for _, c := range w.chunks[w.at:] {
		n += int(c.held - c.idx)
	}
	return n
}

// all returns the slots of all buckets in hash order.
func (w *rewriter) all(y layout) [][]uint64 {
	first := y.groupOf(0)
	w.begin(y, first)
	spilled, n := w.ring.at(first.index()).in(), int(y.buckets())
	w.collect(spilled + n)
	out := make([][]uint64, 0, n)
	at := 0
	for _, count := range w.old.counts {
		out = append(out, append([]uint64(nil), w.old.slots[at:at+int(count)]...))
		at += int(count)
	}
	return out[spilled:]
}
