package gatereport

import (
	"fmt"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/growth"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

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

// over returns the packets at each point, and the axis for them.
func (s Summary) over() ([]float64, scale) {
	var x []float64
	for _, p := range s.Points {
		x = append(x, float64(p.Packets))
	}
	axis := counts(x[len(x)-1])
	axis.high = x[len(x)-1] // no empty space at the end
	for len(axis.marks) > 0 && axis.marks[len(axis.marks)-1] > axis.high {
		axis.marks = axis.marks[:len(axis.marks)-1]
	}
	return x, axis
}

const packetAxis = "packets judged so far"

// verdictChart shows what became of packets between one point and the next.
func (s Summary) verdictChart() chart {
	x, axis := s.over()
	var passed, held []float64
	before := Point{}
	for i, p := range s.Points {
		if 2*(p.Packets-before.Packets) < s.Points[0].Packets {
			x = x[:i] // the rest at the end is too short for a share
			break
		}
		share := float64(p.Passed-before.Passed) / float64(p.Packets-before.Packets)
		passed, held = append(passed, share), append(held, 1-share)
		before = p
	}
	return chart{
		Title: "What became of packets", X: packetAxis, Y: "share of packets, %",
		Text: "Of the packets between one point and the next, how many passed and how many were rejected or held back.",
	}.draw(axis, shares(1), series{"passed", "ours", x, passed}, series{"rejected or held back", "other", x, held})
}

// banChart shows how the bans add up.
func (s Summary) banChart() chart {
	x, axis := s.over()
	var bans []float64
	for _, p := range s.Points {
		bans = append(bans, float64(p.Bans))
	}
	return chart{
		Title: "Sources banned", X: packetAxis, Y: "sources banned so far",
		Text: "A source is banned with the packet that completes its last allowed pattern.",
	}.draw(axis, counts(bans[len(bans)-1]), series{"bans", "ours", x, bans})
}

// rareRate is one that a chart in per cent cannot show.
const rareRate = 1e-5

// rateChart shows false positives, measured beside predicted, as far as there are any.
func (p Page) rateChart() (chart, bool) {
	s := p.Summary
	if p.Without != nil {
		s = *p.Without
	}
	if len(s.Points) < fewPoints {
		return chart{}, false
	}
	x, axis := s.over()
	lines, high := s.rateLines(x)
	if high < rareRate {
		return chart{}, false
	}
	c := chart{Title: "False positives", X: packetAxis, Y: "share of legitimate packets, %"}
	switch {
	case p.Without != nil:
		lines[0].name, lines[1].name = "without confirmation, measured", "without confirmation, predicted"
		confirmed, _ := p.rateLines(x)
		lines = append(lines, series{"with confirmation, measured", "ours", x, confirmed[0].y})
		c.Text = "Packets of honest users that were rejected by mistake, all packets so far. Confirmation removes them."
	case s.Check != nil:
		c.Text = "Packets rejected that an exact gate lets pass, all packets so far."
	default:
		c.Y = "share of sources, %"
		c.Text = "How many sources that are not banned would be rejected by mistake, as the gate stood."
	}
	return c.draw(axis, shares(high), lines...), true
}

// rateLines returns the measured and the predicted share, or only the predicted rate
// where nothing was compared, and the highest value.
func (s Summary) rateLines(x []float64) (lines []series, high float64) {
	var measured, predicted []float64
	for _, p := range s.Points {
		m, e := p.Shares()
		if s.Check == nil {
			e = p.Rate
		}
		measured, predicted = append(measured, m), append(predicted, e)
		high = max(high, m, e)
	}
	if s.Check == nil {
		return []series{{"predicted", "theory", x, predicted}}, high
	}
	return []series{{"measured", "other", x, measured}, {"predicted", "theory", x, predicted}}, high
}

// growthCharts shows a set that grows and shrinks.
func growthCharts(r *growth.Report) []chart {
	if r == nil || len(r.Steps) < 2 {
		return nil
	}
	axis := scale{high: float64(len(r.Steps) - 1)}
	axis.label = func(v float64) string { return count(float64(r.Steps[int(v)].Keys)) }
	var x, fpr, predicted, bits, table, fixed []float64
	for i, s := range r.Steps {
		x = append(x, float64(i))
		fpr, predicted = append(fpr, s.FPR), append(predicted, s.Predicted)
		bits, table = append(bits, s.Bits), append(table, s.MapBits)
		if !s.Shrinking {
			fixed = append(fixed, s.Fixed)
		}
		if i%2 == 0 || len(r.Steps) < 6 {
			axis.marks = append(axis.marks, float64(i))
		}
	}
	keys := "keys in the set: growing, then shrinking"
	first := count(float64(r.Steps[0].Keys))
	return []chart{
		chart{
			Title: "False positives", X: keys, Y: "absent keys taken for present, %",
			Text: fmt.Sprintf("The kind %s keeps the rate that was asked for, %s, at any number of keys. A standard Bloom filter has to be made for a number; with more keys it answers yes to everything, and it cannot delete.", r.Kind, quantity.Rate(r.Asked)),
		}.draw(axis, decades(1e-3, 1, quantity.Rate), series{r.Kind + ", measured", "ours", x, fpr}, series{r.Kind + ", predicted", "theory", x, predicted},
			series{"standard Bloom filter made for " + first + " keys", "other", x, fixed}),
		chart{
			Title: "Memory", X: keys, Y: "bits per key",
			Text: "Memory in use for each key in the set. A Go map of the same keys takes more, and gives nothing back when keys are deleted.",
		}.draw(axis, decades(10, max(100, table[len(table)-1]), count), series{r.Kind, "ours", x, bits}, series{"Go map of 64-bit keys", "other", x, table}),
	}
}
