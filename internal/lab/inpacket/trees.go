package inpacket

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/internal/lab"
)

var trees = lab.Experiment{
	ID:       "inpacket/trees",
	Title:    "Delivery trees in packet headers",
	Question: "How many transmissions go astray and how many packets circle, with and without deleting links that were used, and which of several headers should be sent?",
	Says: "Sec. V: a 256-bit filter with the LIDs of a multicast delivery tree; \"being able to remove already processed LIDs enables (1) avoiding loops\". " +
		"Sec. I: a filter can be thinned out to avoid repeated matches and to reduce false positives. " +
		"Sec. V leaves open \"creating d DlBF candidates with different sets of hash functions and selecting the best in terms of fpr or guarantees that certain elements are deletable\".",
	Params: lab.Params{
		lab.Int("nodes", 1_000).Full(10_000), lab.Int("trials", 900).Full(500), lab.Int("bits", 256), lab.Int("hashes", 5), lab.Int("regions", 25),
		lab.Int("candidates", 16), lab.Int("limit", 1_000), lab.Ints("links", 12, 20, 24, 28).Full(4, 8, 12, 16, 20, 24, 28, 32, 36, 40),
	},
	Run: runTrees,
	Plots: []lab.View{
		byLinks("efficiency", "Transmissions that were needed", "plain", "plain, by mistakes", "deleting", "deleting, by set bits", "deleting, by mistakes"),
		byLinks("circles", "Packets that nothing but the TTL ended", "plain", "deleting", "deleting, by deletability", "plain, never back", "deleting, never back"),
	},
	Claims: []lab.Claim{
		{Name: "no receiver is missed", Printed: "no false negatives upon element deletion", Where: "Sec. I, R2", Of: lab.Of("missed"), Is: lab.Zero()},
		{Kind: lab.Own, Name: "no packet is worse off for deletion, same header", Printed: "deleting clears bits only, so each copy is one that there is without it", Of: lab.Of("worse off", headers, "deleting"), Is: lab.Zero()},
		{Name: "deletion reduces false positives, same header, 24 links and more", Printed: "reduce false positives", Where: "Sec. I", Of: lab.Of("mistakes avoided", headers, "deleting"), Is: lab.In(lab.Span{Dim: "links", From: 24}, lab.Above(lab.Number(0)))},
		{Name: "circles avoided, same header, 28 links", Printed: "avoiding loops", Where: "Sec. V", Of: lab.Of("circles avoided", headers, "deleting", "links", 28), Is: lab.Above(lab.Number(0))},
		{Name: "circles, against plain headers of the same size, 28 links", Printed: "avoiding loops", Where: "Sec. V", Of: lab.Of("circles", headers, "deleting", "links", 28), Is: lab.Below(lab.Of("circles", headers, "plain"))},
		{Name: "links of the tree used again, same header, 28 links", Printed: "avoid repeated matches upfront", Where: "Sec. I", Of: lab.Of("repetitions avoided", headers, "deleting", "links", 28), Is: lab.Above(lab.Number(0))},
		{Kind: lab.Question, Name: "circles that are left with deletion", Of: lab.Of("circles", headers, "deleting"), Is: lab.Shows()},
		{
			Kind: lab.Question, Name: "not sending back, against deleting, 28 links", Of: lab.Of("circles", headers, "plain, never back", "links", 28), Is: lab.Below(lab.Of("circles", headers, "deleting")),
			Printed: "does a simpler rule avoid more circles?", Show: []lab.Pick{lab.Of("circles", headers, "deleting, never back", "links", 28)},
		},
		bestOf16("the fewest set bits: links found by mistake", "mistakes", "deleting, by set bits"),
		bestOf16("the fewest mistakes: links found by mistake", "mistakes", "deleting, by mistakes"),
		bestOf16("the most deletable: links pinned", "pinned", "deleting, by deletability"),
		{Kind: lab.Question, Name: "efficiency with 28 links", Of: lab.Of("efficiency", "links", 28), Is: lab.Shows()},
		{Kind: lab.Question, Name: "circles with 28 links", Of: lab.Of("circles", "links", 28), Is: lab.Shows()},
	},
}

