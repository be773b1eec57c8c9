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
	again bool // the palette has been used up before
}

// newCurve gives the i-th series its looks.
func newCurve(s lab.Series, i int) curve {
	look := i
	if s.Color > 0 {
		look = s.Color - 1
	}
	c := curve{Series: s, color: palette[look%len(palette)], glyph: glyphs[look%len(glyphs)], again: look >= len(palette)}
	if s.Style == lab.Printed {
		c.color, c.glyph = ink, draw.PlusGlyph{}
	}
	return c
}

func (c curve) has(styles ...lab.Style) bool {
	return slices.Contains(styles, cmp.Or(c.Style, lab.Line))
}

// bounded keeps a value on its axis: logarithmic ones have no zero.
func bounded(a plot.Axis, v float64) float64 { return min(max(v, a.Min), a.Max) }

// line draws the line of those that have one.
func (c curve) line(to draw.Canvas, p *plot.Plot) {
	if !c.has(lab.Line, lab.Dashed, lab.LinePoints) {
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
		at := vg.Point{X: x(pt.X), Y: y(pt.Y)}
		if !to.ContainsX(at.X) {
			continue
		}
		if pt.HasInterval() {
			c.errorBar(to, at.X, y(bounded(p.Y, pt.Lo)), y(bounded(p.Y, pt.Hi)))
		}
		if c.has(lab.Dots, lab.LinePoints, lab.Printed) {
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
