package gatereport

import (
	"fmt"
	"math"
	"strings"

	"github.com/everbloom-go/everbloom/internal/quantity"
)

// A chart is lines over two axes. Its parts are in the units of the picture, which is
// as wide as a phone, so that text keeps its size there.
type chart struct {
	Title, Text string // Text is a sentence on what the chart shows
	X, Y        string // titles of the axes, with units
	XTicks      []tick
	YTicks      []tick
	Lines       []line
}

type tick struct {
	At    string
	Label string
}

type line struct {
	Name, Class, Points string
}

// The area of the data inside the picture; see report.html for the rest.
const (
	chartLeft, chartWidth = 46.0, 300.0
	chartTop, chartHeight = 26.0, 150.0
)

// A scale maps values to 0 to 1.
type scale struct {
	low, high float64
	log       bool
	marks     []float64
	label     func(float64) string
}

func (s scale) share(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		low, high, v = math.Log(low), math.Log(high), math.Log(max(v, low))
	}
	return min(1, max(0, (v-low)/(high-low)))
}

// shares is a scale in per cent with round marks from 0 to at least high.
func shares(high float64) scale { return fromZero(high, quantity.Rate) }

// counts is a scale with marks at whole numbers from 0 to at least high.
func counts(high float64) scale { return fromZero(max(high, 4), count) }

// fromZero is a scale with round marks from 0 to at least high, which is above 0.
func fromZero(high float64, label func(float64) string) scale {
	step := math.Pow(10, math.Floor(math.Log10(high/4)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*step*4 >= high*(1-1e-9) {
			step *= m
			break
		}
	}
	s := scale{label: label}
	for i := 0; s.high < high*(1-1e-9); i++ {
		s.high = float64(i) * step
		s.marks = append(s.marks, s.high)
	}
	return s
}

// decades is a logarithmic scale with a mark at each power of ten around low and high.
func decades(low, high float64, label func(float64) string) scale {
	from, to := math.Floor(math.Log10(low)+1e-9), math.Ceil(math.Log10(high)-1e-9)
	s := scale{low: math.Pow(10, from), high: math.Pow(10, max(to, from+1)), log: true, label: label}
	for e := from; e <= max(to, from+1); e++ {
		s.marks = append(s.marks, math.Pow(10, e))
	}
	return s
}

func count(v float64) string {
	text := quantity.Short(v)
	number, unit, _ := strings.Cut(text, " ")
	if strings.Contains(number, ".") {
		number = strings.TrimSuffix(strings.TrimRight(number, "0"), ".")
	}
	return strings.TrimSpace(number + " " + unit)
}

// A series is a line before it is drawn.
type series struct {
	name, class string
	x, y        []float64
}

// draw fills in ticks and lines.
func (c chart) draw(x, y scale, all ...series) chart {
	for _, v := range x.marks {
		c.XTicks = append(c.XTicks, tick{across(x.share(v)), x.label(v)})
	}
	for _, v := range y.marks {
		c.YTicks = append(c.YTicks, tick{down(y.share(v)), y.label(v)})
	}
	for _, s := range all {
		var b strings.Builder
		for i := range s.y {
			b.WriteString(across(x.share(s.x[i])) + "," + down(y.share(s.y[i])) + " ")
		}
		c.Lines = append(c.Lines, line{s.name, s.class, strings.TrimSpace(b.String())})
	}
	return c
}

func across(share float64) string { return fmt.Sprintf("%.1f", chartLeft+chartWidth*share) }
func down(share float64) string   { return fmt.Sprintf("%.1f", chartTop+chartHeight*(1-share)) }
