package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/internal/draw"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// draw draws a few kinds: more lines than that cannot be told apart. The end of the
// file's name says which form it has.
func (p *plan) draw(choices []everbloom.Choice) error {
	rates, sizes := p.panels()
	for i, c := range first(choices) {
		if totalBits(c) == 0 {
			continue // it cannot be made
		}
		if err := p.addCurves(&rates, &sizes, c.Kind, i+1); err != nil {
			return within(p.plot, "%s: %w", c.Kind, err)
		}
	}
	if len(sizes.Series) == 1 {
		return nil // the table says why
	}
	var (
		picture []byte
		err     error
	)
	switch ext := strings.ToLower(filepath.Ext(p.plot)); ext {
	case ".svg":
		picture, err = draw.PanelsSVG("Rate and memory of filters", 2, rates, sizes)
	case ".png":
		picture, err = draw.PanelsPNG(2, rates, sizes)
	default:
		return within(p.plot, "the name ends in %q: it must end in .svg or .png", ext)
	}
	if err == nil {
		err = os.WriteFile(p.plot, picture, 0o666)
	}
	if err != nil {
		return unwritable(p.plot, err)
	}
	return nil
}

func (p *plan) fewest() float64 { return max(1, float64(p.items())/100) }
func (p *plan) most() float64   { return 10 * float64(p.items()) }

// panels returns the rate and the memory over the number of keys, with lines at what
// was asked for. Rates below a ten-thousandth of that are as good as never.
func (p *plan) panels() (rates, sizes draw.Plot) {
	keys := draw.Axis{Label: "keys in the set", Log: true, Min: p.fewest(), Max: p.most()}
	asked := draw.Series{Name: "asked keys", Style: draw.Dashed, Color: 7}
	for _, y := range []float64{1e-300, 1e300} {
		asked.Points = append(asked.Points, draw.Point{X: float64(p.items()), Y: y})
	}
	rate := draw.Series{Name: "asked rate", Style: draw.Dashed, Color: 7}
	for _, x := range []float64{p.fewest(), p.most()} {
		rate.Points = append(rate.Points, draw.Point{X: x, Y: p.rate()})
	}
	head := fmt.Sprintf("Filters made for %s at a rate of %s", quantity.Keys(p.items()), quantity.Rate(p.rate()))
	rates = draw.Plot{
		Title: head, X: keys, Series: []draw.Series{asked, rate},
		Y: draw.Axis{Label: "false positives", Log: true, Percent: true, Min: p.rate() / 1e4, Max: 1},
	}
	sizes = draw.Plot{Title: "Their memory", X: keys, Y: draw.Axis{Label: "bits per key", Log: true}, Series: []draw.Series{asked}}
	sizes.Y.Min, sizes.Y.Max = math.Inf(1), 0
	return rates, sizes
}

// addCurves predicts a kind, as far as it can go.
func (p *plan) addCurves(rates, sizes *draw.Plot, name string, color int) error {
	k, err := kinds.ByName(name)
	if err != nil {
		return err
	}
	const steps = 240
	rate, size := draw.Series{Name: name, Color: color}, draw.Series{Name: name, Color: color}
	for i := range steps + 1 {
		n := math.Round(p.fewest() * math.Pow(p.most()/p.fewest(), float64(i)/steps))
		predicted, err := k.Predict(kinds.Config{Items: p.items(), FPR: p.rate()}, uint64(n))
		if err != nil && n <= float64(p.items()) {
			return err
		}
		if err != nil {
			break
		}
		bits := max(predicted.FastBitsPerKey+predicted.SlowBitsPerKey, 1e-3)
		rate.Points = append(rate.Points, draw.Point{X: n, Y: max(predicted.FPR, math.SmallestNonzeroFloat64)})
		size.Points = append(size.Points, draw.Point{X: n, Y: bits})
		sizes.Y.Min, sizes.Y.Max = min(sizes.Y.Min, bits/1.3), max(sizes.Y.Max, bits*1.3)
	}
	rates.Series, sizes.Series = append(rates.Series, rate), append(sizes.Series, size)
	return nil
}
