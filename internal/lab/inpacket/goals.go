package inpacket

import (
	"context"
	"fmt"
	"slices"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/inpacket/forward"
)

var goals = lab.Experiment{
	ID:       "inpacket/goals",
	Paper:    "[DlBF10]",
	Title:    "What to choose the hashes of a header by",
	Question: "Of several headers for one tree, which should be sent, and from how many?",
	Says:     "Sec. V leaves it open: \"creating d DlBF candidates with different sets of hash functions and selecting the best in terms of fpr or guarantees that certain elements are deletable\".",
	Quick:    goalParams(1_000, 200, 1_000, 1, 4, 16),
	Full:     goalParams(10_000, 1_000, 10_000, 1, 2, 4, 8, 16, 32, 64, 128, 256),
	Run:      runGoals,
}

func goalParams(nodes, trials, limit int, candidates ...int) lab.Params {
	return networkParams(nodes, trials, limit, lab.Int("links", 28), lab.Ints("choices", candidates...))
}

// goalKinds are what candidates are chosen by. Every contender deletes.
func goalKinds(e *lab.Env) []contender {
	fill, strangers, own, both := deleting(e), deleting(e), deleting(e), deleting(e)
	fill.name = "fewest set bits"
	strangers.name, strangers.goal = "fewest mistakes", fewestFalse
	own.name, own.goal = "most deletable", mostDeletable
	both.name, both.goal = "both", bothGoals
	return []contender{fill, strangers, own, both}
}

// The goals, by number.
const (
	byFill = iota
	byMistakes
	byDeletable
	byBoth
	goalCount
)

func runGoals(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	nets, err := networks(e)
	if err != nil {
		return nil, err
	}
	result := &lab.Result{Notes: []string{
		fmt.Sprintf("Trees of %d links; all headers delete, and the number of the candidate is part of the 256 bits.", e.Int("links")),
		"Fewest mistakes: on the links that lead out of the tree. Most deletable: of the tree's links. Both: as many as possible of either, counted together.",
	}}
	var list []contender // goal by goal, and in each by the number of candidates
	for _, c := range goalKinds(e) {
		for _, c.config.Candidates = range e.Ints("choices") {
			list = append(list, c)
		}
	}
	var missed []measure
	for i, net := range nets {
		e.Progress(i, len(nets))
		outs, err := race(ctx, e, net.graph, e.Int("links"), list)
		if err != nil {
			return nil, err
		}
		g := newGoalRace(net, e.Int("links"), e.Ints("choices"), list, outs)
		result.Plots = append(result.Plots, g.plots()...)
		result.Tables = append(result.Tables, g.table())
		result.Checks = append(result.Checks, g.checks()...)
		missed = append(missed, slices.Concat(g.found...)...)
	}
	result.Checks = append([]lab.Check{missedCheck(missed)}, result.Checks...)
	return result, nil
}

// goalRace is what was found in one network, by goal and then by the number of
// candidates.
type goalRace struct {
	net     network
	choices []int
	outs    [][][]forward.Outcome
	found   [][]measure
}

func newGoalRace(net network, links int, choices []int, list []contender, outs [][]forward.Outcome) *goalRace {
	g := &goalRace{net: net, choices: choices}
	g.outs = slices.Collect(slices.Chunk(outs, len(choices)))
	for i, c := range list {
		if i%len(choices) == 0 {
			g.found = append(g.found, nil)
		}
		last := &g.found[len(g.found)-1]
		*last = append(*last, measured(c, links, outs[i]))
	}
	return g
}

func (g *goalRace) plots() []lab.Plot {
	x := lab.Axis{Label: "candidates", Log: true}
	plots := []lab.Plot{
		{Name: "efficiency-" + g.net.name, Title: "Transmissions that were needed, in " + g.net.words, X: x, Y: lab.Axis{Label: "share of all transmissions", Percent: true}},
		{Name: "circles-" + g.net.name, Title: "Packets that nothing but the TTL ended, in " + g.net.words, X: x, Y: lab.Axis{Label: "share of packets", Percent: true}},
	}
	for _, list := range g.found {
		efficiency := lab.Series{Name: list[0].contender, Style: lab.LinePoints}
		circles := efficiency
		for j, m := range list {
			efficiency.Points = append(efficiency.Points, m.efficiency.At(float64(g.choices[j])))
			circles.Points = append(circles.Points, lab.Share(float64(g.choices[j]), m.endless, m.packets))
		}
		plots[0].Series = append(plots[0].Series, efficiency)
		plots[1].Series = append(plots[1].Series, circles)
	}
	return plots
}

func (g *goalRace) table() lab.Table {
	t := lab.Table{
		Name: "goals-" + g.net.name, Title: "Headers chosen, in " + g.net.words,
		Columns: []string{"candidates", "chosen by", "efficiency", "links beside the tree found", "links pinned", "came back", "circled"},
	}
	for j, d := range g.choices {
		for _, list := range g.found {
			m := list[j]
			t.Add(d, m.contender, m.efficiency, lab.Percent(m.claimRate()), lab.Percent(m.pinned.Mean), m.share(m.looped), m.share(m.endless))
		}
	}
	return t
}

// checks compares one candidate with as many as there were, goal by goal.
func (g *goalRace) checks() []lab.Check {
	in := ", " + g.net.name
	last := len(g.choices) - 1
	claimed := func(o forward.Outcome) float64 { return float64(o.Claimed) }
	expected := func(o forward.Outcome) float64 { return o.Expected }
	pinned := func(o forward.Outcome) float64 { return float64(o.Pinned) }
	gain := func(name string, goal int, figure func(forward.Outcome) float64) lab.Check {
		return less(fmt.Sprintf("%s, %d candidates against one%s", name, g.choices[last], in),
			"selecting the best in terms of fpr or guarantees that certain elements are deletable (Sec. V)",
			g.outs[goal][last], g.outs[goal][0], figure)
	}
	checks := []lab.Check{
		expectedCheck("links found by mistake, by the fill, all numbers of candidates together"+in, together(g.found[byFill])),
		gain("links expected to be found by mistake, by the fill", byFill, expected),
		gain("links found by mistake, by mistakes", byMistakes, claimed),
		gain("links pinned, by what can be deleted", byDeletable, pinned),
		lab.Show("the other side of it"+in, fmt.Sprintf("by the fill %s of the links are pinned with one candidate, %s with %d",
			lab.Percent(g.found[byFill][0].pinned.Mean), lab.Percent(g.found[byFill][last].pinned.Mean), g.choices[last])),
	}
	for goal := range goalCount {
		m := g.found[goal][last]
		checks = append(checks, lab.Show(m.contender+in, fmt.Sprintf("efficiency %s with one candidate, %s with %d; packets that circle %s and %s",
			g.found[goal][0].efficiency, m.efficiency, g.choices[last], g.found[goal][0].share(g.found[goal][0].endless), m.share(m.endless))))
	}
	return checks
}
