package inpacket

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/inpacket/forward"
)

// paper is the tag of the document.
const paper = "[DlBF10]"

// network is the dimension of the two graphs, of the size that the parameters tell.
const network = "network"

var networkNames = []string{"hubs", "ring"}

func networks(e *lab.Env) ([]*forward.Graph, error) {
	seeds := e.Rand(1)
	hubs, err := forward.Preferential(e.Int("nodes"), 2, seeds.Uint64())
	if err != nil {
		return nil, err
	}
	ring, err := forward.Ring(e.Int("nodes"), 1, seeds.Uint64())
	return []*forward.Graph{hubs, ring}, err
}

// networkParams are those that all experiments with trees share, with the default rules.
func networkParams(nodes, trials, limit int, more ...lab.Param) lab.Params {
	return append(lab.Params{
		lab.Int("nodes", nodes), lab.Int("trials", trials),
		lab.Int("bits", 256), lab.Int("hashes", 5), lab.Int("regions", 25), lab.Int("candidates", 16),
		lab.Int("TTL", 64), lab.Int("limit", limit),
	}, more...)
}

// contender is a way to make headers and to treat them.
type contender struct {
	name   string
	config forward.Config
	rules  forward.Rules
	goal   func(*forward.Graph, *forward.Tree) deletable.Goal // nil: the fewest set bits
}

// plain, kept and deleting are the sorts of contenders; see the package comment.
func plain(e *lab.Env) contender {
	return contender{
		name:   "plain",
		config: forward.Config{Bits: e.Int("bits"), Hashes: e.Int("hashes"), Regions: 1, Candidates: 1},
		rules:  forward.Rules{TTL: e.Int("TTL"), Limit: e.Int("limit")},
	}
}

func kept(e *lab.Env) contender {
	c := plain(e)
	c.name, c.config.Regions = "kept", e.Int("regions")
	return c
}

func deleting(e *lab.Env) contender {
	c := kept(e)
	c.name, c.rules.Delete = "deleting", true
	return c
}

// chosen takes the best of several candidates.
func (c contender) chosen(e *lab.Env) contender {
	c.name += ", chosen"
	c.config.Candidates = e.Int("candidates")
	c.goal = fewestFalse
	return c
}

// onward makes nodes never send a packet back to where it came from.
func (c contender) onward() contender {
	c.name += ", never back"
	c.rules.SkipReverse = true
	return c
}

func fewestFalse(g *forward.Graph, t *forward.Tree) deletable.Goal {
	return deletable.FewestFalse(t.Beside(g)...)
}

func mostDeletable(g *forward.Graph, t *forward.Tree) deletable.Goal {
	return deletable.MostDeletable(t.IDs(g)...)
}

func bothGoals(g *forward.Graph, t *forward.Tree) deletable.Goal {
	return fewestFalse(g, t).And(mostDeletable(g, t))
}

// packet is what became of one, beside what became of the one before it in the list:
// kept, where that matters, stands before deleting.
type packet struct {
	forward.Outcome
	links  int
	before forward.Outcome
}

// send makes a header for the tree, with hashes of its own, and lets it run.
func (c contender) send(g *forward.Graph, t *forward.Tree, salt uint64) (forward.Outcome, error) {
	c.config.Salt = salt
	f, err := forward.New(c.config)
	if err != nil {
		return forward.Outcome{}, err
	}
	goal := deletable.BestFill()
	if c.goal != nil {
		goal = c.goal(g, t)
	}
	h, err := f.Choose(t.IDs(g), goal)
	if err != nil {
		return forward.Outcome{}, err
	}
	return g.Forward(h, t, c.rules)
}

// sendAll sends one packet of each contender over the same tree.
func sendAll(g *forward.Graph, links int, list []contender, r *rand.Rand) ([]packet, error) {
	t, salt := g.RandomTree(r, links), r.Uint64()
	out := make([]packet, len(list))
	for i, c := range list {
		o, err := c.send(g, &t, salt)
		if err != nil {
			return nil, err
		}
		out[i] = packet{o, links, out[max(i-1, 0)].Outcome}
	}
	return out, nil
}

