package inpacket

import (
	"context"
	"fmt"
	"strings"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/inpacket/forward"
)

var trees = lab.Experiment{
	ID:       "inpacket/trees",
	Paper:    "[DlBF10]",
	Title:    "Delivery trees in packet headers",
	Question: "How many transmissions go astray, by the size of the tree, with and without deleting links that were used, with and without a choice of hashes?",
	Says:     "Sec. V: \"A 256-bit source routing BF can be constructed by including the LIDs of a multicast delivery tree.\" Sec. I: a filter can be thinned out as elements are processed in order to reduce false positives.",
	Quick:    networkParams(1_000, 100, 1_000, lab.Ints("links", 8, 16, 24, 32)),
	Full:     networkParams(10_000, 500, 10_000, lab.Ints("links", 4, 8, 12, 16, 20, 24, 28, 32, 36, 40)),
	Run:      runTrees,
}

// sweep is a race at several sizes of trees in one network.
type sweep struct {
	net  network
	list []contender
	outs [][][]forward.Outcome // by size, then by contender
	all  [][]measure           // by contender, then by size
}

// runSweeps races in both networks at all sizes.
func runSweeps(ctx context.Context, e *lab.Env, list []contender) ([]*sweep, error) {
	nets, err := networks(e)
	if err != nil {
		return nil, err
	}
	sizes := e.Ints("links")
	var sweeps []*sweep
	for i, net := range nets {
		s := &sweep{net: net, list: list, all: make([][]measure, len(list))}
		for j, links := range sizes {
			e.Progress(i*len(sizes)+j, len(nets)*len(sizes))
			outs, err := race(ctx, e, net.graph, links, list)
			if err != nil {
				return nil, err
			}
			s.outs = append(s.outs, outs)
			for c := range list {
				s.all[c] = append(s.all[c], measured(list[c], links, outs[c]))
			}
		}
		sweeps = append(sweeps, s)
	}
	return sweeps, nil
}

// joined returns the packets of a contender at all sizes.
func (s *sweep) joined(contender int) (outs []forward.Outcome) {
	for _, size := range s.outs {
		outs = append(outs, size[contender]...)
	}
	return outs
}

// everything returns all measures.
func everything(sweeps []*sweep) (list []measure) {
	for _, s := range sweeps {
		for _, m := range s.all {
			list = append(list, m...)
		}
	}
	return list
}

// The contenders of trees, and of loops, by number.
const (
	isPlain = iota
	isPlainChosen
	isDeleting
	isDeletingChosen
	isKept
)

func fourAndKept(e *lab.Env) []contender {
	return []contender{plain(e), plain(e).chosen(e), deleting(e), deleting(e).chosen(e), kept(e)}
}

func runTrees(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	sweeps, err := runSweeps(ctx, e, fourAndKept(e))
	if err != nil {
		return nil, err
	}
	r := &lab.Result{Checks: []lab.Check{missedCheck(everything(sweeps))}, Notes: []string{
		"Efficiency is the share of transmissions that were needed, the mean over packets.",
		"Links beside the tree are those that lead out of it: each is asked for once by a copy that is on its way.",
		fmt.Sprintf("No more than %d transmissions that were not needed are counted for a packet: where there are storms their number is a lower bound.", e.Int("limit")),
	}}
	for _, s := range sweeps {
		r.Plots = append(r.Plots, s.efficiencyPlot(), s.ratePlot())
		r.Tables = append(r.Tables, s.treeTable())
		r.Checks = append(r.Checks, s.treeChecks()...)
	}
	return r, nil
}

// line is a series of one contender over the sizes.
func (s *sweep) line(contender int, figure func(measure) lab.Point) lab.Series {
	series := lab.Series{Name: s.list[contender].name, Style: lab.LinePoints, Color: contender + 1}
	for _, m := range s.all[contender] {
		series.Points = append(series.Points, figure(m))
	}
	return series
}

