package inpacket

import (
	"context"
	"fmt"
	"strings"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/inpacket/forward"
)

var loops = lab.Experiment{
	ID:       "inpacket/loops",
	Paper:    "[DlBF10]",
	Title:    "Packets that go round in circles",
	Question: "How many packets come back to where they were, and how many would circle for ever, with and without deleting links that were used?",
	Says:     "Sec. V: \"Being able to remove already processed LIDs enables (1) avoiding loops\". Sec. I: thinned out \"in order to (i) avoid repeated matches upfront\".",
	Quick:    networkParams(1_000, 250, 1_000, lab.Ints("links", 12, 20, 28)),
	Full:     networkParams(10_000, 500, 10_000, lab.Ints("links", 4, 8, 12, 16, 20, 24, 28, 32, 36, 40)),
	Run:      runLoops,
}

// The further contenders of loops, by number.
const (
	isPlainOnward = isKept + 1 + iota
	isDeletingOnward
)

func runLoops(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list := append(fourAndKept(e), plain(e).onward(), deleting(e).onward())
	sweeps, err := runSweeps(ctx, e, list)
	if err != nil {
		return nil, err
	}
	r := &lab.Result{Checks: []lab.Check{missedCheck(everything(sweeps))}, Notes: []string{
		"A packet came back if one of its copies arrived at a node where that copy had been. It circles if nothing but the TTL ended one of its copies: without deletion nothing ever changes, and it would go on for ever.",
		"Never back: nodes do not ask for the link to where a copy came from, so that a circle has at least three links.",
		"A tree of shortest ways has at most half of the links of a circle: each leads one step away from the source, and as many others must lead back. So a circle of two links takes one mistake, all others take two or more.",
	}}
	for _, s := range sweeps {
		r.Plots = append(r.Plots,
			s.sharePlot("circles", "Packets that nothing but the TTL ended, in ", []int{isPlain, isPlainChosen, isDeleting, isDeletingChosen, isPlainOnward, isDeletingOnward},
				func(m measure) int { return m.endless }),
			s.sharePlot("returns", "Packets of which a copy came back to where it was, in ", []int{isPlain, isPlainChosen, isDeleting, isDeletingChosen},
				func(m measure) int { return m.looped }))
		r.Tables = append(r.Tables, s.loopTable())
		r.Checks = append(r.Checks, s.loopChecks()...)
	}
	return r, nil
}

func (s *sweep) sharePlot(name, title string, contenders []int, count func(measure) int) lab.Plot {
	p := lab.Plot{
		Name: name + "-" + s.net.name, Title: title + s.net.words,
		X: lab.Axis{Label: "links of the tree"}, Y: lab.Axis{Label: "share of packets", Percent: true},
	}
	for _, c := range contenders {
		p.Series = append(p.Series, s.line(c, func(m measure) lab.Point { return lab.Share(float64(m.links), count(m), m.packets) }))
	}
	return p
}

func (s *sweep) loopTable() lab.Table {
	t := lab.Table{
		Name: "loops-" + s.net.name, Title: "Packets in " + s.net.words,
		Columns: []string{"links", "headers", "came back", "circled", "in storms", "transmissions not needed"},
	}
	for i := range s.all[0] {
		for _, list := range s.all {
			m := list[i]
			t.Add(m.links, m.contender, m.share(m.looped), m.share(m.endless), m.share(m.storms), m.unneeded)
		}
	}
	return t
}

func (s *sweep) loopChecks() []lab.Check {
	in := ", " + s.net.name
	circles := func(o forward.Outcome) float64 { return float64(oneIf(o.Expired > 0)) }
	repeated := func(o forward.Outcome) float64 { return float64(o.Repeated) }
	circling, packets := s.circling(isDeleting)
	once, _ := s.circling(isPlain)
	onward, _ := s.circling(isPlainOnward)
	both, _ := s.circling(isDeletingOnward)
	return []lab.Check{
		less("circles, same header"+in, "avoiding loops (Sec. V)", s.joined(isDeleting), s.joined(isKept), circles),
		less("circles, plain headers of the same size"+in, "avoiding loops (Sec. V)", s.joined(isDeleting), s.joined(isPlain), circles),
		less("links of the tree used again, same header"+in, "avoid repeated matches upfront (Sec. I)", s.joined(isDeleting), s.joined(isKept), repeated),
		neverMore("deletion makes nothing worse"+in, "deleting clears bits only, so each copy is one that there is without it", s.joined(isDeleting), s.joined(isKept)),
		lab.Holds("circles, at any size"+in, "avoiding loops (Sec. V), taken literally: none is left",
			fmt.Sprintf("%d of %d packets circle", circling, packets), circling == 0, "no packet of any size of tree").
			Because("a circle goes on if none of its links can be deleted. In small trees hardly a link is pinned; with 24 links in 256 bits a quarter of them is, with 32 more than half"),
		lab.Show("the largest trees with at most one packet in a hundred that circles"+in, s.fewCircles()),
		lab.Show("packets that came back, plain and deleting"+in, s.comeback(isPlain, isDeleting)),
		lab.Show("the same, never sent back at once"+in, s.comeback(isPlainOnward, isDeletingOnward)),
		lab.Show("not sending back, against deleting"+in, fmt.Sprintf("of %d packets of all sizes %d circle in plain headers, %d with deletion, %d if nodes never send back, %d with both", packets, once, circling, onward, both)),
	}
}

// circling counts the packets of a contender that circle, of those of all sizes.
func (s *sweep) circling(contender int) (circling, packets int) {
	for _, m := range s.all[contender] {
		circling += m.endless
		packets += m.packets
	}
	return circling, packets
}

// fewCircles tells for each contender up to which size at most 1 % of packets circle.
func (s *sweep) fewCircles() string {
	var parts []string
	for c := isPlain; c <= isDeletingChosen; c++ {
		links := 0
		for _, m := range s.all[c] {
			if 100*m.endless > m.packets {
				break
			}
			links = m.links
		}
		parts = append(parts, fmt.Sprintf("%s: %d links", s.list[c].name, links))
	}
	return strings.Join(parts, "; ")
}

// comeback compares two contenders, size by size.
func (s *sweep) comeback(one, other int) string {
	var parts []string
	for i, m := range s.all[one] {
		o := s.all[other][i]
		parts = append(parts, fmt.Sprintf("%d links: %s and %s", m.links, m.share(m.looped), o.share(o.looped)))
	}
	return strings.Join(parts, "; ")
}
