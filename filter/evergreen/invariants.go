package evergreen

import (
	"fmt"
	"slices"

	"github.com/everbloom-go/everbloom/internal/line"
)

// check reports what is wrong with a filter that is not in use.
func (f *Filter) check() error {
	t, list := f.present()
	if t != nil {
		return checkTable(t)
	}
	for i := range list {
		if i > 0 && list[i-1] >= list[i] || i >= listMost {
			return fmt.Errorf("evergreen: key %d of a list of %d: %#x", i, len(list), list[i])
		}
	}
	return nil
}

func checkTable(t *table) error {
	for i := range t.stripes {
		if err := t.deliver(&t.stripes[i]); err != nil {
			return err
		}
	}
	if floor, n := t.size.floor.Load(), t.load().blocks(); floor > n {
		return fmt.Errorf("evergreen: %d blocks are to be kept of %d", floor, n)
	}
	if err := checkBlocks(t); err != nil {
		return err
	}
	if err := t.store.Check(t.load().blocks()); err != nil {
		return err
	}
	for i := range t.lines.array.Cap() {
		if b := t.lines.at(i); i >= t.load().blocks() && *b != (line.Block{}) {
			return fmt.Errorf("evergreen: block %d of %d is not empty", i, t.load().blocks())
		}
	}
	return nil
}

// checkBlocks compares the blocks with their fingerprints, and the counts with both.
func checkBlocks(t *table) error {
	n := t.load().blocks()
	var keys, sum int64
	for i := range n {
		r := *t.store.Ref(i)
		var list []uint64
		if r.Count() > 0 {
			list = t.store.Run(r).AppendTo(nil)
		}
		var want line.Block
		for _, fp := range list {
			want.Mark(fp, t.rounds)
			if home := place(mixedOf(fp, i, t.width), n); home != i {
				return fmt.Errorf("evergreen: block %d of %d holds fingerprint %#x of block %d", i, n, fp, home)
			}
		}
		if got := *t.lines.at(i); got != want {
			return fmt.Errorf("evergreen: block %d with %d keys: bits %x, want %x", i, len(list), got, want)
		}
		slices.Sort(list)
		if t.exact && len(slices.Compact(list)) != r.Count() {
			return fmt.Errorf("evergreen: block %d holds a fingerprint twice", i)
		}
		keys += int64(r.Count())
		sum += t.meter.share(r.Count(), levelOf(i, n))
	}
	if gotKeys, gotSum := t.count(); gotKeys != keys || gotSum != sum {
		return fmt.Errorf("evergreen: %d keys and rate %d, counted %d and %d", keys, sum, gotKeys, gotSum)
	}
	return nil
}
