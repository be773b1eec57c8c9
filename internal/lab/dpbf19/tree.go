package dpbf19

import (
	"fmt"
	"html"
	"strings"
)

// The layout of the drawn trees: leaves of the full tree side by side.
const (
	pitch  = 82 // between two leaves
	margin = 46
	levelY = 62 // between two levels
	topY   = 24
	boxW   = 46
	boxH   = 22
)

// A canvas collects the elements of an SVG picture.
type canvas struct{ strings.Builder }

// picture returns what draw puts on a canvas of the given height.
func picture(height int, draw func(c *canvas)) string {
	c := &canvas{}
	c.put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="'Liberation Sans',Arimo,Arial,Helvetica,sans-serif" font-size="12">`, 2*margin+pitch*(1<<exampleShape.Depth-1), height)
	draw(c)
	c.put(`</svg>`)
	return c.String()
}

func (c *canvas) put(format string, args ...any) { fmt.Fprintf(&c.Builder, format+"\n", args...) }

// middle returns where a node is.
func (p place) middle() (x, y float64) {
	below := float64(uint64(1) << (exampleShape.Depth - p.depth))
	return margin + pitch*(below*(float64(p.index)+0.5)-0.5), float64(topY + levelY*p.depth)
}

// node draws a node and the line up to its parent.
func (c *canvas) node(p place, class string, width float64) {
	x, y := p.middle()
	if p.depth > 0 {
		px, py := place{p.depth - 1, p.index / 2}.middle()
		c.put(`<line x1="%g" y1="%g" x2="%g" y2="%g" class="eb-stroke-%s" stroke-width="%g"/>`, px, py+boxH/2, x, y-boxH/2, class, width)
	}
	c.box(x, y, boxW, class, width, 0)
	ink := "ink"
	if class == "grid" {
		ink = "axis"
	}
	c.text(x, y+4, ink, p.String())
}

// box draws a frame around a middle, lightly filled if so asked.
func (c *canvas) box(x, y, wide float64, class string, width, fill float64) {
	at := fmt.Sprintf(`<rect x="%g" y="%g" width="%g" height="%d" rx="4"`, x-wide/2, y-boxH/2, wide, boxH)
	if fill > 0 {
		c.put(`%s class="eb-fill-%s" fill-opacity="%g"/>`, at, class, fill)
	}
	c.put(`%s fill="none" class="eb-stroke-%s" stroke-width="%g"/>`, at, class, width)
}

// text is centred.
func (c *canvas) text(x, y float64, class, text string) {
	c.put(`<text x="%g" y="%g" text-anchor="middle" class="eb-fill-%s">%s</text>`, x, y, class, html.EscapeString(text))
}

// unit draws a unit with its ids, or that it is empty.
func (c *canvas) unit(x, y float64, ids []uint64, class string) {
	if len(ids) == 0 {
		c.text(x, y+4, "axis", "empty")
		return
	}
	label := "{" + strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", ", ") + "}"
	c.box(x, y, max(70, 8+6.2*float64(len(label))), class, 1.5, 0.14)
	c.text(x, y+4, "ink", label)
}

// figure3 shows the full tree, the way of 10, and the units.
func (x *example) figure3() string {
	return picture(260, func(c *canvas) {
		for _, p := range places() {
			class, width := "axis", 1.0
			if uint64(10)>>(exampleShape.IDBits-p.depth) == p.index {
				class, width = "2", 2.5
			}
			c.node(p, class, width)
			if left, top := p.middle(); p.depth == exampleShape.Depth {
				c.unit(left, top+36, x.elements[p], "1")
			}
		}
	})
}

// figure4 shows what is merged: the nodes that go are faint, and a frame is around all
// that becomes one leaf.
func (x *example) figure4() string {
	return picture(276, func(c *canvas) {
		for _, p := range places() {
			class, width := "grid", 1.0
			left, top := p.middle()
			switch {
			case x.leaf[p]:
				class, width = "3", 2.5
				span := uint64(1) << (exampleShape.Depth - p.depth)
				from, _ := place{exampleShape.Depth, p.index * span}.middle()
				to, bottom := place{exampleShape.Depth, (p.index+1)*span - 1}.middle()
				c.put(`<rect x="%g" y="%g" width="%g" height="%g" rx="8" fill="none" class="eb-stroke-3" stroke-dasharray="5 4"/>`, from-36, top-17, to-from+72, bottom-top+60)
			case x.inner[p]:
				class, width = "axis", 1.5
			}
			c.node(p, class, width)
			if n := uint64(len(x.elements[p])); x.leaf[p] || x.inner[p] {
				c.put(`<text x="%g" y="%g" class="eb-fill-ink">%d %s %d</text>`, left+boxW/2+6, top+4, n, map[bool]string{true: "≤", false: "&gt;"}[n <= exampleShape.Count], exampleShape.Count)
			}
			if p.depth == exampleShape.Depth {
				c.unit(left, top+28, x.elements[p], "grid")
			}
		}
	})
}

// figure5 shows the compressed tree and, below it, the map with a line from each unit
// to its leaf.
func (x *example) figure5() string {
	const mapY = 294
	return picture(330, func(c *canvas) {
		for _, p := range places() {
			left, top := p.middle()
			if x.leaf[p] || x.inner[p] {
				c.node(p, "axis", 1.5)
			}
			if x.leaf[p] {
				c.unit(left, top+26, x.elements[p], "3")
			}
			if !x.inMap[p] {
				continue
			}
			c.unit(left, mapY, x.elements[p], "1")
			c.text(left, mapY+25, "axis", p.String())
			for up := p; up.depth >= 0; up = (place{up.depth - 1, up.index / 2}) {
				if lx, ly := up.middle(); x.leaf[up] {
					c.put(`<path d="M%g,%d C%g,250 %g,%g %g,%g" fill="none" class="eb-stroke-1" stroke-dasharray="4 3"/>`, left, mapY-boxH/2, left, lx, ly+80, lx, ly+26+boxH/2)
				}
			}
		}
	})
}
