package draw

import (
	"cmp"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// curve is a series with its looks.
type curve struct {
	lab.Series
	color color.NRGBA
	glyph draw.GlyphDrawer
	again bool    // the palette has been used up before
	shift float64 // of bars, so that several series stand side by side
	room  float64 // width of a bar
}

// newCurve gives the i-th series its looks.
func newCurve(s lab.Series, i int, p lab.Plot, room float64) curve {
	look := i
	if s.Color > 0 {
		look = s.Color - 1
	}
	c := curve{
		Series: s, color: palette[look%len(palette)], glyph: glyphs[look%len(glyphs)],
		again: look >= len(palette), room: room,
	}
	if s.Style == lab.Printed {
		c.color, c.glyph = ink, draw.PlusGlyph{}
	}
	if s.Style == lab.Bars {
		bars, mine := barSeries(p), 0
		for _, other := range p.Series[:i] {
			if other.Style == lab.Bars {
				mine++
			}
		}
		c.shift = room * (float64(mine) - float64(bars-1)/2)
	}
	return c
}

// barSeries counts the series that are bars.
func barSeries(p lab.Plot) (n int) {
	for _, s := range p.Series {
		if s.Style == lab.Bars {
			n++
		}
	}
	return n
}

// barRoom is the width of one bar: all bars of one place take four fifths of the
// smallest distance between two.
func barRoom(p lab.Plot) float64 {
	n := barSeries(p)
	if n == 0 {
		return 0
	}
	var xs []float64
	for _, s := range p.Series {
		for _, pt := range s.Points {
			xs = append(xs, pt.X)
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	distance := 1.0
	for i := 1; i < len(xs); i++ {
		if d := xs[i] - xs[i-1]; i == 1 || d < distance {
			distance = d
		}
	}
	return 0.8 * distance / float64(n)
}

func (c curve) has(styles ...lab.Style) bool {
	return slices.Contains(styles, cmp.Or(c.Style, lab.Line))
}

// area draws bands and bars.
func (c curve) area(to draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&to)
	soft := c.color
	soft.A = bandAlpha
	if c.Band {
		var upper, lower []vg.Point
		for _, pt := range c.Points {
			upper = append(upper, vg.Point{X: x(pt.X), Y: y(bounded(p.Y, pt.Hi))})
			lower = append(lower, vg.Point{X: x(pt.X), Y: y(bounded(p.Y, pt.Lo))})
		}
		slices.Reverse(lower)
		to.FillPolygon(soft, to.ClipPolygonXY(append(upper, lower...)))
	}
	if !c.has(lab.Bars) {
		return
	}
	base := y(bounded(p.Y, 0))
	for _, pt := range c.Points {
		left, right, top := x(pt.X+c.shift-c.room*0.46), x(pt.X+c.shift+c.room*0.46), y(bounded(p.Y, pt.Y))
		to.FillPolygon(c.color, []vg.Point{{X: left, Y: base}, {X: left, Y: top}, {X: right, Y: top}, {X: right, Y: base}})
	}
}

// bounded keeps a value on its axis: logarithmic ones have no zero.
func bounded(a plot.Axis, v float64) float64 { return min(max(v, a.Min), a.Max) }

// line draws the line of those that have one.
func (c curve) line(to draw.Canvas, p *plot.Plot) {
	if !c.has(lab.Line, lab.Dashed, lab.LinePoints, lab.Step) {
		return
	}
	x, y := p.Transforms(&to)
	var points []vg.Point
	for i, pt := range c.Points {
		if i > 0 && c.Style == lab.Step {
			points = append(points, vg.Point{X: x(pt.X), Y: points[len(points)-1].Y})
		}
		points = append(points, vg.Point{X: x(pt.X), Y: y(pt.Y)})
	}
	to.StrokeLines(c.lineStyle(), to.ClipLinesXY(points)...)
}

func (c curve) lineStyle() draw.LineStyle {
	s := draw.LineStyle{Color: c.color, Width: lineWidth}
	switch {
	case c.has(lab.Dashed):
		s.Dashes = dashes
	case c.again:
		s.Dashes = dots
	}
	return s
}

func (c curve) glyphStyle() draw.GlyphStyle {
	size := vg.Length(glyphSize)
	if c.has(lab.Printed) {
		size = printedSize
	}
	return draw.GlyphStyle{Color: c.color, Radius: size, Shape: c.glyph}
}

// marks draws error bars and markers.
func (c curve) marks(to draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&to)
	for _, pt := range c.Points {
		at := vg.Point{X: x(pt.X + c.shift), Y: y(pt.Y)}
		if !to.ContainsX(at.X) {
			continue
		}
		if pt.HasInterval() && !c.Band {
			c.errorBar(to, at.X, y(bounded(p.Y, pt.Lo)), y(bounded(p.Y, pt.Hi)))
		}
		if c.has(lab.Dots, lab.LinePoints, lab.Printed) {
			to.DrawGlyph(c.glyphStyle(), at)
		}
	}
}

// errorBar of a bar is neutral, or it could not be seen on it.
func (c curve) errorBar(to draw.Canvas, x, lo, hi vg.Length) {
	const half = 2.5
	style := draw.LineStyle{Color: c.color, Width: 1}
	if c.has(lab.Bars) {
		style.Color = ink
	}
	to.StrokeLines(style,
		[]vg.Point{{X: x, Y: lo}, {X: x, Y: hi}},
		[]vg.Point{{X: x - half, Y: lo}, {X: x + half, Y: lo}},
		[]vg.Point{{X: x - half, Y: hi}, {X: x + half, Y: hi}})
}
