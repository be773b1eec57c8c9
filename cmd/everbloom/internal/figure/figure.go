// Package figure draws what kinds of filter will be like, over the number of
// keys they come to hold.
package figure

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// Curve is one kind of filter.
type Curve struct {
	Name    string
	Predict func(c kinds.Config, n uint64) (filter.Prediction, error)
}

const (
	width       = 10 * vg.Inch
	height      = 4.2 * vg.Inch
	margin      = 12 // points around everything
	headHeight  = 26
	legendWidth = 86
	resolution  = 150 // dots per inch of a PNG
)

// Draw writes two panels side by side, the rate of false positives and the bits
// per key, for filters made for so many items at that rate. The end of the
// file's name says which form it has: .svg or .png.
func Draw(path string, items uint64, rate float64, curves []Curve) error {
	c, err := canvasFor(path)
	if err != nil {
		return err
	}
	if len(curves) == 0 {
		return errors.New("figure: nothing to draw")
	}
	f := figure{items: items, rate: rate}
	for _, curve := range curves {
		if err := f.add(curve); err != nil {
			return err
		}
	}
	if err := f.draw(draw.New(c)); err != nil {
		return err
	}
	var out bytes.Buffer
	if _, err := c.WriteTo(&out); err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	return os.WriteFile(path, out.Bytes(), 0o666)
}

// canvas is something to draw on that can be stored.
type canvas interface {
	vg.CanvasSizer
	io.WriterTo
}

// pngCanvas stores a picture of dots.
type pngCanvas struct{ vgimg.PngCanvas }

func canvasFor(path string) (canvas, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".svg":
		return vgsvg.New(width, height), nil
	case ".png":
		return pngCanvas{vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(resolution))}}, nil
	default:
		return nil, fmt.Errorf("figure: the name ends in %q: it must end in .svg or .png", ext)
	}
}

// figure is what is to be drawn.
type figure struct {
	items uint64
	rate  float64
	names []string
	rates []plotter.XYs
	sizes []plotter.XYs
}

// steps is the number of points of a curve, three decades wide.
const steps = 240

func (f *figure) from() float64 { return max(1, float64(f.items)/100) }
func (f *figure) to() float64   { return 10 * float64(f.items) }

// add computes a curve, as far as the kind can go.
func (f *figure) add(c Curve) error {
	var rates, sizes plotter.XYs
	for i := range steps + 1 {
		n := math.Round(f.from() * math.Pow(f.to()/f.from(), float64(i)/steps))
		p, err := c.Predict(kinds.Config{Items: f.items, FPR: f.rate}, uint64(n))
		if err != nil && (rates == nil || n <= float64(f.items)) {
			return fmt.Errorf("figure: %s: %w", c.Name, err)
		}
		if err != nil {
			break
		}
		// A logarithmic axis has no zero.
		rates = append(rates, plotter.XY{X: n, Y: max(p.FPR, math.SmallestNonzeroFloat64)})
		sizes = append(sizes, plotter.XY{X: n, Y: max(p.FastBitsPerKey+p.SlowBitsPerKey, math.SmallestNonzeroFloat64)})
	}
	f.names, f.rates, f.sizes = append(f.names, c.Name), append(f.rates, rates), append(f.sizes, sizes)
	return nil
}

// draw lays out heading, panels and legend. The legend has a column of its own,
// where it covers nothing.
func (f *figure) draw(c draw.Canvas) error {
	c.SetColor(color.White)
	c.Fill(c.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	head := fmt.Sprintf("Filters made for %s keys at a rate of %s", quantity.Count(f.items), quantity.Rate(f.rate))
	c.FillText(textStyle(13), vg.Point{X: c.Min.X, Y: c.Max.Y - 13}, head)

	rates, err := f.ratePanel()
	if err != nil {
		return err
	}
	sizes, err := f.sizePanel()
	if err != nil {
		return err
	}
	legend, err := f.legend()
	if err != nil {
		return err
	}
	panels := draw.Crop(c, 0, -legendWidth, 0, -headHeight)
	half := (panels.Max.X - panels.Min.X) / 2
	rates.Draw(draw.Crop(panels, 0, -half-margin/2, 0, 0))
	sizes.Draw(draw.Crop(panels, half+margin/2, 0, 0, 0))
	legend.Draw(draw.Crop(c, c.Max.X-c.Min.X-legendWidth+margin, 0, 0, -headHeight))
	return nil
}

// ratePanel shows four decades below the asked rate and everything above it:
// what is less is as good as never.
func (f *figure) ratePanel() (*plot.Plot, error) {
	p, err := f.panel("false positives", f.rates)
	if err != nil {
		return nil, err
	}
	asked, err := f.line(plotter.XYs{{X: f.from(), Y: f.rate}, {X: f.to(), Y: f.rate}}, askedStyle)
	if err != nil {
		return nil, err
	}
	p.Add(asked)
	p.Y.Min, p.Y.Max = f.rate/1e4, 1
	p.Y.Tick.Marker = decades(rateLabels(p.Y.Min))
	return p, nil
}

func (f *figure) sizePanel() (*plot.Plot, error) {
	p, err := f.panel("bits per key", f.sizes)
	if err != nil {
		return nil, err
	}
	p.Y.Min, p.Y.Max = roomy(p.Y.Min, p.Y.Max)
	p.Y.Tick.Marker = decades(countLabel)
	return p, nil
}

// roomy widens a range a little, and to two decades if it is narrow, so that an
// axis has labels and a flat curve looks flat.
func roomy(low, high float64) (float64, float64) {
	if narrow := math.Sqrt(100 * low / high); narrow > 1 {
		low, high = low/narrow, high*narrow
	}
	return low / 1.3, high * 1.3
}

// panel draws curves over the number of keys, and a line where the keys are as
// many as asked for.
func (f *figure) panel(title string, curves []plotter.XYs) (*plot.Plot, error) {
	p := newPlot(title)
	p.X.Label.Text = "keys in the set"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = decades(countLabel)
	p.Add(grid())
	for i, xys := range curves {
		line, err := f.line(xys, curveStyle(i))
		if err != nil {
			return nil, err
		}
		p.Add(line)
	}
	made, err := f.line(plotter.XYs{{X: float64(f.items), Y: 1e-300}, {X: float64(f.items), Y: 1e300}}, madeStyle)
	if err != nil {
		return nil, err
	}
	low, high := p.Y.Min, p.Y.Max
	p.Add(made)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = f.from(), f.to(), low, high
	return p, nil
}

func (f *figure) line(xys plotter.XYs, style draw.LineStyle) (*plotter.Line, error) {
	line, err := plotter.NewLine(xys)
	if err != nil {
		return nil, fmt.Errorf("figure: %w", err)
	}
	line.LineStyle = style
	return line, nil
}

// legend names the curves and the two lines of reference.
func (f *figure) legend() (plot.Legend, error) {
	l := plot.NewLegend()
	l.TextStyle = textStyle(10)
	l.Top, l.Left = true, true
	l.Padding = 3
	l.ThumbnailWidth = 26
	entries := make([]draw.LineStyle, 0, len(f.names)+2)
	for i := range f.names {
		entries = append(entries, curveStyle(i))
	}
	entries = append(entries, askedStyle, madeStyle)
	for i, name := range append(f.names[:len(f.names):len(f.names)], "asked rate", "asked keys") {
		sample, err := f.line(plotter.XYs{{}, {X: 1}}, entries[i])
		if err != nil {
			return l, err
		}
		l.Add(name, sample)
	}
	return l, nil
}
