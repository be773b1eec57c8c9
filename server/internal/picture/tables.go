package picture

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/internal/packed"
)

func drawDleft(f *dleft.Filter, k *filter.Key) ([]Part, error) {
	stored, err := words(f)
	if err != nil {
		return nil, err
	}
	s := f.Shape()
	perTable, width := s.Buckets*uint64(s.Cells), uint64(s.Remainder+s.Counter)
	var buckets, remainders []uint64
	if k != nil {
		buckets, remainders = f.Places(*k)
	}
	var parts []Part
	for table := range s.Subtables {
		p := Part{Title: fmt.Sprintf("table %d", table+1), Width: s.Cells}
		if table == 0 {
			p.Title += fmt.Sprintf(": each row is a bucket with room for %d fingerprints, which are short hashes. A key has one bucket in each of the %d tables, and is stored in the emptiest", s.Cells, s.Subtables)
		}
		for i := range perTable {
			at := uint64(table)*perTable + i
			v := packed.Bits(stored, at*width, width)
			remainder, copies := v&(1<<s.Remainder-1), v>>s.Remainder
			var c Cell
			if v != 0 {
				c.On, c.Text = true, fmt.Sprintf("%02x", remainder)
			}
			if copies > 0 {
				c.Text += fmt.Sprintf("×%d", copies+1)
			}
			c.Touched = k != nil && at/uint64(s.Cells) == buckets[table]
			if c.Touched && c.On && remainder == remainders[table] {
				c.Zone = Marked
			}
			p.Cells = append(p.Cells, c)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// buckets returns the fingerprints beside each bit.
func buckets(f *elastic.Filter) ([][]uint64, error) {
	stored, err := words(f)
	if err != nil {
		return nil, err
	}
	s, doublings := f.Shape(), stored[0]
	size := s.Bits << doublings
	most := uint64(s.Slots)
	if s.Branches > 1 {
		most *= 2
	}
	countWidth, width := uint64(bits.Len64(most)), uint64(s.HashBits)-uint64(bits.TrailingZeros64(size))
	out, at := make([][]uint64, size), uint64(0)
	for i := range out {
		n := packed.Bits(stored[5:], at, countWidth)
		at += countWidth
		for range n {
			out[i] = append(out[i], packed.Bits(stored[5:], at, width))
			at += width
		}
	}
	return out, nil
}

func drawElastic(f *elastic.Filter, k *filter.Key) ([]Part, error) {
	all, err := buckets(f)
	if err != nil {
		return nil, err
	}
	touched := make([][]uint64, len(all))
	if k != nil {
		e, err := elastic.Build(f.Shape())
		for err == nil && e.Info().FastBits < f.Info().FastBits {
			err = e.Grow()
		}
		if e, err = with(e, err, *k); err != nil {
			return nil, err
		}
		if touched, err = buckets(e); err != nil {
			return nil, err
		}
	}
	fast := Part{Title: fmt.Sprintf("%d bits, which queries read", len(all)), Width: 32, Asked: true}
	slow := Part{Title: "beside each bit that is set, fingerprints, which only changes read: the last three digits of each", Width: 8}
	for i, b := range all {
		fast.Cells = append(fast.Cells, Cell{On: len(b) > 0, Touched: len(touched[i]) > 0})
		for _, fp := range b {
			slow.Cells = append(slow.Cells, Cell{On: true, Text: fmt.Sprintf("%d: %03x", i, fp&0xFFF), Touched: slices.Contains(touched[i], fp)})
		}
	}
	return []Part{fast, slow}, nil
}

func drawEvergreen(f *evergreen.Filter, k *filter.Key) []Part {
	keys := slices.Sorted(f.Keys())
	var own filter.Key
	if k != nil {
		own = *k
	}
	stored := func(keep func(filter.Key) bool) (cells []Cell) {
		for _, key := range keys {
			if keep(key) {
				cells = append(cells, Cell{On: true, Text: fmt.Sprintf("%016x", uint64(key)), Touched: k != nil && key == own})
			}
		}
		return cells
	}
	n := f.Blocks()
	if n == 0 {
		return []Part{{Title: "a list of whole keys, because they are few: there are no bits, and no false positives; grow it to see blocks", Width: 4, Cells: stored(func(filter.Key) bool { return true })}}
	}
	block, touched := f.Touched(own)
	if k == nil && len(keys) > 0 {
		block, _ = f.Touched(keys[0])
	}
	all := Part{Title: fmt.Sprintf("%d blocks; dark: it has keys", n), Width: wordBits}
	for i := range n {
		all.Cells = append(all.Cells, Cell{On: f.Block(i) != [blockWords]uint64{}, Touched: i == block})
	}
	words := f.Block(block)
	one := Part{Title: fmt.Sprintf("block %d: a cache line of 512 bits, which queries read", block), Width: wordBits, Asked: k != nil}
	if k == nil {
		touched = [blockWords]uint64{}
	}
	one.Cells = cellsOf(words[:], touched[:], blockWords*wordBits)
	run := Part{Title: "its keys, which only changes read", Width: 4, Cells: stored(func(key filter.Key) bool {
		at, _ := f.Touched(key)
		return at == block
	})}
	return []Part{all, one, run}
}

// The head of a line of perennial: see filter/perennial.
const (
	lineBits = blockWords * wordBits
	headBits = 16
	heldAt   = 9
	maxHeld  = 127
)

func drawPerennial(f *perennial.Filter, k *filter.Key) ([]Part, error) {
	stored, err := words(f)
	if err != nil {
		return nil, err
	}
	lines := stored[2+3*stored[1]:]
	own, place := uint64(0), bucketPlace{}
	if k != nil {
		own, place.number, place.first, place.count = f.Place(*k)
	}
	width := int(f.Shape().Width)
	var parts []Part
	for i := range uint64(len(lines) / blockWords) {
		p := Part{Title: fmt.Sprintf("line %d", i+1), Width: wordBits}
		if i == 0 {
			p.Title += fmt.Sprintf(": 512 bits. Grey: how many buckets the line has. Tinted, behind it: how many keys each bucket has, a 1 for each key and then a 0. From the end backwards: a fingerprint of %d bits for each key", width)
		}
		p.Cells = cellsOf(lines[i*blockWords:(i+1)*blockWords], nil, lineBits)
		held := int(lines[i*blockWords] >> heldAt & maxHeld)
		if k != nil && i == own {
			drawLine(p.Cells, held, width, &place)
		} else {
			drawLine(p.Cells, held, width, nil)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// A bucketPlace is where the bucket of a key is in its line.
type bucketPlace struct {
	number       int
	first, count uint // of its slots
}

// drawLine says what the bits of a line are for, and which of them are of the bucket of a key,
// unless that is nil.
func drawLine(cells []Cell, held, width int, own *bucketPlace) {
	for i := range headBits {
		cells[i].Zone = Head
	}
	slots, bucket := 0, 0
	for at := headBits; bucket < held && at < lineBits; at++ {
		c := &cells[at]
		c.Zone, c.Touched = Map, own != nil && bucket == own.number
		if c.On {
			slots++
		} else {
			bucket++
		}
	}
	for slot := range slots {
		for at := lineBits - (slot+1)*width; at < lineBits-slot*width; at++ {
			if slot%2 == 0 {
				cells[at].Zone = Slot
			}
			cells[at].Touched = own != nil && uint(slot) >= own.first && uint(slot) < own.first+own.count
		}
	}
}
