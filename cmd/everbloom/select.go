package main

import (
	"slices"
	"strconv"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/extract"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/filter"
)

// verdict is what became of a block.
type verdict struct {
	lines []lines.Span
	keys  []filter.Key
	has   []bool     // whether each may be in the set
	parts []partMark // of lines that are searched for keys
	ends  []uint32   // of each line's parts in parts

	selected uint64 // lines
	text     []byte // what to print
	cuts     []int  // behind each selected line in text, only with -m

	found []extract.Part
	lower []byte
}

// partMark says where a part of a line stands in its block, and where its keys
// end in keys.
type partMark struct{ from, to, keys uint32 }

// judge selects the lines of a block. Each is cut only once.
func (q *query) judge(b *lines.Block, v *verdict) error {
	v.lines = b.Cut()
	v.selected, v.text, v.cuts = 0, v.text[:0], v.cuts[:0]
	if q.find != nil || q.only {
		q.collectParts(b, v)
		q.ask(v)
		q.chooseParts(b, v)
		return nil
	}
	v.keys = appendKeys(v.keys[:0], b, v.lines, q.set.Hash())
	q.ask(v)
	if q.printsLines() {
		q.choose(b, v)
	} else {
		q.tally(v)
	}
	return nil
}

// ask asks the set about all keys.
func (q *query) ask(v *verdict) {
	if cap(v.has) < len(v.keys) {
		v.has = make([]bool, cap(v.keys))
	}
	v.has = v.has[:len(v.keys)]
	q.set.MayContainBatch(v.keys, v.has)
}

// tally counts the selected lines.
func (q *query) tally(v *verdict) {
	for _, yes := range v.has {
		if yes {
			v.selected++
		}
	}
	if q.invert {
		v.selected = uint64(len(v.lines)) - v.selected
	}
}

// choose selects lines by what the set says of their keys.
func (q *query) choose(b *lines.Block, v *verdict) {
	has, start := v.has, uint32(0)
	for i, l := range v.lines {
		yes := false
		if l.From < l.To {
			yes, has = has[0], has[1:]
		}
		if yes != q.invert {
			v.text = q.appendLine(v.text, b, i, b.Text[start:l.End])
			if q.enough(v) {
				return
			}
		}
		start = l.End
	}
}

// enough counts a line, and reports whether no more are asked for.
func (q *query) enough(v *verdict) bool {
	v.selected++
	if q.max == noLimit {
		return false
	}
	v.cuts = append(v.cuts, len(v.text))
	return v.selected == q.max
}

// collectParts finds the parts of lines that are keys.
func (q *query) collectParts(b *lines.Block, v *verdict) {
	v.keys, v.parts, v.ends = v.keys[:0], v.parts[:0], v.ends[:0]
	hash := q.set.Hash()
	for _, l := range v.lines {
		text := b.Text[l.From:l.To]
		v.found = q.findIn(v.found[:0], text)
		for _, p := range v.found {
			key := text[p.From:p.To]
			if b.IgnoreCase() {
				v.lower = lines.AppendLower(v.lower[:0], key)
				key = v.lower
			}
			v.keys = append(v.keys, hash.Bytes(key))
			if p.Also != "" {
				v.keys = append(v.keys, hash.String(p.Also))
			}
			v.parts = append(v.parts, partMark{l.From + uint32(p.From), l.From + uint32(p.To), uint32(len(v.keys))})
		}
		v.ends = append(v.ends, uint32(len(v.parts)))
	}
}

// findIn appends the parts of text that are keys.
func (q *query) findIn(found []extract.Part, text []byte) []extract.Part {
	switch {
	case q.find != nil:
		return q.find(found, text)
	case len(text) > 0:
		return append(found, extract.Part{To: len(text)})
	}
	return found
}

// chooseParts selects lines by what the set says of their parts: all of them or,
// with -o, each by itself.
func (q *query) chooseParts(b *lines.Block, v *verdict) {
	start, part, key := uint32(0), uint32(0), uint32(0)
	for i, l := range v.lines {
		found, selected := false, false
		for _, p := range v.parts[part:v.ends[i]] {
			yes := slices.Contains(v.has[key:p.keys], true)
			found, key = found || yes, p.keys
			if q.only && yes != q.invert {
				selected = true
				v.text = q.appendLine(v.text, b, i, b.Text[p.from:p.to])
			}
		}
		if !q.only && found != q.invert {
			selected = true
			v.text = q.appendLine(v.text, b, i, b.Text[start:l.End])
		}
		if selected && q.enough(v) {
			return
		}
		start, part = l.End, v.ends[i]
	}
}

// appendLine appends a line, or a part of one, with what stands before it. A last
// line without end gets one, or it would run into what comes next.
func (q *query) appendLine(to []byte, b *lines.Block, i int, line []byte) []byte {
	if !q.printsLines() {
		return to
	}
	if q.names {
		to = append(append(to, shownName(b.Name)...), ':')
	}
	if q.number {
		to = append(strconv.AppendInt(to, int64(b.First+i), 10), ':')
	}
	to = append(to, line...)
	if end := q.rules.End(); line[len(line)-1] != end {
		to = append(to, end)
	}
	return to
}

// print writes what was selected of a block.
func (q *query) print(_ *lines.Block, v *verdict) error {
	q.keys.Add(uint64(len(v.keys)))
	if left := q.max - q.selected; v.selected >= left {
		v.selected = left
		if len(v.cuts) > 0 {
			v.text = v.text[:v.cuts[left-1]]
		}
	}
	q.selected += v.selected
	if len(v.text) > 0 {
		if _, err := q.stdout.Write(v.text); err != nil {
			return err
		}
	}
	if q.selected > 0 && (q.quiet || q.list || q.others || q.selected == q.max) {
		return errEnough
	}
	return nil
}
