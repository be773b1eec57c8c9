package gatereport

import (
	"fmt"
	"html/template"
	"time"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/growth"
	"github.com/everbloom-go/everbloom/internal/draw"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// A chart is a plot and a sentence on what it shows.
type chart struct {
	draw.Plot
	Text string
}

// Picture returns the plot as a part of a page: draw makes nothing else of it.
func (c chart) Picture() (template.HTML, error) {
	svg, err := draw.SVG(c.Plot)
	return template.HTML(svg), err
}

// fewPoints are not worth a chart.
const fewPoints = 8

// gateCharts shows a gate over its packets.
func (p Page) gateCharts() (all []chart) {
	if len(p.Points) < fewPoints {
		return nil
	}
	all = append(all, p.verdictChart(), p.banChart())
	if c, ok := p.rateChart(); ok {
		all = append(all, c)
	}
	return all
}

// overTime is a chart of what happens as packets are judged.
func (s Summary) overTime(title, text string, y draw.Axis, lines ...draw.Series) chart {
	label, _ := s.clock()
	return chart{draw.Plot{Title: title, X: draw.Axis{Label: label}, Y: y, Series: lines}, text}
}

// clock returns the axis that points lie on: their time, if it is known, or the number of
// packets.
func (s Summary) clock() (label string, of func(Point) float64) {
	first, last := s.Began, s.Points[len(s.Points)-1].At
	if begun := s.Points[0].At; begun-first > last-begun {
		first = begun // the first packets have a date of their own
	}
	if first == 0 || last <= first {
		return "packets judged so far", func(p Point) float64 { return float64(p.Packets) }
	}
	name, unit := "seconds", time.Second
	switch took := time.Duration(last - first); {
	case took > 72*time.Hour:
		name, unit = "days", 24*time.Hour
	case took > 3*time.Hour:
		name, unit = "hours", time.Hour
	case took > 3*time.Minute:
		name, unit = "minutes", time.Minute
	}
	label = fmt.Sprintf("%s since %s", name, time.Unix(0, first).UTC().Format("2006-01-02 15:04:05 UTC"))
	return label, func(p Point) float64 { return float64(p.At-first) / float64(unit) }
}

// curve has a value for each point of the summary.
func (s Summary) curve(name string, value func(Point) float64) draw.Series {
	out := draw.Series{Name: name}
	_, clock := s.clock()
	for _, p := range s.Points {
		out.Points = append(out.Points, draw.Point{X: clock(p), Y: value(p)})
	}
	return out
}

// verdictChart shows what became of packets between one point and the next.
func (s Summary) verdictChart() chart {
	passed, held := draw.Series{Name: "passed"}, draw.Series{Name: "rejected or held back"}
	before := Point{}
	_, clock := s.clock()
	for _, p := range s.Points {
		if 2*(p.Packets-before.Packets) < s.Points[0].Packets {
			break // the rest at the end is too short for a share
		}
		x, share := clock(p), float64(p.Passed-before.Passed)/float64(p.Packets-before.Packets)
		passed.Points = append(passed.Points, draw.Point{X: x, Y: share})
		held.Points = append(held.Points, draw.Point{X: x, Y: 1 - share})
		before = p
	}
	return s.overTime("What became of packets",
		"Of the packets between one point and the next, how many passed and how many were rejected or held back.",
		draw.Axis{Label: "share of packets", Percent: true, Max: 1}, passed, held)
}

// banChart shows how the bans add up.
func (s Summary) banChart() chart {
	return s.overTime("Sources banned", "A source is banned with the packet that completes its last allowed pattern.",
		draw.Axis{Label: "sources banned so far"}, s.curve("bans", func(p Point) float64 { return float64(p.Bans) }))
}

// rareRate is one that a chart in per cent cannot show.
const rareRate = 1e-5

// rateChart shows false positives, measured beside predicted, as far as there are any.
func (p Page) rateChart() (chart, bool) {
	s, y := p.Summary, draw.Axis{Label: "share of legitimate packets", Percent: true}
	if p.Without != nil {
		s = *p.Without
	}
	measure := func(p Point) float64 { share, _ := p.Shares(); return share }
	measured, predicted := s.curve("measured", measure), s.curve("predicted", func(p Point) float64 { _, share := p.Shares(); return share })
	predicted.Style, predicted.Color = draw.Dashed, 1
	lines, text := []draw.Series{measured, predicted}, "Packets rejected that an exact gate lets pass, all packets so far."
	switch {
	case p.Without != nil:
		lines[0].Name, lines[1].Name = "without confirmation, measured", "without confirmation, predicted"
		lines = append(lines, p.curve("with confirmation, measured", measure))
		text = "Packets of honest users that were rejected by mistake, all packets so far. Confirmation removes them."
	case s.Check == nil:
		lines = []draw.Series{s.curve("predicted", func(p Point) float64 { return p.Rate })}
		y.Label = "share of sources"
		text = "How many sources that are not banned would be rejected by mistake, as the gate stood."
	}
	high := 0.0
	for _, line := range lines {
		for _, at := range line.Points {
			high = max(high, at.Y)
		}
	}
	return s.overTime("False positives", text, y, lines...), len(s.Points) >= fewPoints && high >= rareRate
}

// lowestRate is where the axis of the rates begins: measured ones may be 0.
const lowestRate = 1e-3

// growthCharts shows a set that grows and shrinks.
func growthCharts(r *growth.Report) []chart {
	if r == nil || len(r.Steps) < 2 {
		return nil
	}
	first := quantity.Keys(r.Steps[0].Keys)
	measured, predicted := draw.Series{Name: r.Kind + ", measured"}, draw.Series{Name: r.Kind + ", predicted", Style: draw.Dashed, Color: 1}
	fixed, bits, table := draw.Series{Name: "Bloom for " + first}, draw.Series{Name: r.Kind}, draw.Series{Name: "Go map of 64-bit keys"}
	keys := draw.Axis{Label: "keys in the set: growing, then shrinking"}
	for i, s := range r.Steps {
		add := func(to *draw.Series, y float64) { to.Points = append(to.Points, draw.Point{X: float64(i), Y: y}) }
		add(&measured, max(s.FPR, lowestRate))
		add(&predicted, max(s.Predicted, lowestRate))
		add(&bits, s.Bits)
		if s.MapBits > 0 { // or something else gave memory back meanwhile
			add(&table, s.MapBits)
		}
		if !s.Shrinking {
			add(&fixed, max(s.Fixed, lowestRate))
		}
		name := ""
		if i%2 == 0 || len(r.Steps) < 6 {
			name = quantity.Count(s.Keys)
		}
		keys.Names = append(keys.Names, name)
	}
	memory := []draw.Series{bits}
	if len(table.Points) > 0 {
		memory = append(memory, table)
	}
	return []chart{
		{draw.Plot{
			Title: "False positives", X: keys, Series: []draw.Series{measured, predicted, fixed},
			Y: draw.Axis{Label: "absent keys taken for present", Log: true, Percent: true, Min: lowestRate, Max: 1},
		}, fmt.Sprintf("The kind %s keeps the rate that was asked for, %s, at any number of keys. A standard Bloom filter has to be made for a number; with more keys it answers yes to everything, and it cannot delete.", r.Kind, quantity.Rate(r.Asked))},
		{draw.Plot{
			Title: "Memory", X: keys, Y: draw.Axis{Label: "bits per key", Log: true}, Series: memory,
		}, "Memory in use for each key in the set. A Go map of the same keys takes more, and gives nothing back when keys are deleted."},
	}
}
