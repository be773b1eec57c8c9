package inpacket

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// paper is the tag of the document.
const paper = "[DlBF10]"

// network is the dimension of the two graphs.
const network = "network"

func networks(e *lab.Env) []*graph {
	return []*graph{hubs(e.Int("nodes"), 2, e.Rand(1)), ring(e.Int("nodes"), e.Rand(2))}
}

// networkParams are those that all experiments with trees share.
func networkParams(nodes, trials, limit int, more ...lab.Param) lab.Params {
	return append(lab.Params{
		lab.Int("nodes", nodes), lab.Int("trials", trials),
		lab.Int("bits", 256), lab.Int("hashes", 5), lab.Int("regions", 25), lab.Int("candidates", 16), lab.Int("limit", limit),
	}, more...)
}

// goal is what a header is chosen by.
type goal func(*graph, *tree) deletable.Goal

func fewestSet(*graph, *tree) deletable.Goal { return deletable.BestFill() }

func fewestFalse(g *graph, t *tree) deletable.Goal { return deletable.FewestFalse(t.beside(g)...) }

func mostDeletable(g *graph, t *tree) deletable.Goal { return deletable.MostDeletable(t.ids(g)...) }

func bothGoals(g *graph, t *tree) deletable.Goal { return fewestFalse(g, t).And(mostDeletable(g, t)) }

// contender is a way to make headers and to treat them; see the package comment.
type contender struct {
	name   string
	format format
	rules  rules
	goal   goal
}

// packet is what became of one, beside what became of that of the contender before it in
// the list: kept stands before deleting.
type packet struct {
	outcome
	links  int
	before outcome
}

func (p packet) circles() bool { return p.expired > 0 }

// sendAll sends one packet of each contender over the same tree, with the same hashes.
func sendAll(g *graph, links int, list []contender, r *rand.Rand) ([]packet, error) {
	t, salt := g.randomTree(r, links), r.Uint64()
	out := make([]packet, len(list))
	for i, c := range list {
		h, err := c.format.choose(t.ids(g), c.goal(g, t), salt)
		if err != nil {
			return nil, err
		}
		out[i] = packet{g.forward(h, t, c.rules), links, out[max(i-1, 0)].outcome}
	}
	return out, nil
}

// sendSweep sends packets of all contenders in both networks, with the links and contenders
// of each point of another dimension.
func sendSweep(ctx context.Context, e *lab.Env, dim, trace lab.Dim, links func(lab.At) int, list func(lab.At) []contender) (*lab.Result, error) {
	graphs := networks(e)
	g, err := lab.Sweep(ctx, e, lab.Spec[packet]{
		Name: "packets", Title: "Packets that find their way by the filter in their header", Dims: []lab.Dim{lab.Among(network, "hubs", "ring"), dim}, Trials: e.Int("trials"),
		Trace: trace,
		Follow: func(at lab.At, r *rand.Rand) ([]packet, error) {
			return sendAll(graphs[at.Int(network)], links(at), list(at), r)
		},
		Metrics: packetMetrics(),
		Notes: []string{
			"Efficiency is the share of transmissions that were needed. A packet circles if nothing but the TTL ended one of its copies.",
			fmt.Sprintf("No more than %d transmissions that were not needed are counted for a packet.", e.Int("limit")),
		},
	})
	return &lab.Result{Grids: []*lab.Grid{g}}, err
}

func packetMetrics() []lab.Metric[packet] {
	number := func(name string, of func(packet) float64) lab.Metric[packet] {
		return lab.Metric[packet]{Name: name, Of: of}
	}
	return []lab.Metric[packet]{
		{Name: "efficiency", Unit: lab.InPercent, Of: func(p packet) float64 { return p.efficiency() }},
		{Name: "mistakes", Of: func(p packet) float64 { return float64(p.claimed) }, Asked: lab.Each(1)}, // rare in small trees
		number("mistakes by the fill", func(p packet) float64 { return p.expected }),
		{Name: "pinned", Unit: lab.InPercent, Of: func(p packet) float64 { return float64(p.pinned) / float64(p.links) }},
		{Name: "circles", Unit: lab.InPercent, Of: func(p packet) float64 { return lab.OneIf(p.circles()) }, Asked: lab.Each(1)},
		number("missed", func(p packet) float64 { return float64(p.missed) }),
		number("worse off", func(p packet) float64 { return lab.OneIf(p.worse(&p.before)) }),
		number("mistakes avoided", func(p packet) float64 { return float64(p.before.claimed - p.claimed) }),
		number("circles avoided", func(p packet) float64 { return lab.OneIf(p.before.expired > 0) - lab.OneIf(p.circles()) }),
		number("repetitions avoided", func(p packet) float64 { return float64(p.before.repeated - p.repeated) }),
	}
}

// byNetwork draws a share in both networks.
func byNetwork(name, title, metric string, v lab.View) []lab.View {
	hubs, ring := v, v
	hubs.Name, hubs.Title, hubs.At = name+"-hubs", title+", in a network with hubs", []any{network, "hubs"}
	ring.Name, ring.Title, ring.At = name+"-ring", title+", in a ring with chords", []any{network, "ring"}
	hubs.Y, hubs.Curves = lab.Axis{Label: "share", Percent: true}, []lab.Curve{{Measured: metric}}
	ring.Y, ring.Curves = hubs.Y, hubs.Curves
	return []lab.View{hubs, ring}
}

// noneMissed is the promise of the filter.
var noneMissed = lab.Claim{Name: "no receiver is missed", Printed: "no false negatives upon element deletion", Where: "Sec. I, R2", Of: lab.Of("missed"), Is: lab.Zero()}
