package inpacket

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
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
		{Name: "the networks of LIPSIN", Printed: "in LIPSIN the inserted elements are unidirectional link identifiers", Where: "Sec. V", Is: lab.NotMeasured("its networks, and its tables of several identifiers for a link, are not printed here: networks are made up")},
		{Name: "virtual links and control messages", Printed: "deleting special LIDs like multi-hop virtual links or control messages", Where: "Sec. V", Is: lab.NotMeasured("such an identifier is deleted like any other, and what they would be is not printed")},
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

// figures are those of a packet with so many links. Beside deleting there is one with the
// same header from which nothing is deleted.
func (o *outcome) figures(links int, kept *outcome) lab.Figures {
	f := lab.Figures{
		"efficiency": o.efficiency(), "circles": lab.OneIf(o.expired > 0), "pinned": float64(o.pinned) / float64(links),
		"mistakes": float64(o.mistakes), "missed": float64(o.missed),
	}
	if kept != nil {
		f["mistakes avoided"], f["repetitions avoided"] = float64(kept.mistakes-o.mistakes), float64(kept.repeated-o.repeated)
		f["circles avoided"], f["worse off"] = lab.OneIf(kept.expired > 0)-f["circles"], lab.OneIf(o.worse(kept))
	}
	return f
}

// sendAll sends one packet of each contender over the same tree, with the same hashes.
func sendAll(g *graph, links int, list []contender, limit int, r *rand.Rand) ([]outcome, error) {
	t, salt := g.randomTree(r, links), r.Uint64()
	in, beside := t.ids(g)
	out := make([]outcome, len(list))
	for i, c := range list {
		h, err := c.choose(in, beside, salt)
		if err != nil {
			return nil, err
		}
		out[i] = g.forward(h, t, c, limit)
	}
	return out, nil
}

func runTrees(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list, network := contenders(e), hubs(e.Int("nodes"), 2, e.Rand(1))
	return lab.Find(ctx, e, lab.Sweep{
		Name: "packets", Title: "Packets that find their way by the filter in their header", Dims: []lab.Dim{lab.Along("links", e.Ints("links")...)}, Trials: e.Int("trials"),
		Trace: lab.AmongAll(headers, list, contender.String),
		Follow: func(at lab.At, r *rand.Rand) (found []lab.Figures, err error) {
			packets, err := sendAll(network, at.Int("links"), list, e.Int("limit"), r)
			for i := range packets {
				var kept *outcome
				if list[i].name == "deleting" {
					kept = &packets[i-1]
				}
				found = append(found, packets[i].figures(at.Int("links"), kept))
			}
			return found, err
		},
		Metrics: []lab.Metric{
			{Name: "efficiency", Unit: lab.InPercent},
			{Name: "circles", Unit: lab.InPercent, Asked: lab.Each(1)},
			{Name: "pinned", Unit: lab.InPercent},
			{Name: "mistakes"},
			{Name: "missed"},
			{Name: "mistakes avoided"},
			{Name: "repetitions avoided"},
			{Name: "circles avoided"},
			{Name: "worse off"},
		},
		Notes: []string{"Efficiency is the share of transmissions that were needed; of the others no more than 1,000 are counted for a packet. A packet circles if nothing but the TTL ended one of its copies."},
	})
}

// graph is a network: nodes, and links in both directions between some of them. Each
// direction has a number and an ID of its own; l^1 is the link back.
type graph struct {
	out [][]int32 // links out of each node
	to  []int32
	ids []filter.Key
}

// hubs returns a connected graph with few nodes of many links and many of few, as the
// Internet has: each node is joined to some before it, to well-connected ones more often
// (Barabási and Albert).
func hubs(nodes, joins int, r *rand.Rand) *graph {
	g := &graph{out: make([][]int32, nodes)}
	for u := int32(1); int(u) < nodes; u++ {
		joined, ends := map[int32]bool{}, g.to // every node as often as it has links
		for len(joined) < min(joins, int(u)) {
			v := int32(0)
			if i := r.IntN(len(ends) + 1); i < len(ends) {
				v = ends[i]
			}
			if !joined[v] {
				joined[v] = true
				g.join(v, u, r)
			}
		}
	}
	return g
}

// join adds the two links between u and v.
func (g *graph) join(u, v int32, r *rand.Rand) {
	l := int32(len(g.to))
	g.out[u], g.out[v] = append(g.out[u], l), append(g.out[v], l+1)
	g.to = append(g.to, v, u)
	g.ids = append(g.ids, filter.Key(r.Uint64()), filter.Key(r.Uint64()))
}

// tree is a delivery tree: the shortest ways from a source to some receivers.
type tree struct {
	source    int32
	receivers []int32
	links     []int32 // each after that which leads to it
	has       map[int32]bool
}

// ids returns the IDs of the tree's links, which a header holds, and those of the links
// that lead out of it, which its nodes ask for.
func (t *tree) ids(g *graph) (in, beside []filter.Key) {
	nodes := []int32{t.source}
	for _, l := range t.links {
		in, nodes = append(in, g.ids[l]), append(nodes, g.to[l])
	}
	for _, node := range nodes {
		for _, l := range g.out[node] {
			if !t.has[l] {
				beside = append(beside, g.ids[l])
			}
		}
	}
	return in, beside
}

// randomTree returns a tree with exactly so many links, from a random source to random
// receivers. The last way is cut off where the number is reached.
func (g *graph) randomTree(r *rand.Rand, links int) *tree {
	t := &tree{source: int32(r.IntN(len(g.out))), has: map[int32]bool{}}
	via := g.shortest(t.source)
	for _, node := range r.Perm(len(g.out)) {
		var missing []int32 // the last link first
		for at := int32(node); at != t.source && !t.has[via[at]]; at = g.to[via[at]^1] {
			missing = append(missing, via[at])
		}
		missing = missing[max(0, len(missing)+len(t.links)-links):]
		for _, l := range slices.Backward(missing) {
			t.has[l] = true
			t.links = append(t.links, l)
		}
		if len(missing) > 0 {
			t.receivers = append(t.receivers, g.to[missing[0]])
		}
		if len(t.links) == links {
			break
		}
	}
	return t
}

// shortest returns for each node the link that leads to it on a shortest way.
func (g *graph) shortest(source int32) (via []int32) {
	via = slices.Repeat([]int32{-1}, len(g.out))
	queue := []int32{source}
	for i := 0; i < len(queue); i++ {
		for _, l := range g.out[queue[i]] {
			if v := g.to[l]; via[v] < 0 && v != source {
				via[v] = l
				queue = append(queue, v)
			}
		}
	}
	return via
}
