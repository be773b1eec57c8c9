package elastic

import (
	"fmt"
	"iter"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
)

// The lazy update of [EBF21] Sec. 3.3.1. Doubling copies the bits into both halves of a
// new array and adds empty buckets. Its work on the buckets is done run by run: splitting
// a run moves the fingerprints that belong to its twin in the upper half and clears the
// bits of what is empty then. Until then both halves' bits are those of before, so that
// there is no false negative, and writers look for the fingerprints of both in the lower
// one.

// doubleTo doubles the table until that was done e times. All memory is taken first:
// after an error the table is as before. Only one doubling can be under way: an earlier
// one is finished first.
func (t *table) doubleTo(e int) error {
	var arrays []*fast
	for i := 1; t.slow.doublings+i <= e; i++ {
		a, err := newFast(t.size() << i)
		if err != nil {
			return err
		}
		arrays = append(arrays, a)
	}
	if err := t.slow.reserve(e + 1); err != nil {
		return err
	}
	for _, a := range arrays {
		t.splitAll()
		t.fast.Load().double(a)
		t.slow.double()
		t.set.Add(t.set.Load())
		t.publish(a)
	}
	return nil
}

// splitRun splits a run of the lower half, unless it is split already. The bits tell
// which buckets are empty: their memory is not touched.
func (t *table) splitRun(low, run uint64) {
	s := t.slow
	if s.isSplit(low, run) {
		return
	}
	a, first := t.fast.Load(), run*runTrees
	from, to := s.tree(low, first), s.twin(low, first)
	n := min(runTrees, s.segment-first)
	from.prefetchFronts(n)
	to.prefetchFronts(n)
	base := s.firstBit(low, first)
	width := min(runTrees*s.branches, 1<<s.sizeBits-first*s.branches) // bits of the run
	high, bit := base+a.size()/2, uint64(s.doublings-1)
	cleared := 0
	for i := range (width + 63) / 64 {
		var clearLow, clearHigh uint64
		for set := a.words[base/64+i] >> (base % 64) & (1<<min(width, 64) - 1); set != 0; set &= set - 1 {
			bucket := uint64(bits.TrailingZeros64(set))
			j, branch := s.group(64*i + bucket)
			lower, upper := from, to
			lower.at, lower.back = lower.at+j*s.frontBits, lower.back+j*s.backBits
			upper.at, upper.back = upper.at+j*s.frontBits, upper.back+j*s.backBits
			inLow, inHigh := lower.split(upper, branch, bit)
			if !inLow {
				clearLow |= 1 << bucket
			}
			if !inHigh {
				clearHigh |= 1 << bucket
			}
		}
		cleared += bits.OnesCount64(clearLow) + bits.OnesCount64(clearHigh)
		a.clearSome(base/64+i, clearLow<<(base%64))
		a.clearSome(high/64+i, clearHigh<<(high%64))
	}
	t.set.Add(-int64(cleared))
	s.split[low*s.runs+run] = true
	s.unsplit.Add(-n)
}

// splitTree splits the run of the tree of x.
func (t *table) splitTree(x uint64) {
	segment, group, _ := t.slow.home(x)
	t.splitRun(t.slow.lower(segment), group/runTrees)
}

// areSplit reports whether the trees of a key are.
func (t *table) areSplit(xs []uint64) bool {
	s := t.slow
	if s.unsplit.Load() == 0 {
		return true
	}
	for _, x := range xs {
		segment, group, _ := s.home(x)
		if !s.isSplit(s.lower(segment), group/runTrees) {
			return false
		}
	}
	return true
}

// chunkRuns is how many runs a goroutine splits at a time if all are to be split.
const chunkRuns = 32

// splitAll finishes a doubling, if one is under way, with several goroutines if it is
// large. All stripes are held.
func (t *table) splitAll() {
	if t.slow.unsplit.Load() == 0 {
		return
	}
	for _, chunks := range chunksOf(t.slow.runs, t.slow.doublings) {
		var next atomic.Uint64
		n := uint64(len(chunks))
		together(n, func() {
			for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
				t.splitChunk(chunks[i])
			}
		})
	}
}

func (t *table) splitChunk(chunk uint64) {
	for r := chunk * chunkRuns; r < min(uint64(len(t.slow.split)), (chunk+1)*chunkRuns); r++ {
		t.splitRun(r/t.slow.runs, r%t.slow.runs)
	}
}

