package picture

import (
	"fmt"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/packed"
)

const (
	blockWords = 8
	wordBits   = 64
)

func drawBloom(f *bloom.Filter, k *filter.Key) ([]Part, error) {
	touched, err := touchedBy(k, f.Shape(), bloom.Build)
	n := f.Shape().Bits
	return []Part{{Title: fmt.Sprintf("%d bits", n), Width: 32, Cells: cellsOf(f.Words(), touched, n), Asked: true}}, err
}

func drawBlocked(f *bloom.Blocked, k *filter.Key) ([]Part, error) {
	touched, err := touchedBy(k, f.Shape(), bloom.BuildBlocked)
	return blocks("block", f.Words(), touched), err
}

// blocks draws blocks of 512 bits. Only the one that the key touches is asked.
func blocks(name string, words, touched []uint64) (parts []Part) {
	for i := 0; i < len(words); i += blockWords {
		p := Part{Title: fmt.Sprintf("%s %d: a cache line of 512 bits, a word in each row", name, i/blockWords), Width: wordBits}
		var mine []uint64
		if touched != nil {
			mine = touched[i : i+blockWords]
			p.Asked = slices.Max(mine) > 0
		}
		p.Cells = cellsOf(words[i:i+blockWords], mine, blockWords*wordBits)
		parts = append(parts, p)
	}
	return parts
}

// counters draws numbers of a width that lie side by side.
func counters(words, touched []uint64, n, width uint64) []Cell {
	cells := make([]Cell, n)
	for i := range cells {
		if v := packed.Bits(words, uint64(i)*width, width); v > 0 {
			cells[i].On, cells[i].Text = true, fmt.Sprint(v)
		}
		cells[i].Touched = touched != nil && packed.Bits(touched, uint64(i)*width, width) > 0
	}
	return cells
}

func drawCounting(f *counting.Filter, k *filter.Key) ([]Part, error) {
	s := f.Shape()
	touched, err := touchedBy(k, s, counting.Build)
	return []Part{{Title: fmt.Sprintf("%d counters of %d bits", s.Counters, s.CounterBits), Width: 16, Cells: counters(f.Words(), touched, s.Counters, uint64(s.CounterBits)), Asked: true}}, err
}

func drawDeletable(f *deletable.Filter, k *filter.Key) ([]Part, error) {
	stored, err := words(f)
	if err != nil {
		return nil, err
	}
	s := f.Shape()
	marks := (s.Regions + wordBits - 1) / wordBits // words
	var touched []uint64
	if k != nil {
		e, err := deletable.Build(s)
		if e, err = with(e, err, *k); err != nil {
			return nil, err
		}
		all, err := words(e)
		if err != nil {
			return nil, err
		}
		touched = all[marks:]
	}
	p := Part{Title: fmt.Sprintf("%d bits in regions of %d; shaded: keys collided there, and no bit is cleared any more", s.Cells(), s.RegionBits()), Width: 32, Asked: true}
	p.Cells = cellsOf(stored[marks:], touched, s.Cells())
	for i := range p.Cells {
		if region := uint64(i) / s.RegionBits(); stored[region/wordBits]>>(region%wordBits)&1 != 0 {
			p.Cells[i].Zone = Marked
		}
	}
	return []Part{p}, nil
}

func drawScalable(f *scalable.Filter, k *filter.Key) ([]Part, error) {
	stored, err := words(f)
	if err != nil {
		return nil, err
	}
	var parts []Part
	for unit := 1; len(stored) > 0; unit++ {
		n, hashes := stored[0], stored[1]
		touched, err := touchedBy(k, bloom.BlockedShape{Blocks: n, Hashes: int(hashes), Salt: f.Shape().Salt}, bloom.BuildBlocked)
		if err != nil {
			return nil, err
		}
		parts = append(parts, blocks(fmt.Sprintf("filter %d, block", unit), stored[3:3+blockWords*n], touched)...)
		stored = stored[3+blockWords*n:]
	}
	return parts, nil
}

// drawLists draws lists of counting filters. empty makes a filter to find the list of the key
// with.
func drawLists(f filter.Filter, s dynamic.Shape, lists int, empty func() (filter.Filter, error), k *filter.Key) ([]Part, error) {
	stored, err := words(f)
	if err != nil {
		return nil, err
	}
	var touched []uint64
	own := -1
	unitWords := int(s.Bits() / wordBits)
	if k != nil {
		e, err := empty()
		if e, err = with(e, err, *k); err != nil {
			return nil, err
		}
		all, err := words(e)
		if err != nil {
			return nil, err
		}
		for list := range lists {
			if unit := all[lists+list*(1+unitWords)+1:][:unitWords]; slices.Max(unit) > 0 {
				own, touched = list, unit
			}
		}
	}
	counts, rest := stored[:lists], stored[lists:]
	var parts []Part
	for list, n := range counts {
		for unit := range n {
			p := Part{Title: fmt.Sprintf("filter %d: %d counters, %d keys", unit+1, s.Positions, rest[0]), Width: 16, Asked: list == own}
			if lists > 1 {
				p.Title = fmt.Sprintf("list %d, ", list+1) + p.Title
			}
			var mine []uint64
			if list == own {
				mine = touched
			}
			p.Cells = counters(rest[1:1+unitWords], mine, s.Positions, uint64(s.CounterBits))
			parts, rest = append(parts, p), rest[1+unitWords:]
		}
	}
	return parts, nil
}

func drawPartition(f *partition.Filter, k *filter.Key) ([]Part, error) {
	s := f.Shape()
	var touched []uint64
	var id uint64
	if k != nil {
		id = uint64(*k) >> (wordBits - s.IDBits)
		e, err := partition.Build(s)
		if e, err = with(e, err, *k); err != nil {
			return nil, err
		}
		for n := range e.Nodes() {
			touched = n.Words
		}
	}
	var parts []Part
	for n := range f.Nodes() {
		if !n.Leaf || n.Words == nil {
			continue
		}
		all := "all hashes"
		if n.Depth > 0 {
			all = fmt.Sprintf("hashes that begin with %0*b", n.Depth, n.Index)
		}
		p := Part{Title: fmt.Sprintf("leaf: %s; %d keys, %d bits", all, n.Keys, s.UnitBits), Width: 32}
		var mine []uint64
		if k != nil && id>>(s.IDBits-n.Depth) == n.Index {
			mine, p.Asked = touched, true
		}
		p.Cells = cellsOf(n.Words, mine, s.UnitBits)
		parts = append(parts, p)
	}
	return parts, nil
}
