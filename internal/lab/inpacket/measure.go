package inpacket

import (
	"fmt"
	"slices"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/inpacket/forward"
)

// measure is what the packets of one contender say.
type measure struct {
	contender string
	links     int // of the trees
	packets   int

	efficiency lab.Estimate
	unneeded   lab.Estimate // transmissions per packet
	extra      lab.Estimate // nodes per packet
	pinned     lab.Estimate // share of the tree's links

	missed  int // receivers
	looped  int // packets of which a copy came back
	endless int // packets of which the TTL ended a copy
	storms  int // packets that reached the limit

	claimed  []float64 // links beside the tree, by packet
	expected []float64
	asked    int
}

func measured(c contender, links int, outs []forward.Outcome) measure {
	m := measure{contender: c.name, links: links, packets: len(outs)}
	m.efficiency = lab.Figure(outs, func(o forward.Outcome) float64 { return o.Efficiency() })
	m.unneeded = lab.Figure(outs, func(o forward.Outcome) float64 { return float64(o.Stray + o.Repeated) })
	m.extra = lab.Figure(outs, func(o forward.Outcome) float64 { return float64(o.Extra) })
	m.pinned = lab.Figure(outs, func(o forward.Outcome) float64 { return float64(o.Pinned) / float64(links) })
	for _, o := range outs {
		m.missed += o.Missed
		m.looped += oneIf(o.Looped())
		m.endless += oneIf(o.Expired > 0)
		m.storms += oneIf(o.Storm)
		m.asked += o.Asked
		m.claimed = append(m.claimed, float64(o.Claimed))
		m.expected = append(m.expected, o.Expected)
	}
	return m
}

// share writes a part of the packets.
func (m measure) share(n int) string {
	return lab.Digits(100*float64(n)/float64(m.packets), 3) + " %"
}

// claimRate is the share of links beside the tree that were found by mistake.
func (m measure) claimRate() float64 {
	return lab.Mean(m.claimed).Mean * float64(m.packets) / float64(m.asked)
}

// expectedCheck compares what was found by mistake with what the fill predicts,
// packet by packet. No packet is in two measures: see together.
func expectedCheck(name string, list []measure) lab.Check {
	var claimed, expected, difference []float64
	for _, m := range list {
		for i := range m.claimed {
			claimed, expected = append(claimed, m.claimed[i]), append(expected, m.expected[i])
			difference = append(difference, m.claimed[i]-m.expected[i])
		}
	}
	ours := lab.Mean(claimed)
	// The hashes of every packet are new, so that the differences are independent;
	// their spread is smaller than that of the counts, which grow with the tree.
	ours.Deviation = lab.Mean(difference).Deviation
	return lab.Predicted(name, "sum of fill^k over the links asked for, per packet", lab.Mean(expected).Mean, ours)
}

// together adds up what contenders met with the same packets. They have the same trees
// and hashes, so that their mistakes are not independent; the sums are.
func together(list []measure) []measure {
	sum := measure{claimed: slices.Clone(list[0].claimed), expected: slices.Clone(list[0].expected)}
	for _, m := range list[1:] {
		for i := range m.claimed {
			sum.claimed[i] += m.claimed[i]
			sum.expected[i] += m.expected[i]
		}
	}
	return []measure{sum}
}

// missedCheck is the promise of the filter, [DlBF10] R2.
func missedCheck(list []measure) lab.Check {
	missed, packets := 0, 0
	for _, m := range list {
		missed += m.missed
		packets += m.packets
	}
	return lab.Holds("receivers missed", "no false negatives upon element deletion (Sec. I, R2)",
		fmt.Sprintf("%d, with %d packets", missed, packets), missed == 0, "all receivers of all packets")
}

// less checks that a figure is lower in the one than in the other, over the same
// packets.
func less[T any](name, claim string, lower, upper []T, figure func(T) float64) lab.Check {
	difference := make([]float64, len(lower))
	for i := range lower {
		difference[i] = figure(upper[i]) - figure(lower[i])
	}
	d := lab.Mean(difference)
	return lab.Holds(name, claim,
		fmt.Sprintf("%s in place of %s per packet", lab.Figure(lower, figure), lab.Figure(upper, figure)), d.Mean > 0 && d.Mean > d.Reach(lab.Sigmas),
		fmt.Sprintf("lower by more than %d standard errors, by Student's t, of the differences, packet by packet", lab.Sigmas))
}

// neverMore checks that no packet of the one is worse off than with the other. Where
// the limit has cut the other off nothing can be said about it.
func neverMore(name, claim string, lower, upper []forward.Outcome) lab.Check {
	worse := 0
	for i, o := range lower {
		u := upper[i]
		worse += oneIf(o.Transmissions > u.Transmissions || o.Storm && !u.Storm ||
			!u.Storm && (o.Returned > u.Returned || o.Expired > u.Expired || o.Extra > u.Extra))
	}
	return lab.Holds(name, claim, fmt.Sprintf("worse for %d of %d packets", worse, len(lower)), worse == 0,
		"transmissions, extra nodes, returns and circles of every packet")
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// rateOf is the formula for the share of links beside a tree that are found by mistake
// before anything is deleted, [DlBF10] Eq. (2).
func rateOf(c contender, links int) float64 {
	s, err := c.config.Shape()
	if err != nil {
		return 0 // the race has refused it already
	}
	return s.FPR(uint64(links))
}
