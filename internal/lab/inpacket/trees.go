package inpacket

import (
	"context"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// headers is the dimension of the contenders.
const headers = "headers"

var trees = lab.Experiment{
	ID:       "inpacket/trees",
	Paper:    paper,
	Title:    "Delivery trees in packet headers",
	Question: "How many transmissions go astray, by the size of the tree, with and without deleting links that were used, with and without a choice of hashes?",
	Says:     "Sec. V: \"A 256-bit source routing BF can be constructed by including the LIDs of a multicast delivery tree.\" Sec. I: a filter can be thinned out as elements are processed in order to reduce false positives.",
	Quick:    networkParams(1_000, 300, 1_000, lab.Ints("links", 8, 16, 24, 32)),
	Full:     networkParams(10_000, 500, 10_000, lab.Ints("links", 4, 8, 12, 16, 20, 24, 28, 32, 36, 40)),
	Run: func(ctx context.Context, e *lab.Env) (*lab.Result, error) {
		return runTrees(ctx, e, fourAndKept(e))
	},
	Plots: []lab.View{
		byHeaders("efficiency-hubs", "Transmissions that were needed, in a network with hubs", "efficiency", "hubs"), byHeaders("efficiency-ring", "Transmissions that were needed, in a ring with chords", "efficiency", "ring"),
	},
	Claims: []lab.Claim{
		noneMissed,
		{Kind: lab.Own, Name: "links found by mistake, plain", Printed: "fill^k of those asked for, copy by copy", Of: lab.Of("mistakes", headers, "plain"), Is: lab.Matches(lab.Of("mistakes by the fill"))},
		{Kind: lab.Own, Name: "links found by mistake, deleting", Printed: "fill^k of those asked for, copy by copy", Of: lab.Of("mistakes", headers, "deleting"), Is: lab.Matches(lab.Of("mistakes by the fill"))},
		{Kind: lab.Own, Name: "no packet is worse off for deletion, same header", Printed: "deleting clears bits only, so each copy is one that there is without it", Of: lab.Of("worse off", headers, "deleting"), Is: lab.Zero()},
		{Name: "deletion reduces false positives, same header, 24 links and more", Printed: "reduce false positives", Where: "Sec. I", Of: lab.Of("mistakes avoided", headers, "deleting"), Is: lab.In(lab.Span{Dim: "links", From: 24}, lab.Above(lab.Number(0)))},
		{Kind: lab.Question, Name: "efficiency with 24 links", Of: lab.Of("efficiency", "links", 24, network, "hubs"), Is: lab.Shows(), Show: []lab.Pick{lab.Of("efficiency", "links", 24, network, "ring")}},
	},
}

func fourAndKept(e *lab.Env) []contender {
	return []contender{plain(e), plain(e).chosen(e), kept(e), deleting(e), deleting(e).chosen(e)}
}

func runTrees(ctx context.Context, e *lab.Env, list []contender) (*lab.Result, error) {
	return sendSweep(ctx, e, []lab.Dim{lab.Along("links", e.Ints("links")...)}, lab.AmongAll(headers, list, func(c contender) string { return c.name }),
		func(at lab.At) int { return at.Int("links") }, func(lab.At) []contender { return list })
}

// byHeaders draws a share over the links of the trees.
func byHeaders(name, title, metric, net string, only ...any) lab.View {
	if len(only) == 0 {
		only = []any{"plain", "plain, chosen", "deleting", "deleting, chosen"}
	}
	return lab.View{
		Name: name, Title: title, X: "links", By: headers, Only: only, At: []any{network, net},
		XAxis: lab.Axis{Label: "links of the tree"}, Y: lab.Axis{Label: "share", Percent: true}, Curves: []lab.Curve{{Measured: metric}},
	}
}

var loops = lab.Experiment{
	ID:       "inpacket/loops",
	Paper:    paper,
	Title:    "Packets that go round in circles",
	Question: "How many packets come back to where they were, and how many would circle for ever, with and without deleting links that were used?",
	Says:     "Sec. V: \"Being able to remove already processed LIDs enables (1) avoiding loops\". Sec. I: thinned out \"in order to (i) avoid repeated matches upfront\".",
	Quick:    networkParams(1_000, 450, 1_000, lab.Ints("links", 12, 20, 28)),
	Full:     networkParams(10_000, 500, 10_000, lab.Ints("links", 4, 8, 12, 16, 20, 24, 28, 32, 36, 40)),
	Run:      runLoops,
	Plots: []lab.View{
		byHeaders("circles-hubs", "Packets that nothing but the TTL ended, in a network with hubs", "circles", "hubs", "plain", "plain, chosen", "deleting", "plain, never back", "deleting, never back"),
		byHeaders("circles-ring", "Packets that nothing but the TTL ended, in a ring with chords", "circles", "ring", "plain", "plain, chosen", "deleting", "plain, never back", "deleting, never back"),
		byHeaders("returns-ring", "Packets of which a copy came back to where it was, in a ring with chords", "came back", "ring"),
	},
	Claims: []lab.Claim{
		noneMissed,
		{Name: "circles avoided, same header, 28 links", Printed: "avoiding loops", Where: "Sec. V", Of: lab.Of("circles avoided", headers, "deleting", "links", 28), Is: lab.Above(lab.Number(0))},
		{Name: "circles, against plain headers of the same size, 28 links", Printed: "avoiding loops", Where: "Sec. V", Of: lab.Of("circles", headers, "deleting", "links", 28), Is: lab.Below(lab.Of("circles", headers, "plain"))},
		{Name: "links of the tree used again, same header, 28 links", Printed: "avoid repeated matches upfront", Where: "Sec. I", Of: lab.Of("repetitions avoided", headers, "deleting", "links", 28), Is: lab.Above(lab.Number(0))},
		{Kind: lab.Own, Name: "no packet is worse off for deletion, same header", Printed: "deleting clears bits only, so each copy is one that there is without it", Of: lab.Of("worse off", headers, "deleting"), Is: lab.Zero()},
		{Kind: lab.Question, Name: "circles that are left with deletion", Of: lab.Of("circles", headers, "deleting"), Is: lab.Shows()},
		{
			Kind: lab.Question, Name: "not sending back, against deleting, 28 links", Of: lab.Of("circles", headers, "plain, never back", "links", 28), Is: lab.Below(lab.Of("circles", headers, "deleting")),
			Printed: "does a simpler rule avoid more circles?", Show: []lab.Pick{lab.Of("circles", headers, "deleting, never back", "links", 28)},
		},
	},
}

func runLoops(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	result, err := runTrees(ctx, e, append(fourAndKept(e), plain(e).onward(), deleting(e).onward()))
	if err != nil {
		return nil, err
	}
	result.Notes = []string{
		"Without deletion nothing ever changes in a header that circles: it would go on for ever. With it a circle goes on if none of its links can be deleted.",
		"Never back: nodes do not ask for the link to where a copy came from, so that a circle has at least three links.",
		"A tree of shortest ways has at most half of the links of a circle: each leads one step away from the source, and as many others must lead back. So a circle of two links takes one mistake, all others take two or more.",
	}
	return result, nil
}
