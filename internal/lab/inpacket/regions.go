package inpacket

import (
	"context"
	"fmt"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/inpacket/forward"
)

var regions = lab.Experiment{
	ID:       "inpacket/regions",
	Paper:    "[DlBF10]",
	Title:    "How many bits of a header for the marks",
	Question: "What do marks cost and gain when headers are thinned out on their way?",
	Says:     "Sec. III: \"a key design issue is choosing the value r\". Sec. IV takes a tenth of the bits as its example. Sec. I: a filter can be thinned out as elements are processed.",
	Quick:    networkParams(1_000, 800, 1_000, lab.Int("links", 20), lab.Ints("marks", 1, 12, 25, 50, 100)),
	Full:     networkParams(10_000, 10_000, 10_000, lab.Int("links", 20), lab.Ints("marks", 1, 4, 8, 12, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128)),
	Run:      runRegions,
}

func runRegions(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	nets, err := networks(e)
	if err != nil {
		return nil, err
	}
	links, marks := e.Int("links"), e.Ints("marks")
	var list []contender
	for _, r := range marks {
		c := deleting(e)
		c.name, c.config.Regions = fmt.Sprint(r), r
		list = append(list, c)
	}
	result := &lab.Result{}
	var all []measure
	for i, net := range nets {
		e.Progress(i, len(nets))
		outs, err := race(ctx, e, net.graph, links, list)
		if err != nil {
			return nil, err
		}
		var found []measure
		for j := range list {
			found = append(found, measured(list[j], links, outs[j]))
		}
		all = append(all, found...)
		result.Plots = append(result.Plots, regionPlot(net, marks, found), fillPlot(net, list, outs))
		result.Tables = append(result.Tables, regionTable(net, list, found))
		result.Checks = append(result.Checks, regionChecks(net, marks, found, outs)...)
	}
	result.Checks = append([]lab.Check{missedCheck(all)}, result.Checks...)
	return result, nil
}

// regionPlot shows shares of packets and transmissions over the number of marks.
func regionPlot(net network, marks []int, found []measure) lab.Plot {
	efficiency := lab.Series{Name: "transmissions needed", Style: lab.LinePoints}
	circles := lab.Series{Name: "packets that circle", Style: lab.LinePoints}
	pinned := lab.Series{Name: "links pinned", Style: lab.LinePoints}
	for i, m := range found {
		x := float64(marks[i])
		efficiency.Points = append(efficiency.Points, m.efficiency.At(x))
		circles.Points = append(circles.Points, lab.Share(x, m.endless, m.packets))
		pinned.Points = append(pinned.Points, m.pinned.At(x))
	}
	return lab.Plot{
		Name: "marks-" + net.name, Title: "Headers of 256 bits with so many marks, in " + net.words,
		X: lab.Axis{Label: "marks"}, Y: lab.Axis{Label: "share", Percent: true, Max: 1.02},
		Series: []lab.Series{efficiency, circles, pinned},
	}
}

// fillPlot shows how headers empty on their way, for the first, the middle and the last
// number of marks.
func fillPlot(net network, list []contender, outs [][]forward.Outcome) lab.Plot {
	p := lab.Plot{
		Name: "fill-" + net.name, Title: "Headers on their way inside the tree, in " + net.words,
		X: lab.Axis{Label: "links behind the copy"}, Y: lab.Axis{Label: "set cells", Percent: true},
	}
	for _, i := range []int{0, len(list) / 2, len(list) - 1} {
		s := lab.Series{Name: "marks: " + list[i].name, Style: lab.LinePoints}
		for hops, fill := range fillByHops(outs[i]) {
			s.Points = append(s.Points, lab.Point{X: float64(hops), Y: fill})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// fillByHops is the mean fill of all copies with so many links behind them, as long as
// there are a hundred.
func fillByHops(outs []forward.Outcome) (fills []float64) {
	for hops := 0; ; hops++ {
		sum, copies := 0.0, 0
		for _, o := range outs {
			if hops < len(o.Hops) {
				sum += o.Hops[hops].Fill * float64(o.Hops[hops].Copies)
				copies += o.Hops[hops].Copies
			}
		}
		if copies < 100 && hops > 0 || copies == 0 {
			return fills
		}
		fills = append(fills, sum/float64(copies))
	}
}

func regionTable(net network, list []contender, found []measure) lab.Table {
	t := lab.Table{
		Name: "marks-table-" + net.name, Title: "Headers by the number of marks, in " + net.words,
		Columns: []string{"marks", "cells in a region", "efficiency", "links pinned", "links beside the tree found", "by Eq. (2), nothing deleted", "came back", "circled"},
	}
	for i, m := range found {
		s, err := list[i].config.Shape()
		if err != nil {
			continue // the race has refused it already
		}
		t.Add(m.contender, s.RegionBits(), m.efficiency, lab.Percent(m.pinned.Mean), lab.Percent(m.claimRate()), lab.Percent(rateOf(list[i], m.links)), m.share(m.looped), m.share(m.endless))
	}
	return t
}

func regionChecks(net network, marks []int, found []measure, outs [][]forward.Outcome) []lab.Check {
	in := ", " + net.name
	best, calmest, tenth := 0, 0, 0
	for i, m := range found {
		if m.efficiency.Mean > found[best].efficiency.Mean {
			best = i
		}
		if m.endless < found[calmest].endless {
			calmest = i
		}
		if 10*marks[i] <= 256 {
			tenth = i
		}
	}
	circles := func(o forward.Outcome) float64 { return float64(oneIf(o.Expired > 0)) }
	return []lab.Check{
		expectedCheck("links found by mistake, all numbers of marks together"+in, together(found)),
		less("circles, a tenth of the bits for marks against one bit"+in, "an affordable increase before elements are removed, and a potential improvement (Sec. IV)", outs[tenth], outs[0], circles),
		lab.Show("the most efficient"+in, fmt.Sprintf("%d marks: %s; with %d marks %s, with 1 %s", marks[best], lab.Percent(found[best].efficiency.Mean), marks[tenth], lab.Percent(found[tenth].efficiency.Mean), lab.Percent(found[0].efficiency.Mean))),
		lab.Show("the fewest circles"+in, fmt.Sprintf("%d marks: %s; with %d marks %s, with 1 %s", marks[calmest], found[calmest].share(found[calmest].endless), marks[tenth], found[tenth].share(found[tenth].endless), found[0].share(found[0].endless))),
	}
}
