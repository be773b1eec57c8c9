package perennial

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// A ring is the lines and what is known about them. One goroutine at a time changes it;
// readers need no lock: see sequences.
type ring struct {
	coder
	kernel    bool // filterHas knows the width
	mixer     probe.Mixer
	lines     *mem.Lines
	state     atomic.Uint64                 // the layout, for readers
	directory atomic.Pointer[mem.Directory] // that of lines, for filterHas
	seqs      atomic.Pointer[sequences]
	extras    atomic.Pointer[extras]

	layout  layout
	shape   Shape
	least   uint64 // lines
	keys    uint64
	slots   uint64
	waiting uint64    // buckets that lines have from lines before, summed up over the lines
	limit   uint64    // slots above which a line is added
	low     uint64    // slots below which one is removed
	weights [2]uint64 // of all entries, by the levels that their groups are above the layout's
	drafts  []draft   // in the workspace
	work    *workspace
	written uint64 // lines, so far
	capture *capture
}

// Sequences are numbers of changes, one for every line in turn. A line is being changed
// while its number is odd. A reader takes the number, reads the line, and takes the number
// again: if it is the same and even, the line was the same in between.
type sequences []atomic.Uint32

// maxSequences keeps the numbers in the first cache. Small rings have one for 32
// groups.
const maxSequences = 1 << 10

func newSequences(y layout) *sequences {
	s := make(sequences, sequencesFor(y))
	return &s
}

func (s sequences) of(i uint64) *atomic.Uint32 { return &s[i&uint64(len(s)-1)] }

// newRing returns an empty ring of so many lines.
func newRing(s Shape, lines uint64) (*ring, error) {
	a := mem.NewLines()
	if err := a.Grow(lines); err != nil {
		return nil, fmt.Errorf("%w: %w", filter.ErrStorage, err)
	}
	r := &ring{coder: coder{uint(s.Width)}, shape: s, mixer: probe.NewMixer(s.Salt), lines: a, layout: layoutOf(lines), least: lines}
	r.kernel = hasKernel && s.Width <= kernelWidth
	r.seqs.Store(newSequences(r.layout))
	for p := range r.places() {
		r.at(p.index()).setHead(0, p.width())
	}
	r.moved()
	return r, nil
}

// clone returns a copy.
func (r *ring) clone() (*ring, error) {
	c, err := newRing(r.shape, r.layout.total)
	if err != nil {
		return nil, err
	}
	for i := range r.layout.total {
		*c.at(i) = *r.at(i)
	}
	c.extras.Store(r.extras.Load())
	c.least, c.keys, c.slots, c.waiting, c.weights = r.least, r.keys, r.slots, r.waiting, r.weights
	c.moved()
	return c, nil
}

// places gives all lines in ring order.
func (r *ring) places() func(yield func(place) bool) {
	return func(yield func(place) bool) {
		first := r.layout.groupOf(0)
		for p := first; yield(p); {
			if p = r.layout.after(p); p == first {
				return
			}
		}
	}
}

// at returns line i, or nil if there is none any more. Lines that readers may see are changed
// by publish only.
func (r *ring) at(i uint64) *line { return (*line)(r.lines.At(i)) }

// moved tells readers the layout, and computes between which numbers of slots it stays.
func (r *ring) moved() {
	r.directory.Store(r.lines.Directory())
	r.state.Store(r.layout.pack())
	r.limit, r.low = r.room(r.layout), 0
	if r.layout.total > r.least {
		r.low = uint64(shrinkAt * float64(r.room(layoutOf(r.layout.total-1))))
	}
}

// shrinkAt is how full the smaller ring may be when a line is removed, so that adding and
// deleting a key in turns does not move lines.
const shrinkAt = 0.975

// room returns how many slots a ring of this layout is for.
func (r *ring) room(y layout) uint64 { return uint64(r.shape.room(y)) }

// rate returns the share of all absent keys that fit an entry; those that fit several
// count as often.
func (r *ring) rate() float64 {
	sum := float64(r.weights[0]) + float64(r.weights[1])/2
	return min(1, math.Ldexp(sum, -int(r.layout.level)-bucketLog-int(r.w-1))+r.extras.Load().rate())
}