func (s *sweep) efficiencyPlot() lab.Plot {
	p := lab.Plot{
		Name: "efficiency-" + s.net.name, Title: "Transmissions that were needed, in " + s.net.words,
		X: lab.Axis{Label: "links of the tree"}, Y: lab.Axis{Label: "share of all transmissions", Percent: true, Max: 1.02},
	}
	for c := isPlain; c <= isDeletingChosen; c++ {
		p.Series = append(p.Series, s.line(c, func(m measure) lab.Point { return m.efficiency.At(float64(m.links)) }))
	}
	return p
}

// ratePlot leaves the kept ones to the formula.
func (s *sweep) ratePlot() lab.Plot {
	p := lab.Plot{
		Name: "rate-" + s.net.name, Title: "Links beside the tree that were taken for part of it, in " + s.net.words,
		X: lab.Axis{Label: "links of the tree"}, Y: lab.Axis{Label: "share of those asked for", Percent: true},
	}
	for c := isPlain; c <= isDeletingChosen; c++ {
		p.Series = append(p.Series, s.line(c, func(m measure) lab.Point { return lab.Point{X: float64(m.links), Y: m.claimRate()} }))
	}
	formula := lab.Series{Name: "Eq. (2), kept", Style: lab.Dashed, Color: isKept + 1}
	for _, m := range s.all[isKept] {
		formula.Points = append(formula.Points, lab.Point{X: float64(m.links), Y: rateOf(s.list[isKept], m.links)})
	}
	p.Series = append(p.Series, formula)
	return p
}

func (s *sweep) treeTable() lab.Table {
	t := lab.Table{
		Name: "trees-" + s.net.name, Title: "Packets in " + s.net.words,
		Columns: []string{"links", "headers", "efficiency", "transmissions not needed", "nodes outside the tree", "links beside the tree found", "by Eq. (2)", "links pinned", "packets in storms"},
	}
	for i := range s.all[0] {
		for c, list := range s.all {
			m, pinned := list[i], "–"
			if s.list[c].rules.Delete {
				pinned = lab.Percent(m.pinned.Mean)
			}
			t.Add(m.links, m.contender, m.efficiency, m.unneeded, m.extra, lab.Percent(m.claimRate()), lab.Percent(rateOf(s.list[c], m.links)), pinned, m.share(m.storms))
		}
	}
	return t
}

func (s *sweep) treeChecks() []lab.Check {
	in := ", " + s.net.name
	claimed := func(o forward.Outcome) float64 { return float64(o.Claimed) }
	return []lab.Check{
		expectedCheck("links found by mistake, plain"+in, s.all[isPlain]),
		expectedCheck("links found by mistake, deleting"+in, s.all[isDeleting]),
		neverMore("deletion makes nothing worse"+in, "deleting clears bits only, so each copy is one that there is without it",
			s.joined(isDeleting), s.joined(isKept)),
		less("deletion reduces false positives, same header"+in, "reduce false positives (Sec. I)",
			s.joined(isDeleting), s.joined(isKept), claimed),
		lab.Show("the largest trees with nine transmissions of ten needed"+in, s.largest(0.9)),
		lab.Show("deleting against plain in equal headers"+in, s.against(isDeleting, isPlain)),
	}
}

// largest tells for each contender up to which size its efficiency is at least that.
func (s *sweep) largest(efficiency float64) string {
	var parts []string
	for c := isPlain; c <= isDeletingChosen; c++ {
		links := 0
		for _, m := range s.all[c] {
			if m.efficiency.Mean < efficiency {
				break
			}
			links = m.links
		}
		parts = append(parts, fmt.Sprintf("%s: %d links", s.list[c].name, links))
	}
	return strings.Join(parts, "; ")
}

// against tells at which sizes the efficiency of one is above that of another.
func (s *sweep) against(one, other int) string {
	var parts []string
	for i, m := range s.all[one] {
		parts = append(parts, fmt.Sprintf("%d links: %s and %s", m.links, lab.Percent(m.efficiency.Mean), lab.Percent(s.all[other][i].efficiency.Mean)))
	}
	return strings.Join(parts, "; ")
}