// bestOf16 is about what 16 candidates gain over one.
func bestOf16(name, metric, contender string) lab.Claim {
	return lab.Claim{
		Kind: lab.Question, Name: name + ", 16 candidates against one", Printed: "does selecting the best pay?", Where: "Sec. V",
		Of: lab.Of(metric, headers, contender, "links", 28), Is: lab.Below(lab.Of(metric, headers, "deleting")),
	}
}

func byLinks(metric, title string, only ...any) lab.View {
	return lab.View{Name: metric, Title: title, X: "links", By: headers, Only: only, XAxis: lab.Axis{Label: "links of the tree"}, Y: lab.Axis{Label: "share", Percent: true}, Curves: []lab.Curve{{Measured: metric}}}
}

// packet is what became of one; with deleting beside it what became of one with the same
// header from which nothing is deleted.
type packet struct {
	outcome
	links int
	kept  *outcome
}

// paired compares deleting with kept. Other contenders have no such figure.
func paired(name string, of func(p, kept *outcome) float64) lab.Metric[packet] {
	return lab.Metric[packet]{Name: name, Of: func(p packet) float64 {
		if p.kept == nil {
			return math.NaN()
		}
		return of(&p.outcome, p.kept)
	}}
}

// sendAll sends one packet of each contender over the same tree, with the same hashes.
func sendAll(g *graph, links int, list []contender, limit int, r *rand.Rand) ([]packet, error) {
	t, salt := g.randomTree(r, links), r.Uint64()
	in, beside := t.ids(g)
	out := make([]packet, len(list))
	for i, c := range list {
		h, err := c.choose(in, beside, salt)
		if err != nil {
			return nil, err
		}
		out[i] = packet{outcome: g.forward(h, t, c, limit), links: links}
		if c.name == "deleting" {
			out[i].kept = &out[i-1].outcome
		}
	}
	return out, nil
}

func runTrees(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list, network := contenders(e), hubs(e.Int("nodes"), 2, e.Rand(1))
	circles := func(o *outcome) float64 { return lab.OneIf(o.expired > 0) }
	return lab.Find(ctx, e, lab.Sweep[packet]{
		Name: "packets", Title: "Packets that find their way by the filter in their header", Dims: []lab.Dim{lab.Along("links", e.Ints("links")...)}, Trials: e.Int("trials"),
		Trace: lab.AmongAll(headers, list, contender.String),
		Follow: func(at lab.At, r *rand.Rand) ([]packet, error) {
			return sendAll(network, at.Int("links"), list, e.Int("limit"), r)
		},
		Metrics: []lab.Metric[packet]{
			{Name: "efficiency", Unit: lab.InPercent, Of: func(p packet) float64 { return p.efficiency() }},
			{Name: "circles", Unit: lab.InPercent, Of: func(p packet) float64 { return circles(&p.outcome) }, Asked: lab.Each(1)},
			{Name: "pinned", Unit: lab.InPercent, Of: func(p packet) float64 { return float64(p.pinned) / float64(p.links) }},
			{Name: "mistakes", Of: func(p packet) float64 { return float64(p.mistakes) }},
			{Name: "missed", Of: func(p packet) float64 { return float64(p.missed) }},
			paired("mistakes avoided", func(p, kept *outcome) float64 { return float64(kept.mistakes - p.mistakes) }),
			paired("repetitions avoided", func(p, kept *outcome) float64 { return float64(kept.repeated - p.repeated) }),
			paired("circles avoided", func(p, kept *outcome) float64 { return circles(kept) - circles(p) }),
			paired("worse off", func(p, kept *outcome) float64 { return lab.OneIf(p.worse(kept)) }),
		},
		Notes: []string{"Efficiency is the share of transmissions that were needed; of the others no more than 1,000 are counted for a packet. A packet circles if nothing but the TTL ended one of its copies."},
	})
}
