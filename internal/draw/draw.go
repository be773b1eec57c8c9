// Package draw turns plots into SVG and PNG, all in one style: those of the lab, of
// everbloom plan, of the page of a gate and of the benchmarks. No other package knows
// the plotting library.
//
// # Style
//
// Colours are those of Okabe and Ito, which people with any sort of colour vision
// can tell apart; markers differ as well. Series are named beside the plot, at the
// height where they end, so that no legend lies over data. A single series has no
// name beside it: the axis says what it is.
//
// Pictures have no background, and everything that is not data has classes in
// place of fixed colours. A small style sheet inside the picture gives them dark
// values on light pages and light values on dark ones, by prefers-color-scheme; a
// viewer that knows no style sheets shows a grey that is readable on both.
//
//	eb-fill-ink  eb-stroke-ink    text; the strongest neutral colour
//	eb-fill-axis eb-stroke-axis   axes and ticks
//	eb-fill-grid eb-stroke-grid   grid; hardly visible
//	eb-fill-1    eb-stroke-1 ...  the palette, from 1 to 7
package draw

import (
	"bytes"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of every plot, in points.
const (
	width      = 560
	height     = 320
	margin     = 8
	headHeight = 20 // of one line of heading
	lineHeight = 15 // of each further one

	labelHeight = 18
)

// SVG draws a plot that its Check accepts.
func SVG(p Plot) ([]byte, error) {
	return PanelsSVG(p.Title, 1, p)
}

// PanelsSVG draws plots in so many columns, as one picture.
func PanelsSVG(title string, columns int, plots ...Plot) ([]byte, error) {
	canvas := vgsvg.New(grid(columns, len(plots)))
	drawPanels(canvas, columns, plots)
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("draw: %s: %w", title, err)
	}
	return restyle(title, out.String()), nil
}

// PanelsPNG draws plots in so many columns, on white.
func PanelsPNG(columns int, plots ...Plot) ([]byte, error) {
	canvas := vgimg.NewWith(vgimg.UseWH(grid(columns, len(plots))), vgimg.UseDPI(150))
	drawPanels(canvas, columns, plots)
	var out bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(&out); err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	return out.Bytes(), nil
}

// grid returns the size of a picture of so many plots.
func grid(columns, plots int) (w, h vg.Length) {
	return width * vg.Length(columns), height * vg.Length((plots+columns-1)/columns)
}

func drawPanels(canvas vg.CanvasSizer, columns int, plots []Plot) {
	all := draw.New(canvas)
	for i, p := range plots {
		x, y := width*vg.Length(i%columns), height*vg.Length(i/columns)
		newPanel(p).draw(draw.Canvas{Canvas: canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: all.Max.Y - y - height}, Max: vg.Point{X: x + width, Y: all.Max.Y - y},
		}})
	}
}

// panel is a plot with the names of its series beside it.
type panel struct {
	title  string
	x, y   string // labels
	plot   *plot.Plot
	curves []curve
}

// newPanel computes ranges and ticks.
func newPanel(p Plot) *panel {
	f := &panel{title: p.Title, x: p.X.Label, y: p.Y.Label, plot: newPlot()}
	for i, s := range p.Series {
		f.curves = append(f.curves, newCurve(s, i))
	}
	setAxis(&f.plot.X, p.X, xRange(p))
	setAxis(&f.plot.Y, p.Y, yRange(p))
	f.plot.Add(gridLines(p))
	// Lines first, then what must not be hidden.
	for _, c := range f.curves {
		f.plot.Add(plotFunc(c.line))
	}
	for _, c := range f.curves {
		f.plot.Add(plotFunc(c.marks))
	}
	return f
}

// draw lays out heading, plot and names. The plotting library would find room for
// the labels of logarithmic axes in the wrong place, so they are written here:
// that of the upright axis above it, where it can be read without turning the
// head.
func (f *panel) draw(c draw.Canvas) {
	c = draw.Crop(c, margin, -margin, margin, -margin)
	for i, line := range wrap(textStyle(headSize), f.title, c.Max.X-c.Min.X) {
		if i > 0 {
			c.Max.Y -= lineHeight
		}
		c.FillText(textStyle(headSize), vg.Point{X: c.Min.X, Y: c.Max.Y - headSize}, line)
	}
	c.FillText(textStyle(labelSize), vg.Point{X: c.Min.X, Y: c.Max.Y - headHeight - labelSize}, f.y)
	beside := namesWidth(f.curves)
	area := draw.Crop(c, 0, -max(beside, 2*margin), labelHeight, -headHeight-labelHeight)
	turnLabels(&f.plot.X, area.Max.X-area.Min.X)
	f.plot.Draw(area)
	data := f.plot.DataCanvas(area)
	style := textStyle(labelSize)
	style.XAlign = draw.XCenter
	c.FillText(style, vg.Point{X: data.Center().X, Y: c.Min.Y + 2}, f.x)
	if beside > 0 {
		drawNames(draw.Crop(c, area.Max.X-c.Min.X+gap, 0, 0, 0), data, f.plot, f.curves)
	}
}

// plotFunc is something that draws without having data of its own.
type plotFunc func(c draw.Canvas, p *plot.Plot)

// Plot implements plot.Plotter.
func (f plotFunc) Plot(c draw.Canvas, p *plot.Plot) { f(c, p) }