// sendSweep sends packets of all contenders, in both networks and at all points of the
// other dimensions; lists gives the contenders of a point, links those of its trees.
func sendSweep(ctx context.Context, e *lab.Env, dims []lab.Dim, trace lab.Dim, links func(lab.At) int, list func(lab.At) []contender) (*lab.Result, error) {
	graphs, err := networks(e)
	if err != nil {
		return nil, err
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[packet]{
		Name: "packets", Title: "Packets that find their way by the filter in their header", Dims: append([]lab.Dim{lab.Among(network, networkNames...)}, dims...), Trials: e.Int("trials"),
		Trace: trace,
		Follow: func(at lab.At, r *rand.Rand) ([]packet, error) {
			return sendAll(graphs[at.Int(network)], links(at), list(at), r)
		},
		Metrics: packetMetrics(),
		Notes: []string{
			"Efficiency is the share of transmissions that were needed. Links beside the tree are those that lead out of it: each is asked for once by a copy that is on its way.",
			fmt.Sprintf("No more than %d transmissions that were not needed are counted for a packet: where there are storms their number is a lower bound.", e.Int("limit")),
		},
	})
	return &lab.Result{Grids: []*lab.Grid{g}}, err
}

// packetMetrics are those of all experiments with trees. A packet circles if nothing but
// the TTL ended one of its copies; it came back if a copy arrived where it had been.
func packetMetrics() []lab.Metric[packet] {
	share := func(name string, is func(packet) bool) lab.Metric[packet] {
		return lab.Metric[packet]{Name: name, Unit: lab.InPercent, Of: func(p packet) float64 { return lab.OneIf(is(p)) }, Asked: lab.Each(1)}
	}
	number := func(name string, of func(packet) float64) lab.Metric[packet] {
		return lab.Metric[packet]{Name: name, Of: of}
	}
	return []lab.Metric[packet]{
		{Name: "efficiency", Unit: lab.InPercent, Of: func(p packet) float64 { return p.Efficiency() }},
		number("not needed", func(p packet) float64 { return float64(p.Stray + p.Repeated) }),
		{Name: "mistakes", Of: func(p packet) float64 { return float64(p.Claimed) }, Asked: lab.Each(1)}, // rare in small trees
		number("mistakes by the fill", func(p packet) float64 { return p.Expected }),
		{Name: "pinned", Unit: lab.InPercent, Of: func(p packet) float64 { return float64(p.Pinned) / float64(p.links) }},
		share("came back", func(p packet) bool { return p.Looped() }), share("circles", packet.circles), share("storms", func(p packet) bool { return p.Storm }),
		number("missed", func(p packet) float64 { return float64(p.Missed) }),
		number("worse off", func(p packet) float64 { return lab.OneIf(worse(p.Outcome, p.before)) }),
		number("mistakes avoided", func(p packet) float64 { return float64(p.before.Claimed - p.Claimed) }),
		number("circles avoided", func(p packet) float64 { return lab.OneIf(p.before.Expired > 0) - lab.OneIf(p.circles()) }),
		number("repetitions avoided", func(p packet) float64 { return float64(p.before.Repeated - p.Repeated) }),
	}
}

func (p packet) circles() bool { return p.Expired > 0 }

// worse says that a packet is worse off than another. Where the limit has cut the other
// off nothing can be said about it.
func worse(o, than forward.Outcome) bool {
	return o.Transmissions > than.Transmissions || o.Storm && !than.Storm ||
		!than.Storm && (o.Returned > than.Returned || o.Expired > than.Expired || o.Extra > than.Extra)
}

// noneMissed is the promise of the filter.
var noneMissed = lab.Claim{Name: "no receiver is missed", Printed: "no false negatives upon element deletion", Where: "Sec. I, R2", Of: lab.Of("missed"), Is: lab.Zero()}
