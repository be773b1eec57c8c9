package draw

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// palette is the one of Okabe and Ito without its yellow, which is too pale for
// lines, and with the neutral colour of text in place of black.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
	{0x00, 0x9E, 0x73, 0xFF}, // green
	{0xCC, 0x79, 0xA7, 0xFF}, // purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky
	ink,
}

// The neutral colours are placeholders that restyle replaces by classes, so no
// other colour may equal them. Where no style sheet is read they are seen as they
// are, greys for any background.
var (
	ink     = color.NRGBA{0x76, 0x76, 0x77, 0xFF}
	axisInk = color.NRGBA{0x88, 0x88, 0x89, 0xFF}
	gridInk = color.NRGBA{0xA8, 0xA8, 0xA9, 0xFF}
)

// glyphs go with the colours.
var glyphs = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{},
}

// Sizes, in points.
const (
	headSize  = 12
	labelSize = 10
	tickSize  = 9
	glyphSize = 2.6

	printedSize = 5.5 // of numbers in print

	lineWidth = 1.7
	thin      = 0.7
	gap       = 6
)

var (
	dashes    = []vg.Length{6, 3}
	dots      = []vg.Length{1.5, 1.5} // lines of the palette's second round
	gridStyle = draw.LineStyle{Color: gridInk, Width: thin / 2}
)

func textStyle(size font.Length) text.Style {
	return text.Style{
		Color: ink, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.DefaultTextHandler,
	}
}

// newPlot returns an empty plot in the common style.
func newPlot() *plot.Plot {
	out := plot.New()
	out.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&out.X, &out.Y} {
		axis.Tick.Label.Font, axis.Tick.Label.Color = textStyle(tickSize).Font, ink
		axis.LineStyle = draw.LineStyle{Color: axisInk, Width: thin}
		axis.Tick.LineStyle = axis.LineStyle
		axis.Tick.Length = 4
		axis.Padding = 0
	}
	return out
}

// gridLines has no vertical lines between names.
func gridLines(p lab.Plot) *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical, g.Horizontal = gridStyle, gridStyle
	if len(p.X.Names) > 0 {
		g.Vertical.Color = nil
	}
	return g
}
