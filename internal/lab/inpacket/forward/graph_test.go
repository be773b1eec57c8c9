package forward

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

func preferential(tb testing.TB, nodes int, seed uint64) *Graph {
	tb.Helper()
	g, err := Preferential(nodes, 2, seed)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func ring(tb testing.TB, nodes int, seed uint64) *Graph {
	tb.Helper()
	g, err := Ring(nodes, 1, seed)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func TestGraphsAreConnectedAndSimple(t *testing.T) {
	for _, nodes := range []int{2, 3, 10, 1000, 3000} {
		for name, g := range map[string]*Graph{"preferential": preferential(t, nodes, 7), "ring": ring(t, nodes, 7)} {
			if g.nodes() != nodes {
				t.Errorf("%s of %d has %d nodes", name, nodes, g.nodes())
			}
			checkLinks(t, g)
			for node, via := range g.branches(nodes / 2).via {
				if (via < 0) != (node == nodes/2) {
					t.Errorf("%s of %d: node %d cannot be reached", name, nodes, node)
				}
			}
		}
	}
}

// checkLinks holds that each node has its own links, each neighbour once, and that each
// link has its own ID and its reverse.
func checkLinks(t *testing.T, g *Graph) {
	t.Helper()
	ids := map[filter.Key]bool{}
	for u := range int32(g.nodes()) {
		neighbours := map[int32]bool{}
		for l := g.first[u]; l < g.first[u+1]; l++ {
			back, to := g.reverse[l], g.to[l]
			if g.from[l] != u || to == u || neighbours[to] || ids[g.ids[l]] || g.from[back] != to || g.to[back] != u || g.reverse[back] != l {
				t.Fatalf("link %d from %d to %d, reverse %d", l, g.from[l], to, back)
			}
			neighbours[to], ids[g.ids[l]] = true, true
		}
	}
	if len(ids) != len(g.ids) {
		t.Errorf("%d IDs for %d links", len(ids), len(g.ids))
	}
}

func TestSeedsGiveGraphs(t *testing.T) {
	if !slices.Equal(preferential(t, 50, 1).ids, preferential(t, 50, 1).ids) || slices.Equal(ring(t, 50, 1).ids, ring(t, 50, 2).ids) {
		t.Error("equal seeds give unequal graphs, or unequal ones equal graphs")
	}
}

// TestHubs holds that a ring with chords has no hubs and the other sort of graph has.
func TestHubs(t *testing.T) {
	most := func(g *Graph) (links int32) {
		for u := range g.nodes() {
			links = max(links, g.first[u+1]-g.first[u])
		}
		return links
	}
	if hub, even := most(preferential(t, 10_000, 1)), most(ring(t, 10_000, 1)); hub < 100 || even > 20 {
		t.Errorf("the best connected nodes have %d and %d links", hub, even)
	}
}

func TestGraphsOfImpossibleSizesAreRefused(t *testing.T) {
	for _, c := range [][2]int{{1, 2}, {maxNodes + 1, 2}, {10, 0}, {10, 101}} {
		if _, err := Preferential(c[0], c[1], 1); err == nil {
			t.Errorf("preferential: %v was taken", c)
		}
		if _, err := Ring(c[0], c[1]-1, 1); err == nil {
			t.Errorf("ring: %v was taken", c)
		}
	}
}

// distances are found by trying all links until nothing changes.
func distances(g *Graph, source int) []int {
	d := make([]int, g.nodes())
	for i := range d {
		d[i] = g.nodes()
	}
	d[source] = 0
	for changed := true; changed; {
		changed = false
		for l := range g.ids {
			if from, to := g.from[l], g.to[l]; d[from]+1 < d[to] {
				d[to], changed = d[from]+1, true
			}
		}
	}
	return d
}

// TestRandomTreesAreShortestWays holds for trees of every size: their links are in
// order, each node is as far from the source as in the graph, and the links beside them
// are all others of their nodes.
func TestRandomTreesAreShortestWays(t *testing.T) {
	g := ring(t, 300, 3)
	r := rand.New(rand.NewPCG(3, 3))
	for links := range 60 {
		tree := g.RandomTree(r, links)
		depth := map[int32]int{int32(tree.Source): 0}
		for _, l := range tree.Links {
			d, ok := depth[g.from[l]]
			if _, twice := depth[g.to[l]]; !ok || twice || !tree.has[l] {
				t.Fatalf("link %d comes before what leads to it, or twice", l)
			}
			depth[g.to[l]] = d + 1
		}
		want := distances(g, tree.Source)
		deepest, out := 0, 0
		for node, d := range depth {
			if d != want[node] {
				t.Fatalf("node %d is %d links away in the tree, %d in the graph", node, d, want[node])
			}
			out += int(g.first[node+1] - g.first[node])
		}
		for _, node := range tree.Receivers {
			d, ok := depth[int32(node)]
			if !ok {
				t.Fatalf("receiver %d is not in the tree", node)
			}
			deepest = max(deepest, d)
		}
		if len(tree.Links) != links || len(tree.IDs(g)) != links || len(tree.Beside(g)) != out-links || deepest != tree.Depth {
			t.Fatalf("%d links, want %d; %d beside, want %d; depth %d, want %d",
				len(tree.Links), links, len(tree.Beside(g)), out-links, tree.Depth, deepest)
		}
	}
	if whole := g.RandomTree(r, 10_000); len(whole.Links) != 299 {
		t.Errorf("a tree of the whole graph has %d links", len(whole.Links))
	}
}
