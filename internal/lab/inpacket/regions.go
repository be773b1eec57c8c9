package inpacket

import (
	"context"

	"github.com/everbloom-go/everbloom/internal/lab"
)

var regions = lab.Experiment{
	ID:       "inpacket/regions",
	Paper:    paper,
	Title:    "How many bits of a header for the marks",
	Question: "What do marks cost and gain when headers are thinned out on their way?",
	Says:     "Sec. III: \"a key design issue is choosing the value r\". Sec. IV takes a tenth of the bits as its example. Sec. I: a filter can be thinned out as elements are processed.",
	Quick:    networkParams(1_000, 800, 1_000, lab.Int("links", 20), lab.Ints("marks", 1, 12, 25, 50, 100)),
	Full:     networkParams(10_000, 10_000, 10_000, lab.Int("links", 20), lab.Ints("marks", 1, 4, 8, 12, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128)),
	Run:      runRegions,
	Plots:    []lab.View{byMarks("hubs", "a network with hubs"), byMarks("ring", "a ring with chords")},
	Claims: []lab.Claim{
		noneMissed,
		{Kind: lab.Own, Name: "links found by mistake", Printed: "fill^k of those asked for, copy by copy", Of: lab.Of("mistakes"), Is: lab.Matches(lab.Of("mistakes by the fill"))},
		{Name: "links pinned", Printed: "increasing r results in a larger portion of deletable elements", Where: "Sec. III-A", Of: lab.Of("pinned"), Is: lab.Falls("marks")},
		{Kind: lab.Question, Name: "circles, a tenth of the bits for marks against one bit", Printed: "is a bitmap of a tenth worth its bits?", Of: lab.Of("circles", "marks", 25), Is: lab.Below(lab.Of("circles", "marks", 1))},
		{Kind: lab.Question, Name: "efficiency by the number of marks, hubs", Of: lab.Of("efficiency", network, "hubs"), Is: lab.Shows()},
		{Kind: lab.Question, Name: "efficiency by the number of marks, ring", Of: lab.Of("efficiency", network, "ring"), Is: lab.Shows()},
	},
}

func runRegions(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	var list []contender
	for _, marks := range e.Ints("marks") {
		c := deleting(e)
		c.config.Regions = marks
		list = append(list, c)
	}
	return sendSweep(ctx, e, nil, lab.Along("marks", e.Ints("marks")...), func(lab.At) int { return e.Int("links") }, func(lab.At) []contender { return list })
}

func byMarks(net, words string) lab.View {
	return lab.View{
		Name: "marks-" + net, Title: "Headers of 256 bits with so many marks, in " + words, X: "marks", At: []any{network, net}, Y: lab.Axis{Label: "share", Percent: true, Max: 1.02},
		Curves: []lab.Curve{{Name: "transmissions needed", Measured: "efficiency"}, {Name: "packets that circle", Measured: "circles"}, {Name: "links pinned", Measured: "pinned"}},
	}
}

var goals = lab.Experiment{
	ID:       "inpacket/goals",
	Paper:    paper,
	Title:    "What to choose the hashes of a header by",
	Question: "Of several headers for one tree, which should be sent, and from how many?",
	Says:     "Sec. V leaves it open: \"creating d DlBF candidates with different sets of hash functions and selecting the best in terms of fpr or guarantees that certain elements are deletable\".",
	Quick:    goalParams(1_000, 200, 1_000, 1, 4, 16),
	Full:     goalParams(10_000, 1_000, 10_000, 1, 2, 4, 8, 16, 32, 64, 128, 256),
	Run:      runGoals,
	Plots: []lab.View{
		byGoals("efficiency-hubs", "Transmissions that were needed, in a network with hubs", "efficiency", "hubs"), byGoals("efficiency-ring", "Transmissions that were needed, in a ring with chords", "efficiency", "ring"),
		byGoals("circles-hubs", "Packets that nothing but the TTL ended, in a network with hubs", "circles", "hubs"), byGoals("circles-ring", "Packets that nothing but the TTL ended, in a ring with chords", "circles", "ring"),
	},
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

// chosenBy is the dimension of the goals.
const chosenBy = "chosen by"

// choiceOf is about what 16 candidates gain over one.
func choiceOf(name, metric, goal string) lab.Claim {
	return lab.Claim{
		Kind: lab.Question, Name: name + ", 16 candidates against one", Printed: "does selecting the best pay?", Where: "Sec. V",
		Of: lab.Of(metric, chosenBy, goal, "choices", 16), Is: lab.Below(lab.Of(metric, "choices", 1)),
	}
}

func goalParams(nodes, trials, limit int, candidates ...int) lab.Params {
	return networkParams(nodes, trials, limit, lab.Int("links", 28), lab.Ints("choices", candidates...))
}

func runGoals(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	fill, strangers, own, both := deleting(e), deleting(e), deleting(e), deleting(e)
	strangers.goal, own.goal, both.goal = fewestFalse, mostDeletable, bothGoals
	result, err := sendSweep(ctx, e, []lab.Dim{lab.Along("choices", e.Ints("choices")...)}, lab.Among(chosenBy, "fewest set bits", "fewest mistakes", "most deletable", "both"),
		func(lab.At) int { return e.Int("links") },
		func(at lab.At) []contender {
			list := []contender{fill, strangers, own, both}
			for i := range list {
				list[i].config.Candidates = at.Int("choices")
			}
			return list
		})
	if err != nil {
		return nil, err
	}
	result.Notes = []string{
		"All headers delete, and the number of the candidate is part of the 256 bits.",
		"Fewest mistakes: on the links that lead out of the tree. Most deletable: of the tree's links. Both: as many as possible of either, counted together.",
	}
	return result, nil
}

func byGoals(name, title, metric, net string) lab.View {
	return lab.View{
		Name: name, Title: title, X: "choices", By: chosenBy, At: []any{network, net}, XAxis: lab.Axis{Label: "candidates", Log: true}, Y: lab.Axis{Label: "share", Percent: true}, Curves: []lab.Curve{{Measured: metric}},
	}
}
