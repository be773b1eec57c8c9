package gatereport

import (
	_ "embed" // for the template
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/quantity"
)

//go:embed report.html
var page string

var report = template.Must(template.New("report").Funcs(template.FuncMap{
	"count": quantity.Count,
}).Parse(page))

// HTML writes the summary as a page that needs nothing else.
func (s Summary) HTML(w io.Writer) error {
	var text strings.Builder
	if err := s.Text(&text); err != nil {
		return err
	}
	return report.Execute(w, struct {
		Summary
		Text     string
		Verdicts chart
		Rate     chart
	}{s, text.String(), s.verdictChart(), s.rateChart()})
}

// A chart is lines over the number of packets.
type chart struct {
	Title, Top, End string
	Lines           []line
}

type line struct {
	Name, Class, Points string
}

const (
	chartWidth  = 640
	chartHeight = 200
)

// verdictChart shows what became of packets between one point and the next.
func (s Summary) verdictChart() chart {
	var passed, held, bans []float64
	before := Point{}
	for _, p := range s.Points {
		n := float64(p.Packets - before.Packets)
		passed = append(passed, float64(p.Passed-before.Passed)/n)
		held = append(held, float64(p.Rejected-before.Rejected)/n)
		bans = append(bans, float64(p.Bans))
		before = p
	}
	most := largest(bans)
	for i := range bans {
		bans[i] /= most
	}
	return s.chart("What became of packets", "100 %", []named{
		{"passed", "good", passed}, {"rejected", "bad", held}, {fmt.Sprintf("bans so far (top: %s)", quantity.Count(uint64(most))), "ban", bans},
	})
}

// rateChart shows the predicted rate of mistakes.
func (s Summary) rateChart() chart {
	var rate []float64
	for _, p := range s.Points {
		rate = append(rate, p.Rate)
	}
	most := largest(rate)
	for i := range rate {
		rate[i] /= most
	}
	return s.chart("Strangers rejected by mistake, predicted", quantity.Rate(most), []named{{"rate", "bad", rate}})
}

// largest returns the largest value, or something above 0 to divide by.
func largest(values []float64) float64 {
	most := math.SmallestNonzeroFloat32
	for _, v := range values {
		most = max(most, v)
	}
	return most
}

type named struct {
	name, class string
	values      []float64 // 0 to 1
}

func (s Summary) chart(title, top string, lines []named) chart {
	c := chart{Title: title, Top: top}
	if n := len(s.Points); n > 0 {
		c.End = quantity.Short(float64(s.Points[n-1].Packets))
	}
	for _, l := range lines {
		c.Lines = append(c.Lines, line{l.name, l.class, s.path(l.values)})
	}
	return c
}

// path turns values into what SVG calls points.
func (s Summary) path(values []float64) string {
	var b strings.Builder
	for i, v := range values {
		x := chartWidth * float64(s.Points[i].Packets) / float64(s.Points[len(s.Points)-1].Packets)
		_, _ = fmt.Fprintf(&b, "%.1f,%.1f ", x, chartHeight*(1-v)) // never fails
	}
	return b.String()
}