// find returns the line that holds the bucket of t, and the number of the bucket in it.
func (r *ring) find(t target) (p place, l *line, idx int) {
	p = t.place
	l = r.at(p.index())
	idx = t.idx + l.in()
	for idx >= l.held() {
		idx -= l.held()
		p = r.layout.after(p)
		l = r.at(p.index())
	}
	return p, l, idx
}

// patience is how often a reader begins again before it lets others run.
const patience = 64

// look reports whether the ring has an entry that fits a key. It may run beside a change, and
// begins again if that disturbs it.
func (r *ring) look(k filter.Key) bool {
	z := r.mixer.Mix(k)
	for tries := 0; ; tries++ {
		if tries > patience {
			runtime.Gosched() // the writer may be waiting for this processor
		}
		state := r.state.Load()
		y := unpack(state)
		t := y.locate(z, r.w)
		i := t.index()
		seq := r.seqs.Load().of(i)
		before := seq.Load()
		var room line
		l := ordered(r.at(i), &room)
		if l == nil {
			continue
		}
		var found bool
		ok := true
		idx, held := t.idx+l.in(), l.held()
		if idx < held {
			found = r.has(l, idx, t.y)
		} else {
			found, ok = r.lookBehind(state, t.place, idx-held, t.y)
		}
		if ok && before&1 == 0 && r.state.Load() == state && seq.Load() == before { // in this order: a step back changes the line
			return found || r.extras.Load().has(z) // which have got what has left the ring
		}
	}
}

// lookBehind answers for bucket idx, counted from the end of the line at p.
func (r *ring) lookBehind(state uint64, p place, idx int, suffix uint64) (found, ok bool) {
	if idx > maxIn {
		return false, false // the line before is being changed
	}
	p = unpack(state).after(p)
	i := p.index()
	seq := r.seqs.Load().of(i)
	before := seq.Load()
	var room line
	l := ordered(r.at(i), &room)
	if l == nil || before&1 != 0 {
		return false, false
	}
	held := l.held()
	switch {
	case idx < held:
		found, ok = r.has(l, idx, suffix), true
	default:
		found, ok = r.lookBehind(state, p, idx-held, suffix)
	}
	return found, ok && r.state.Load() == state && seq.Load() == before // in this order, as in look
}

// ordered returns a line, or a copy of it in room, of which all words were read before
// anything that is read afterwards. Some architectures read plain words later than atomic
// ones that follow them.
func ordered(l, room *line) *line {
	if l == nil || inOrder {
		return l
	}
	for i := range room {
		room[i] = atomic.LoadUint64(&l[i])
	}
	return room
}

// has reports whether an entry of bucket idx of a line fits y.
func (r *ring) has(l *line, idx int, y uint64) bool {
	first, count := l.find(idx)
	end := lineBits - first*r.w
	for range count {
		end -= r.w
		v := l.bits(end&(lineBits-1), r.w)
		if v == 0 {
			return r.hasSlow(l, idx, y)
		}
		if fits(v, y) {
			return true
		}
	}
	return false
}

// hasSlow is has for a bucket with voids or counts.
func (r *ring) hasSlow(l *line, idx int, y uint64) bool {
	var slots [maxSlotsEver]uint64
	var entries [maxSlotsEver]entry
	for _, e := range r.decode(r.slotsOf(l, idx, slots[:0]), entries[:0]) {
		if e.v == 0 || fits(e.v, y) {
			return true
		}
	}
	return false
}

// maxSlotsEver is at least how many slots a bucket may have, whatever the width.
const maxSlotsEver = 64

// slotsOf appends the slots of bucket idx of a line.
func (r *ring) slotsOf(l *line, idx int, to []uint64) []uint64 {
	first, count := l.find(idx)
	for i := first; i < first+min(count, maxSlotsEver); i++ {
		to = append(to, l.bits((lineBits-(i+1)*r.w)&(lineBits-1), r.w))
	}
	return to
}
