package inpacket

import (
	"context"
	"slices"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// headers is the dimension of the contenders.
const headers = "headers"

var trees = lab.Experiment{
	ID:       "inpacket/trees",
	Paper:    paper,
	Title:    "Delivery trees in packet headers",
	Question: "How many transmissions go astray and how many packets circle, with and without deleting links that were used, with and without a choice of hashes?",
	Says: "Sec. V: a 256-bit filter with the LIDs of a multicast delivery tree; \"being able to remove already processed LIDs enables (1) avoiding loops\". " +
		"Sec. I: a filter can be thinned out to avoid repeated matches and to reduce false positives.",
	Quick: networkParams(1_000, 900, 1_000, lab.Ints("links", 12, 20, 24, 28)),
	Full:  networkParams(10_000, 500, 10_000, lab.Ints("links", 4, 8, 12, 16, 20, 24, 28, 32, 36, 40)),
	Run:   runTrees,
	Plots: slices.Concat(
		byNetwork("efficiency", "Transmissions that were needed", "efficiency", lab.View{X: "links", By: headers, Only: []any{"plain", "plain, chosen", "deleting", "deleting, chosen"}, XAxis: lab.Axis{Label: "links of the tree"}}),
		byNetwork("circles", "Packets that nothing but the TTL ended", "circles", lab.View{X: "links", By: headers, Only: []any{"plain", "plain, chosen", "deleting", "plain, never back", "deleting, never back"}, XAxis: lab.Axis{Label: "links of the tree"}}),
	),
	Claims: []lab.Claim{
		noneMissed,
		{Kind: lab.Own, Name: "links found by mistake, plain", Printed: "fill^k of those asked for, copy by copy", Of: lab.Of("mistakes", headers, "plain"), Is: lab.Matches(lab.Of("mistakes by the fill"))},
		{Kind: lab.Own, Name: "links found by mistake, deleting", Printed: "fill^k of those asked for, copy by copy", Of: lab.Of("mistakes", headers, "deleting"), Is: lab.Matches(lab.Of("mistakes by the fill"))},
		{Kind: lab.Own, Name: "no packet is worse off for deletion, same header", Printed: "deleting clears bits only, so each copy is one that there is without it", Of: lab.Of("worse off", headers, "deleting"), Is: lab.Zero()},
		{Name: "deletion reduces false positives, same header, 24 links and more", Printed: "reduce false positives", Where: "Sec. I", Of: lab.Of("mistakes avoided", headers, "deleting"), Is: lab.In(lab.Span{Dim: "links", From: 24}, lab.Above(lab.Number(0)))},
		{Kind: lab.Question, Name: "efficiency with 24 links", Of: lab.Of("efficiency", "links", 24, network, "hubs"), Is: lab.Shows(), Show: []lab.Pick{lab.Of("efficiency", "links", 24, network, "ring")}},
		{Name: "circles avoided, same header, 28 links", Printed: "avoiding loops", Where: "Sec. V", Of: lab.Of("circles avoided", headers, "deleting", "links", 28), Is: lab.Above(lab.Number(0))},
		{Name: "circles, against plain headers of the same size, 28 links", Printed: "avoiding loops", Where: "Sec. V", Of: lab.Of("circles", headers, "deleting", "links", 28), Is: lab.Below(lab.Of("circles", headers, "plain"))},
		{Name: "links of the tree used again, same header, 28 links", Printed: "avoid repeated matches upfront", Where: "Sec. I", Of: lab.Of("repetitions avoided", headers, "deleting", "links", 28), Is: lab.Above(lab.Number(0))},
		{Kind: lab.Question, Name: "circles that are left with deletion", Of: lab.Of("circles", headers, "deleting"), Is: lab.Shows()},
		{
			Kind: lab.Question, Name: "not sending back, against deleting, 28 links", Of: lab.Of("circles", headers, "plain, never back", "links", 28), Is: lab.Below(lab.Of("circles", headers, "deleting")),
			Printed: "does a simpler rule avoid more circles?", Show: []lab.Pick{lab.Of("circles", headers, "deleting, never back", "links", 28)},
		},
	},
}

// contenders are those of the package comment.
func contenders(e *lab.Env) []contender {
	marks, candidates := e.Int("regions"), e.Int("candidates")
	keep := rules{limit: e.Int("limit")}
	remove, onward, both := keep, keep, keep
	remove.remove, onward.neverBack, both.remove, both.neverBack = true, true, true, true
	return []contender{
		{"plain", headerFormat(e, 1, 1), keep, fewestSet},
		{"plain, chosen", headerFormat(e, 1, candidates), keep, fewestFalse},
		{"kept", headerFormat(e, marks, 1), keep, fewestSet},
		{"deleting", headerFormat(e, marks, 1), remove, fewestSet},
		{"deleting, chosen", headerFormat(e, marks, candidates), remove, fewestFalse},
		{"plain, never back", headerFormat(e, 1, 1), onward, fewestSet},
		{"deleting, never back", headerFormat(e, marks, 1), both, fewestSet},
	}
}

func runTrees(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list := contenders(e)
	return sendSweep(ctx, e, lab.Along("links", e.Ints("links")...), lab.AmongAll(headers, list, func(c contender) string { return c.name }),
		func(at lab.At) int { return at.Int("links") }, func(lab.At) []contender { return list })
}

// chosenBy is the dimension of the goals.
const chosenBy = "chosen by"

var goals = lab.Experiment{
	ID:       "inpacket/goals",
	Paper:    paper,
	Title:    "What to choose the hashes of a header by",
	Question: "Of several headers for one tree, which should be sent, and from how many?",
	Says:     "Sec. V leaves it open: \"creating d DlBF candidates with different sets of hash functions and selecting the best in terms of fpr or guarantees that certain elements are deletable\".",
	Quick:    networkParams(1_000, 200, 1_000, lab.Int("links", 28), lab.Ints("choices", 1, 4, 16)),
	Full:     networkParams(10_000, 1_000, 10_000, lab.Int("links", 28), lab.Ints("choices", 1, 2, 4, 8, 16, 32, 64, 128, 256)),
	Run:      runGoals,
	Plots: slices.Concat(
		byNetwork("efficiency", "Transmissions that were needed", "efficiency", lab.View{X: "choices", By: chosenBy, XAxis: lab.Axis{Label: "candidates", Log: true}}),
		byNetwork("circles", "Packets that nothing but the TTL ended", "circles", lab.View{X: "choices", By: chosenBy, XAxis: lab.Axis{Label: "candidates", Log: true}}),
	),
	Claims: []lab.Claim{
		noneMissed,
		{Kind: lab.Own, Name: "links found by mistake, by the fill", Printed: "fill^k of those asked for, copy by copy", Of: lab.Of("mistakes", chosenBy, "fewest set bits"), Is: lab.Matches(lab.Of("mistakes by the fill"))},
		choiceOf("the fewest set bits: links expected to be found by mistake", "mistakes by the fill", "fewest set bits"),
		choiceOf("the fewest mistakes: links found by mistake", "mistakes", "fewest mistakes"),
		choiceOf("the most deletable: links pinned", "pinned", "most deletable"),
		{Kind: lab.Question, Name: "efficiency of 16 candidates", Of: lab.Of("efficiency", "choices", 16), Is: lab.Shows(), Show: []lab.Pick{lab.Of("efficiency", "choices", 1, chosenBy, "both")}},
		{Kind: lab.Question, Name: "circles of 16 candidates", Of: lab.Of("circles", "choices", 16), Is: lab.Shows(), Show: []lab.Pick{lab.Of("circles", "choices", 1, chosenBy, "both")}},
	},
}

// choiceOf is about what 16 candidates gain over one.
func choiceOf(name, metric, goal string) lab.Claim {
	return lab.Claim{
		Kind: lab.Question, Name: name + ", 16 candidates against one", Printed: "does selecting the best pay?", Where: "Sec. V",
		Of: lab.Of(metric, chosenBy, goal, "choices", 16), Is: lab.Below(lab.Of(metric, "choices", 1)),
	}
}

func runGoals(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list := []contender{{name: "fewest set bits", goal: fewestSet}, {name: "fewest mistakes", goal: fewestFalse}, {name: "most deletable", goal: mostDeletable}, {name: "both", goal: bothGoals}}
	return sendSweep(ctx, e, lab.Along("choices", e.Ints("choices")...), lab.AmongAll(chosenBy, list, func(c contender) string { return c.name }),
		func(lab.At) int { return e.Int("links") },
		func(at lab.At) []contender {
			now := slices.Clone(list)
			for i := range now {
				now[i].format, now[i].rules = headerFormat(e, e.Int("regions"), at.Int("choices")), rules{remove: true, limit: e.Int("limit")}
			}
			return now
		})
}
