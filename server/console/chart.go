package console

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A chart is curves over a common axis. It becomes a figure with an SVG that is readable at
// the width of a phone.
type chart struct {
	Title  string
	Curves []curve
	X, Y   axis
	Note   string // under the chart
}

// A curve is a line. Its number among the curves gives its colour and its dashes.
type curve struct {
	Name string
	X, Y []float64
}

// An axis says how numbers are placed and written.
type axis struct {
	Log      bool
	Min, Max float64
	Format   func(float64) string
}

// The size of a chart and the margins of its area, in pixels.
const (
	chartWidth  = 360
	chartHeight = 150
	chartTop    = 14
	chartBottom = 18
	maxPoints   = 180 // of a curve
)

// place returns where a number lies on an axis, 0 to 1.
func (a axis) place(v float64) float64 {
	low, high := a.Min, a.Max
	if a.Log {
		low, high, v = math.Log(low), math.Log(high), math.Log(max(v, a.Min))
	}
	if high <= low {
		return 0
	}
	return min(max((v-low)/(high-low), 0), 1)
}

// ticks returns three or so numbers of an axis.
func (a axis) ticks() (out []float64) {
	if a.Log {
		first, last := math.Ceil(math.Log10(a.Min)), math.Floor(math.Log10(a.Max))
		step := max(1, math.Ceil((last-first)/3))
		for e := first; e <= last; e += step {
			out = append(out, math.Pow(10, e))
		}
		return out
	}
	for i := 1; i <= 2; i++ {
		out = append(out, a.Min+(a.Max-a.Min)*float64(i)/2)
	}
	return out
}

// niceMax returns a number that is round with a base, 10 or 2, and not less than v.
func niceMax(v, base float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 1
	}
	unit := math.Pow(base, math.Floor(math.Log(v*(1+1e-9))/math.Log(base)))
	for f := 1.0; f < base; f += max(1, math.Floor(f/2)) {
		if f*unit >= v*(1-1e-9) {
			return f * unit
		}
	}
	return base * unit
}

// overTime returns a chart of values that were taken at even intervals, the last one now.
func overTime(title string, s span, format func(float64) string, names []string, values ...[]float64) chart {
	c := chart{Title: title, Y: axis{Format: format}}
	most, last, long := 0.0, "", shortest
	for i, ys := range values {
		line := curve{Name: names[i]}
		line.X, line.Y = thin(ys)
		c.Curves = append(c.Curves, line)
		long = max(long, len(ys))
		most = max(most, largest(ys))
		if len(ys) > 0 {
			if last != "" {
				last += ", "
			}
			last += strings.TrimPrefix(names[i]+" ", " ") + format(ys[len(ys)-1])
		}
	}
	c.X.Min, c.Y.Max = -float64(long), most
	if last == "" {
		last = "nothing yet"
	}
	c.Note = last
	c.X.Format = func(x float64) string {
		switch {
		case x == 0:
			return "now"
		case long == s.size:
			return s.Title + " ago"
		}
		return duration(time.Duration(-x)*time.Duration(s.every)*time.Second) + " ago"
	}
	return c.rounded(10)
}

// shortest is how many points the axis of time has at least.
const shortest = 60

// rounded has the axis of values end at a number that is round with a base.
func (c chart) rounded(base float64) chart {
	c.Y.Max = niceMax(c.Y.Max, base)
	return c
}

// thin returns the places of values that end now, and the largest of each few of them if
// there are many.
func thin(ys []float64) (xs, out []float64) {
	group := (len(ys) + maxPoints - 1) / maxPoints
	for i := 0; i < len(ys); i += group {
		part := ys[i:min(i+group, len(ys))]
		most := math.NaN()
		if slices.ContainsFunc(part, isNumber) {
			most = largest(part)
		}
		xs, out = append(xs, float64(i+len(part)-len(ys))), append(out, most)
	}
	return xs, out
}

func isNumber(y float64) bool { return !math.IsNaN(y) }

// largest returns the largest of some values of which gaps are not numbers, 0 if there is none.
func largest(ys []float64) float64 {
	most := math.Inf(-1)
	for _, y := range ys {
		if isNumber(y) {
			most = max(most, y)
		}
	}
	if math.IsInf(most, -1) {
		return 0
	}
	return most
}

// Figure returns the chart as a part of a page.
func (c chart) Figure() template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<figure class="chart"><figcaption><b>%s</b> <span class="soft">%s</span></figcaption>`, esc(c.Title), esc(c.Note))
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s: %s">`, chartWidth, chartHeight, esc(c.Title), esc(c.Note))
	const area = chartHeight - chartTop - chartBottom
	var labels strings.Builder
	for _, v := range append(c.Y.ticks(), c.Y.Min) {
		y := chartTop + area*(1-c.Y.place(v))
		fmt.Fprintf(&b, `<path class="grid" d="M0 %.1fH%d"/>`, y, chartWidth)
		if v != c.Y.Min {
			fmt.Fprintf(&labels, `<text x="0" y="%.1f">%s</text>`, y-3, esc(c.Y.Format(v)))
		}
	}
	for i, v := range []float64{c.X.Min, c.X.Max} {
		fmt.Fprintf(&labels, `<text x="%d" y="%d"%s>%s</text>`, i*chartWidth, chartHeight-4, []string{"", ` text-anchor="end"`}[i], esc(c.X.Format(v)))
	}
	for i, line := range c.Curves {
		fmt.Fprintf(&b, `<path class="line c%d" d="%s"/>`, i+1, c.path(line, area))
	}
	b.WriteString(labels.String())
	b.WriteString(`</svg>`)
	c.legend(&b)
	b.WriteString(`</figure>`)
	return template.HTML(b.String()) // every text in it was escaped
}

// path returns the outline of a curve, which breaks off where values are no numbers.
func (c chart) path(line curve, area float64) string {
	var b strings.Builder
	for i, x := range line.X {
		if !isNumber(line.Y[i]) {
			continue
		}
		begins := i == 0 || !isNumber(line.Y[i-1])
		letter := "L"
		if begins {
			letter = "M"
		}
		b.WriteString(letter)
		b.WriteString(strconv.FormatFloat(chartWidth*c.X.place(x), 'f', 1, 64))
		b.WriteString(" ")
		b.WriteString(strconv.FormatFloat(chartTop+area*(1-c.Y.place(line.Y[i])), 'f', 1, 64))
		if begins && (i == len(line.X)-1 || !isNumber(line.Y[i+1])) { // a point would not be seen
			b.WriteString("h1")
		}
	}
	return b.String()
}

// legend names the curves if there are several.
func (c chart) legend(b *strings.Builder) {
	if len(c.Curves) < 2 {
		return
	}
	b.WriteString(`<p class="legend">`)
	for i, line := range c.Curves {
		fmt.Fprintf(b, `<span><svg viewBox="0 0 24 8" aria-hidden="true"><path class="line c%d" d="M0 4H24"/></svg> %s</span> `, i+1, esc(line.Name))
	}
	b.WriteString(`</p>`)
}

func esc(text string) string { return template.HTMLEscapeString(text) }