// chunksOf returns the chunks of a doubling, of segments with so many runs, in parts that are
// split one after the other. Chunks of one part have no word of slow memory in common:
// neighbours can, and so can the first and the last of a block, where fronts meet backs. The
// first of each block is a part of its own.
func chunksOf(runs uint64, doublings int) (parts [][]uint64) {
	first := map[uint64]bool{}
	for block := range doublings {
		c := (1 << block >> 1) * runs / chunkRuns
		if !first[c] {
			parts = append(parts, []uint64{c})
		}
		first[c] = true
	}
	var rest [2][]uint64
	for c := range (runs<<(doublings-1) + chunkRuns - 1) / chunkRuns {
		if !first[c] {
			rest[c%2] = append(rest[c%2], c)
		}
	}
	return append(parts, rest[:]...)
}

// together has several goroutines, but no more than asked for, do the same.
func together(most uint64, do func()) {
	var helpers sync.WaitGroup
	for range min(uint64(runtime.GOMAXPROCS(0)), max(1, most)) - 1 {
		helpers.Go(do)
	}
	do()
	helpers.Wait()
}

var (
	errSmallest = fmt.Errorf("elastic: shrink: the filter has its least size: %w", filter.ErrFull)
	errCrowded  = fmt.Errorf("elastic: shrink: buckets would overflow: %w", filter.ErrFull)
	errRate     = fmt.Errorf("elastic: shrink: the rate would pass the asked one: %w", filter.ErrFull)
)

// halve halves the table, if buckets allow it and the share of set bits is at most the
// given one then. After an error it is as before.
func (t *table) halve(most float64) error {
	if t.slow.doublings == 0 {
		return errSmallest
	}
	t.splitAll()
	a, err := t.fast.Load().halve()
	if err != nil {
		return err
	}
	set := int64(a.count())
	if float64(set) > most*float64(a.size()) {
		return errRate
	}
	if !t.fold() {
		return errCrowded
	}
	t.slow.halve()
	t.set.Store(set)
	t.publish(a)
	return nil
}

// fold moves all fingerprints of the upper half to the lower one. If a tree overflows by
// that it says so, and all is as before.
func (t *table) fold() bool {
	for low, group := range t.upperAhead() {
		tree := t.slow.tree(low, group)
		for _, e := range t.slow.twin(low, group).gather(t.entries[:0]) {
			if !tree.add(e.branch, e.fp) {
				t.undoFold(low, group)
				return false
			}
		}
	}
	return true
}

// undoFold takes back what fold has put into trees up to the given one. The upper half
// still has it all.
func (t *table) undoFold(lastLow, lastGroup uint64) {
	for low, group := range t.upper() {
		tree := t.slow.tree(low, group)
		all := tree.gather(t.entries[:0])
		tree.wipe()
		for _, e := range all {
			if e.fp>>(t.slow.doublings-1)&1 == 0 {
				tree.add(e.branch, e.fp)
			}
		}
		if low == lastLow && group == lastGroup {
			return
		}
	}
}

// upper returns the trees of the upper half that have fingerprints, by their twins in
// the lower half. All trees are split, so the bits tell which are empty, and most are
// when it is time to halve: their memory need not be read.
func (t *table) upper() iter.Seq2[uint64, uint64] {
	a, half := t.fast.Load(), t.size()/2
	return func(yield func(low, group uint64) bool) {
		next := uint64(0) // first bit behind the tree that was given last
		for i := range bitvec.Vector(a.words).Ones(half) {
			if i < next {
				continue
			}
			group, branch := t.slow.group(i & (1<<t.slow.sizeBits - 1))
			next = i - branch + t.slow.branchesOf(group)
			if !yield((i-half)>>t.slow.sizeBits, group) {
				return
			}
		}
	}
}

// foldAhead is how many trees are touched before they are read.
const foldAhead = 16

// upperAhead is upper with a look ahead: what is going to be read is touched some trees
// before, so that the cache misses overlap.
func (t *table) upperAhead() iter.Seq2[uint64, uint64] {
	return func(yield func(low, group uint64) bool) {
		ahead := make([][2]uint64, 0, foldAhead)
		pass := func() bool {
			for _, a := range ahead {
				t.slow.tree(a[0], a[1]).prefetch()
				t.slow.twin(a[0], a[1]).prefetch()
			}
			for _, a := range ahead {
				if !yield(a[0], a[1]) {
					return false
				}
			}
			ahead = ahead[:0]
			return true
		}
		for low, group := range t.upper() {
			ahead = append(ahead, [2]uint64{low, group})
			if len(ahead) == foldAhead && !pass() {
				return
			}
		}
		pass()
	}
}
