package inpacket

import (
	"context"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/inpacket/forward"
)

// network is a graph with its name.
type network struct {
	name  string
	words string
	graph *forward.Graph
}

// networks makes both, of the size that the parameters tell.
func networks(e *lab.Env) ([]network, error) {
	seeds := e.Rand(1)
	hubs, err := forward.Preferential(e.Int("nodes"), 2, seeds.Uint64())
	if err != nil {
		return nil, err
	}
	ring, err := forward.Ring(e.Int("nodes"), 1, seeds.Uint64())
	if err != nil {
		return nil, err
	}
	return []network{{"hubs", "a network with hubs", hubs}, {"ring", "a ring with chords", ring}}, nil
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

// race sends packets for random trees of so many links, the same tree for every
// contender, and returns the outcomes by contender.
func race(ctx context.Context, e *lab.Env, g *forward.Graph, links int, list []contender) ([][]forward.Outcome, error) {
	trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) ([]forward.Outcome, error) {
		t, salt := g.RandomTree(r, links), r.Uint64()
		outs := make([]forward.Outcome, len(list))
		for i, c := range list {
			var err error
			if outs[i], err = c.send(g, &t, salt); err != nil {
				return nil, err
			}
		}
		return outs, nil
	})
	if err != nil {
		return nil, err
	}
	by := make([][]forward.Outcome, len(list))
	for _, outs := range trials {
		for i, o := range outs {
			by[i] = append(by[i], o)
		}
	}
	return by, nil
}

// networkParams are those that all races share, with the default rules.
func networkParams(nodes, trials, limit int, more ...lab.Param) lab.Params {
	return append(lab.Params{
		lab.Int("nodes", nodes), lab.Int("trials", trials),
		lab.Int("bits", 256), lab.Int("hashes", 5), lab.Int("regions", 25), lab.Int("candidates", 16),
		lab.Int("TTL", 64), lab.Int("limit", limit),
	}, more...)
}
