package dynamic

import (
	"fmt"
	"io"

	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// Both kinds are stored in the common envelope (internal/frame), words little
// endian:
//
//	kind 6,  dynamic    shape positions, hashes, counterbits, full, salt
//	kind 11, parallel   shape partitions, then as dynamic
//
//	payload   for each list (dynamic has one) 1 word: its number of units, at least 1
//	          for each unit, list by list, the active unit of a list last:
//	            1 word    keys, copies counted; all ones if beyond counting; 0 if plain
//	            ⌈positions·counterbits/64⌉ words, as package bloom or counting stores them
//
// No unit has more positions set than full says, and none but the last of a list
// is without keys. The summary's set bits are the positions above zero and must be
// true, as must be its number of keys. The format is version 1: do not change.
const formatVersion = 1

// Snapshot captures the filter as it is now, in memory of its own. If there is no
// memory, writing it says so.
func (f *Filter) Snapshot() io.WriterTo {
	return imageOf(frame.Dynamic, f.shape, []*Filter{f}).Copied()
}

// Image is like Snapshot without the copy: the filter must not change before
// the result is written.
func (f *Filter) Image() io.WriterTo { return imageOf(frame.Dynamic, f.shape, []*Filter{f}) }

// imageOf returns the stored form of some lists.
func imageOf(kind frame.Kind, shape any, lists []*Filter) *frame.Image {
	counts := make([]uint64, len(lists))
	words := [][]uint64{counts}
	for i, l := range lists {
		counts[i] = uint64(len(l.units))
		for j := range l.units {
			words = append(words, []uint64{l.units[j].keys()}, l.units[j].words)
		}
	}
	return frame.Words(kind, formatVersion, shape, summaryOf(lists), words...)
}

func summaryOf(lists []*Filter) frame.Summary {
	c := censusOf(lists...)
	return frame.Summary{Keys: c.keys, SetBits: c.set, FastBits: uint64(c.units) * lists[0].shape.Bits()}
}

// Read reads what a [Filter]'s Snapshot wrote.
func Read(src io.Reader) (*Filter, error) {
	r, s, err := frame.OpenAs(src, frame.Dynamic, formatVersion, Shape.check)
	if err != nil {
		return nil, err
	}
	lists, err := readLists(r, s, 1)
	if err != nil {
		return nil, err
	}
	return lists[0], nil
}

// readLists reads the payload: lists of units of shape s. It closes r.
func readLists(r *frame.Reader, s Shape, n int) ([]*Filter, error) {
	counts, err := readCounts(r, s, n)
	if err != nil {
		return nil, err
	}
	lists := make([]*Filter, n)
	for i, count := range counts {
		var units []unit
		for range count {
			u, err := readUnit(r, s)
			if err != nil {
				return nil, err
			}
			units = append(units, u)
		}
		lists[i] = over(s, units)
		if err := lists[i].check(); err != nil {
			return nil, r.Corrupt(fmt.Sprintf("list %d", i), err, nil)
		}
	}
	if err := r.CheckSummary(summaryOf(lists)); err != nil {
		return nil, err
	}
	return lists, r.Close()
}

// readCounts reads how many units each list has and checks that the payload has
// exactly so many.
func readCounts(r *frame.Reader, s Shape, n int) ([]uint64, error) {
	if left := r.Left(); left < 8*uint64(n) {
		return nil, r.Corrupt("payload: bytes", left, fmt.Sprintf("at least %d for %d lists", 8*n, n))
	}
	counts := make([]uint64, n)
	if err := r.ReadWordsInto(counts); err != nil {
		return nil, err
	}
	size := 8 * (1 + s.words())
	most := r.Left() / size
	left := most
	for i, count := range counts {
		if count < 1 || count > left {
			return nil, r.Corrupt(fmt.Sprintf("list %d: units", i), count, fmt.Sprintf("1 to %d", left))
		}
		left -= count
	}
	if left != 0 || r.Left()%size != 0 {
		return nil, r.Corrupt("payload: bytes", r.Left(), fmt.Sprintf("%d for each of %d units", size, most-left))
	}
	return counts, nil
}

// readUnit reads one unit.
func readUnit(r *frame.Reader, s Shape) (unit, error) {
	var keys [1]uint64
	if err := r.ReadWordsInto(keys[:]); err != nil {
		return unit{}, err
	}
	words, err := r.ReadWords(s.words(), mem.Words)
	if err != nil {
		return unit{}, err
	}
	u, err := unitOver(s, keys[0], words)
	if err != nil {
		return unit{}, r.Corrupt("payload", err, nil)
	}
	return u, nil
}

// check reports whether units that were read may be a list: none is too full, and none
// but the last is without keys.
func (f *Filter) check() error {
	for i := range f.units {
		u := &f.units[i]
		if u.set > f.shape.Full {
			return fmt.Errorf("dynamic: unit %d has %d positions set, at most %d", i, u.set, f.shape.Full)
		}
		if u.empty() && (u.set > 0 || i < len(f.units)-1) {
			return fmt.Errorf("dynamic: unit %d of %d has no keys and %d positions set", i, len(f.units), u.set)
		}
	}
	return nil
}
