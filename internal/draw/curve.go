package draw

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// curve is a series with its looks.
type curve struct {
	Series
	color color.NRGBA
	glyph draw.GlyphDrawer
	again bool // the palette has been used up before
}

// newCurve gives the i-th series its looks.
func newCurve(s Series, i int) curve {
	look := i
	if s.Color > 0 {
		look = s.Color - 1
	}
	c := curve{Series: s, color: palette[look%len(palette)], glyph: glyphs[look%len(glyphs)], again: look >= len(palette)}
	if s.Style == Printed {
		c.color, c.glyph = ink, draw.PlusGlyph{}
	}
	return c
}

func (c curve) has(styles ...Style) bool {
	return slices.Contains(styles, cmp.Or(c.Style, Line))
}

// bounded keeps a value on its axis: logarithmic ones have no zero.
func bounded(a plot.Axis, v float64) float64 { return min(max(v, a.Min), a.Max) }

// line draws the line of those that have one.
func (c curve) line(to draw.Canvas, p *plot.Plot) {
	if !c.has(Line, Dashed, LinePoints) {
		return
	}
	x, y := p.Transforms(&to)
	var points []vg.Point
	for _, pt := range c.Points {
		points = append(points, vg.Point{X: x(pt.X), Y: y(pt.Y)})
	}
	to.StrokeLines(c.lineStyle(), to.ClipLinesXY(points)...)
}

func (c curve) lineStyle() draw.LineStyle {
	s := draw.LineStyle{Color: c.color, Width: lineWidth}
	switch {
	case c.has(Dashed):
		s.Dashes = dashes
	case c.again:
		s.Dashes = dots
	}
	return s
}

func (c curve) glyphStyle() draw.GlyphStyle {
	size := vg.Length(glyphSize)
	if c.has(Printed) {
		size = printedSize
	}
	return draw.GlyphStyle{Color: c.color, Radius: size, Shape: c.glyph}
}

// marks draws error bars and markers.
func (c curve) marks(to draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&to)
	for _, pt := range c.Points {
		at := vg.Point{X: x(pt.X), Y: y(pt.Y)}
		if !to.ContainsX(at.X) {
			continue
		}
		if pt.HasInterval() {
			c.errorBar(to, at.X, y(bounded(p.Y, pt.Lo)), y(bounded(p.Y, pt.Hi)))
		}
		if c.has(Dots, LinePoints, Printed) {
			to.DrawGlyph(c.glyphStyle(), at)
		}
	}
}

func (c curve) errorBar(to draw.Canvas, x, lo, hi vg.Length) {
	const half = 2.5
	style := draw.LineStyle{Color: c.color, Width: 1}
	to.StrokeLines(style,
		[]vg.Point{{X: x, Y: lo}, {X: x, Y: hi}},
		[]vg.Point{{X: x - half, Y: lo}, {X: x + half, Y: lo}},
		[]vg.Point{{X: x - half, Y: hi}, {X: x + half, Y: hi}})
}

const (
	sampleWidth = 18
	nameHeight  = 14
	nameWidth   = 190 // at most; the plot needs room, too
)

// namesWidth is the room that the names of the series take, 0 if there are none.
func namesWidth(curves []curve) vg.Length {
	if len(curves) < 2 {
		return 0
	}
	var widest vg.Length
	for _, c := range curves {
		widest = max(widest, textStyle(labelSize).Width(c.Name))
	}
	return gap + sampleWidth + gap + min(widest, nameWidth) + gap
}

// drawNames writes each name at the height at which its series ends; those that
// would overlap move apart. A series without a name, such as the formula beside its
// measurement in the same colour, is known by another.
func drawNames(c, data draw.Canvas, p *plot.Plot, curves []curve) {
	curves = slices.DeleteFunc(slices.Clone(curves), func(c curve) bool { return c.Name == "" })
	_, y := p.Transforms(&data)
	order := make([]int, len(curves))
	ends := make([]vg.Length, len(curves))
	for i, curve := range curves {
		order[i] = i
		last := slices.MaxFunc(curve.Points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
		ends[i] = y(bounded(p.Y, last.Y))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ends[b], ends[a]) })
	heights := make([]vg.Length, len(order))
	for i, o := range order {
		heights[i] = ends[o]
	}
	spread(heights, data.Min.Y, data.Max.Y)
	for i, o := range order {
		drawName(c, curves[o], heights[i])
	}
}

// spread moves heights, which fall, apart until none is closer than a line to the
// next, and into the given range as far as that is possible.
func spread(heights []vg.Length, low, high vg.Length) {
	floor := func(i int) vg.Length { return low + nameHeight*vg.Length(len(heights)-1-i) + nameHeight/2 }
	next := high - nameHeight/2
	for i := range heights {
		// Not so low that those below find no room.
		heights[i] = min(max(heights[i], floor(i)), next)
		next = heights[i] - nameHeight
	}
}

// drawName draws a sample of the series and its name.
func drawName(c draw.Canvas, curve curve, at vg.Length) {
	left, right := c.Min.X, c.Min.X+sampleWidth
	if !curve.has(Dots, Printed) {
		c.StrokeLine2(curve.lineStyle(), left, at, right, at)
	}
	if curve.has(Dots, LinePoints, Printed) {
		c.DrawGlyphNoClip(curve.glyphStyle(), vg.Point{X: (left + right) / 2, Y: at})
	}
	style := textStyle(labelSize)
	style.YAlign = draw.YCenter
	c.FillText(style, vg.Point{X: right + gap, Y: at}, shorten(style, curve.Name, nameWidth))
}
