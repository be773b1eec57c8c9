package figure

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette is the one of Okabe and Ito, which people with any sort of colour
// vision can tell apart; its yellow is too pale for lines.
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xB2, 0xFF}, // blue
	color.RGBA{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
	color.RGBA{0x00, 0x9E, 0x73, 0xFF}, // green
	color.RGBA{0xCC, 0x79, 0xA7, 0xFF}, // purple
	color.RGBA{0xE6, 0x9F, 0x00, 0xFF}, // orange
	color.RGBA{0x56, 0xB4, 0xE9, 0xFF}, // sky
	color.RGBA{0x33, 0x33, 0x33, 0xFF}, // nearly black
}

// strokes change together with the colours, so that a line stays visible under
// another that runs along it.
var strokes = [][]vg.Length{nil, {7, 3}, {2, 2}, {9, 3, 2, 3}, {4, 2}}

// curveStyle is that of the i-th curve. Later curves are thinner: they are drawn
// over the earlier ones.
func curveStyle(i int) draw.LineStyle {
	return draw.LineStyle{
		Color:  palette[i%len(palette)],
		Width:  vg.Points(max(1.3, 2.4-0.4*float64(i))),
		Dashes: strokes[i%len(strokes)],
	}
}

var (
	grey       = color.Gray{0x60}
	askedStyle = draw.LineStyle{Color: grey, Width: vg.Points(1), Dashes: []vg.Length{5, 4}}
	madeStyle  = draw.LineStyle{Color: grey, Width: vg.Points(1), Dashes: []vg.Length{1, 3}}
)

var typeface = font.Font{Typeface: "Liberation", Variant: "Sans"}

func textStyle(size font.Length) text.Style {
	face := typeface
	face.Size = size
	return text.Style{Color: color.Black, Font: face, Handler: plot.DefaultTextHandler}
}

// newPlot returns an empty panel in the common style.
func newPlot(title string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text = title
	p.Title.TextStyle.Font = textStyle(11).Font
	p.Title.Padding = 6
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font = textStyle(10).Font
		axis.Tick.Label.Font = textStyle(9).Font
		axis.Color = grey
		axis.Tick.Color = grey
		axis.Padding = 0
	}
	return p
}

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = color.Gray{0xE4}, color.Gray{0xE4}
	return g
}

// decades marks an axis at the powers of ten, with labels, and between them at
// the multiples of these, without. The function gives the label of a power.
type decades func(x float64) string

// maxLabels bounds the labels of an axis; if there are more decades some go
// without.
const maxLabels = 8

// Ticks returns the marks from min to max.
func (label decades) Ticks(low, high float64) []plot.Tick {
	if !(low > 0 && high < math.Inf(1)) {
		return nil // no logarithmic axis
	}
	from, to := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	every := 1 + (to-from)/maxLabels
	var ticks []plot.Tick
	for e := from; e <= to; e++ {
		power := math.Pow(10, float64(e))
		for m := 1.0; m < 10; m++ {
			switch x := m * power; {
			case x < low*(1-1e-9) || x > high*(1+1e-9):
			case m == 1 && e%every == 0:
				ticks = append(ticks, plot.Tick{Value: x, Label: label(x)})
			case every == 1:
				ticks = append(ticks, plot.Tick{Value: x})
			}
		}
	}
	return ticks
}

// countLabel writes 10 k for 10,000.
func countLabel(x float64) string {
	units := []string{"", " k", " M", " G", " T", " P"}
	i := 0
	for ; x >= 1000 && i < len(units)-1; i++ {
		x /= 1000
	}
	return strconv.FormatFloat(x, 'g', 4, 64) + units[i]
}

// rateLabels writes 0.1 % for 0.001, or if the axis goes down to where that has
// too many digits, 1e-03.
func rateLabels(low float64) func(float64) string {
	if low < 1e-8 {
		return func(p float64) string { return strconv.FormatFloat(p, 'e', 0, 64) }
	}
	return func(p float64) string {
		digits := max(0, -2-int(math.Round(math.Log10(p))))
		return strconv.FormatFloat(100*p, 'f', digits, 64) + " %"
	}
}
