package console

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/everbloom-go/everbloom/server/internal/picture"
)

// howPart is a part of a picture on a page.
type howPart struct{ picture.Part }

// The sizes of cells, in pixels.
const (
	bitSize    = 10
	largeBit   = 18 // of parts with short rows
	largeRow   = 32 // cells
	boxHeight  = 20
	boxPadding = 10
	letter     = 7 // width
)

// isText reports whether the cells have numbers.
func (p howPart) isText() bool {
	for _, c := range p.Cells {
		if c.Text != "" {
			return true
		}
	}
	return p.Width < largeRow // empty ones of a part that is for numbers
}

// Figure returns the part as a part of a page.
func (p howPart) Figure() template.HTML {
	if len(p.Cells) == 0 {
		return ""
	}
	width, height, class := bitSize, bitSize, "cells"
	if p.Width <= largeRow {
		width, height, class = largeBit, largeBit, "cells large"
	}
	if p.isText() {
		longest := 2
		for _, c := range p.Cells {
			longest = max(longest, len([]rune(c.Text)))
		}
		width, height = letter*longest+boxPadding, boxHeight
	}
	columns := min(p.Width, len(p.Cells))
	rows := (len(p.Cells) + columns - 1) / columns
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="%s" viewBox="-1 -1 %d %d" width="%d" role="img" aria-label="%s">`, class, columns*width+2, rows*height+2, columns*width, esc(p.label()))
	for i, class := range []string{"marked", "head", "map", "slot"} {
		p.fill(&b, class, columns, width, height, 0, func(c picture.Cell) bool { return c.Zone == picture.Zone(i+1) })
	}
	b.WriteString(p.grid(columns, rows, width, height))
	if !p.isText() {
		p.fill(&b, "on", columns, width, height, 2, func(c picture.Cell) bool { return c.On })
	}
	p.fill(&b, "touch", columns, width, height, 1, func(c picture.Cell) bool { return c.Touched })
	for i, c := range p.Cells {
		if c.Text != "" {
			fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`, i%columns*width+width/2, i/columns*height+height-6, esc(c.Text))
		}
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) // every text in it was escaped
}

// fill adds a path around some of the cells, which lies inside of them by some pixels.
func (p howPart) fill(b *strings.Builder, class string, columns, width, height, inside int, in func(picture.Cell) bool) {
	var d strings.Builder
	for i, c := range p.Cells {
		if in(c) {
			w, h := width-2*inside, height-2*inside
			fmt.Fprintf(&d, "M%d %dh%dv%dh-%dz", i%columns*width+inside, i/columns*height+inside, w, h, w)
		}
	}
	if d.Len() > 0 {
		fmt.Fprintf(b, `<path class="%s" d="%s"/>`, class, d.String())
	}
}

// grid returns the lines between the cells.
func (p howPart) grid(columns, rows, width, height int) string {
	var d strings.Builder
	for x := range columns + 1 {
		fmt.Fprintf(&d, "M%d 0V%d", x*width, rows*height)
	}
	for y := range rows + 1 {
		fmt.Fprintf(&d, "M0 %dH%d", y*height, columns*width)
	}
	return `<path class="grid" d="` + d.String() + `"/>`
}

// label says in words what there is to see.
func (p howPart) label() string {
	on, touched, missing := 0, 0, 0
	for _, c := range p.Cells {
		if c.On {
			on++
		}
		if c.Touched {
			touched++
			if !c.On {
				missing++
			}
		}
	}
	text := fmt.Sprintf("%s: %d of %d are in use", p.Title, on, len(p.Cells))
	if touched > 0 {
		text += fmt.Sprintf("; the key touches %d, of which %d are empty", touched, missing)
	}
	return text
}
