package dpbf19

import (
	"fmt"
	"html"
	"strings"

	"github.com/everbloom-go/everbloom/filter/partition"
)

// The layout of the drawn trees: leaves of the full tree side by side.
const (
	pitch  = 82 // between two leaves
	margin = 46
	levelY = 62 // between two levels
	topY   = 24
	boxW   = 46
	boxH   = 22
	unitW  = 70
)

// A canvas collects the elements of an SVG picture.
type canvas struct {
	f *partition.Filter
	strings.Builder
}

// picture returns what draw puts on a canvas of the given height.
func picture(f *partition.Filter, height int, draw func(c *canvas)) string {
	c := &canvas{f: f}
	width := 2*margin + pitch*(1<<f.Shape().Depth-1)
	c.put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="'Liberation Sans',Arimo,Arial,Helvetica,sans-serif" font-size="12">`, width, height)
	draw(c)
	c.put(`</svg>`)
	return c.String()
}

func (c *canvas) put(format string, args ...any) {
	fmt.Fprintf(&c.Builder, format+"\n", args...)
}

// at returns the middle of a node.
func (c *canvas) at(depth int, index uint64) (x, y float64) {
	below := float64(uint64(1) << (c.f.Shape().Depth - depth))
	return margin + pitch*(below*(float64(index)+0.5)-0.5), float64(topY + levelY*depth)
}

// edge draws the line from a node up to its parent.
func (c *canvas) edge(depth int, index uint64, class string, width float64) {
	if depth == 0 {
		return
	}
	x, y := c.at(depth, index)
	px, py := c.at(depth-1, index/2)
	c.put(`<line x1="%g" y1="%g" x2="%g" y2="%g" class="eb-stroke-%s" stroke-width="%g"/>`, px, py+boxH/2, x, y-boxH/2, class, width)
}

// node draws a node with its name.
func (c *canvas) node(depth int, index uint64, class string, width float64) {
	x, y := c.at(depth, index)
	c.box(x, y, boxW, class, width, false)
	ink := "ink"
	if class == "grid" {
		ink = "axis"
	}
	c.text(x, y+4, ink, fmt.Sprintf("N%d,%d", depth, index))
}

// box draws a frame around a middle, lightly filled if so asked.
func (c *canvas) box(x, y, wide float64, class string, width float64, filled bool) {
	fill := `fill="none"`
	if filled {
		fill = fmt.Sprintf(`class="eb-fill-%s" fill-opacity="0.14"`, class)
		c.put(`<rect x="%g" y="%g" width="%g" height="%d" rx="4" %s/>`, x-wide/2, y-boxH/2, wide, boxH, fill)
		fill = `fill="none"`
	}
	c.put(`<rect x="%g" y="%g" width="%g" height="%d" rx="4" %s class="eb-stroke-%s" stroke-width="%g"/>`, x-wide/2, y-boxH/2, wide, boxH, fill, class, width)
}

// text is centred.
func (c *canvas) text(x, y float64, class, text string) {
	c.put(`<text x="%g" y="%g" text-anchor="middle" class="eb-fill-%s">%s</text>`, x, y, class, html.EscapeString(text))
}

// caption begins at the left edge.
func (c *canvas) caption(y float64, text string) {
	c.put(`<text x="6" y="%g" class="eb-fill-ink" font-weight="bold">%s</text>`, y, html.EscapeString(text))
}

// unit draws a unit with its ids.
func (c *canvas) unit(x, y float64, ids []uint64, class string) {
	label := "{" + numbers(ids) + "}"
	c.box(x, y, max(unitW, 8+6.2*float64(len(label))), class, 1.5, true)
	c.text(x, y+4, "ink", label)
}

// full calls visit for every node of the full tree.
func (c *canvas) full(visit func(depth int, index uint64)) {
	for depth := range c.f.Shape().Depth + 1 {
		for index := range uint64(1) << depth {
			visit(depth, index)
		}
	}
}

// drawFigure3 shows the full tree, the way of 10, and the map.
func drawFigure3(f *partition.Filter) string {
	return picture(f, 356, func(c *canvas) {
		s := f.Shape()
		onPath := func(depth int, index uint64) bool { return uint64(10)>>(s.IDBits-depth) == index }
		style := func(depth int, index uint64) (string, float64) {
			if onPath(depth, index) {
				return "2", 2.5
			}
			return "axis", 1
		}
		c.full(func(depth int, index uint64) {
			class, width := style(depth, index)
			c.edge(depth, index, class, width)
			c.node(depth, index, class, width)
		})
		for index := range uint64(1) << s.Depth {
			x, y := c.at(s.Depth, index)
			if ids := within(f, s.Depth, index); len(ids) > 0 {
				c.unit(x, y+36, ids, "1")
			} else {
				c.text(x, y+40, "axis", "empty")
			}
		}
		c.caption(298, "puBFMap: the populated units, which are what is stored")
		c.drawMap(322, nil)
	})
}

// drawMap draws the populated units in a row, with their numbers below. It calls
// also with the place of each.
func (c *canvas) drawMap(y float64, also func(unit uint64, x float64)) {
	depth := c.f.Shape().Depth
	for unit := range c.f.Units() {
		x, _ := c.at(depth, unit)
		c.unit(x, y, within(c.f, depth, unit), "1")
		c.text(x, y+25, "axis", fmt.Sprintf("N%d,%d", depth, unit))
		if also != nil {
			also(unit, x)
		}
	}
}

// drawFigure4 shows what is merged: the nodes that go are faint, and so are their edges.
func drawFigure4(f *partition.Filter) string {
	return picture(f, 276, func(c *canvas) {
		s := f.Shape()
		kept, leaf := compressed(f)
		c.full(func(depth int, index uint64) {
			class, width := "grid", 1.0
			switch n := [2]uint64{uint64(depth), index}; {
			case leaf[n]:
				class, width = "3", 2.5
				c.around(depth, index)
			case kept[n]:
				class, width = "axis", 1.5
			}
			c.edge(depth, index, class, width)
			c.node(depth, index, class, width)
			if kept[[2]uint64{uint64(depth), index}] {
				x, y := c.at(depth, index)
				n := uint64(len(within(f, depth, index)))
				sign := map[bool]string{true: "≤", false: ">"}[n <= s.Count]
				c.put(`<text x="%g" y="%g" class="eb-fill-ink">%d %s %d</text>`, x+boxW/2+6, y+4, n, sign, s.Count)
			}
		})
		for index := range uint64(1) << s.Depth {
			x, y := c.at(s.Depth, index)
			if ids := within(f, s.Depth, index); len(ids) > 0 {
				c.text(x, y+28, "axis", "{"+numbers(ids)+"}")
			}
		}
	})
}

// around draws a dashed frame around all that becomes one leaf.
func (c *canvas) around(depth int, index uint64) {
	last := c.f.Shape().Depth
	span := uint64(1) << (last - depth)
	left, _ := c.at(last, index*span)
	right, bottom := c.at(last, (index+1)*span-1)
	_, top := c.at(depth, index)
	c.put(`<rect x="%g" y="%g" width="%g" height="%g" rx="8" fill="none" class="eb-stroke-3" stroke-dasharray="5 4"/>`,
		left-36, top-17, right-left+72, bottom-top+54)
}

// compressed returns the nodes of the compressed tree and which of them are leaves.
func compressed(f *partition.Filter) (kept, leaf map[[2]uint64]bool) {
	kept, leaf = map[[2]uint64]bool{}, map[[2]uint64]bool{}
	for n := range f.Nodes() {
		place := [2]uint64{uint64(n.Depth), n.Index}
		kept[place], leaf[place] = true, n.Leaf
	}
	return kept, leaf
}

// drawFigure5 shows the compressed tree and, below it, the map with a line from each
// unit to its leaf.
func drawFigure5(f *partition.Filter) string {
	return picture(f, 330, func(c *canvas) {
		s := f.Shape()
		c.caption(16, "CPBPT")
		for n := range f.Nodes() {
			c.edge(n.Depth, n.Index, "axis", 1.5)
			c.node(n.Depth, n.Index, "axis", 1.5)
			if n.Leaf {
				x, y := c.at(n.Depth, n.Index)
				c.unit(x, y+26, within(f, n.Depth, n.Index), "3")
			}
		}
		c.caption(270, "puBFMap")
		c.drawMap(294, func(unit uint64, x float64) {
			for n := range f.Nodes() {
				if n.Leaf && unit>>(s.Depth-n.Depth) == n.Index {
					lx, ly := c.at(n.Depth, n.Index)
					c.put(`<path d="M%g,%d C%g,%g %g,%g %g,%g" fill="none" class="eb-stroke-1" stroke-dasharray="4 3"/>`,
						x, 294-boxH/2, x, 250.0, lx, ly+80, lx, ly+26+boxH/2)
					c.put(`<path d="M%g,%g l-4,7 h8 z" class="eb-fill-1"/>`, lx, ly+26+boxH/2)
				}
			}
		})
	})
}
