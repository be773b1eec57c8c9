package inpacket

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
	for _, nodes := range []int{2, 3, 10, 1000, 10_000} {
		for name, g := range map[string]*Graph{"preferential": preferential(t, nodes, 7), "ring": ring(t, nodes, 7)} {
			if g.Nodes() != nodes {
				t.Errorf("%s of %d has %d nodes", name, nodes, g.Nodes())
			}
			checkLinks(t, g)
			b := g.branches(nodes / 2)
			for node, via := range b.via {
				if (via < 0) != (node == nodes/2) {
					t.Errorf("%s of %d: node %d cannot be reached", name, nodes, node)
				}
			}
		}
	}
}

func checkLinks(t *testing.T, g *Graph) {
	t.Helper()
	ids := map[filter.Key]bool{}
	for u := range g.Nodes() {
		first, end := g.Out(u)
		neighbours := map[int]bool{}
		for l := first; l < end; l++ {
			from, to := g.Link(l)
			back, forth := g.Link(g.Reverse(l))
			if from != u || to == u || neighbours[to] || ids[g.ID(l)] || back != to || forth != from || g.Reverse(g.Reverse(l)) != l {
				t.Fatalf("link %d from %d to %d, back from %d to %d", l, from, to, back, forth)
			}
			neighbours[to], ids[g.ID(l)] = true, true
		}
	}
	if len(ids) != g.Links() {
		t.Errorf("%d IDs for %d links", len(ids), g.Links())
	}
}

func TestSeedsGiveGraphs(t *testing.T) {
	if !slices.Equal(preferential(t, 50, 1).ids, preferential(t, 50, 1).ids) || slices.Equal(ring(t, 50, 1).ids, ring(t, 50, 2).ids) {
		t.Error("equal seeds give unequal graphs, or unequal ones equal graphs")
	}
}

// A ring with chords has no hubs; the other sort does.
func TestHubs(t *testing.T) {
	most := func(g *Graph) (links int) {
		for u := range g.Nodes() {
			first, end := g.Out(u)
			links = max(links, end-first)
		}
		return links
	}
	if hub, even := most(preferential(t, 10_000, 1)), most(ring(t, 10_000, 1)); hub < 100 || even > 20 {
		t.Errorf("the best connected nodes have %d and %d links", hub, even)
	}
}

func TestGraphsOfImpossibleSizesAreRefused(t *testing.T) {
	for _, c := range [][2]int{{1, 2}, {MaxNodes + 1, 2}, {10, 0}, {10, 101}} {
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
	d := make([]int, g.Nodes())
	for i := range d {
		d[i] = g.Nodes()
	}
	d[source] = 0
	for changed := true; changed; {
		changed = false
		for l := range g.Links() {
			if from, to := g.Link(l); d[from]+1 < d[to] {
				d[to], changed = d[from]+1, true
			}
		}
	}
	return d
}

func TestTreesAreShortestWays(t *testing.T) {
	g := ring(t, 300, 3)
	r := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		source, receivers := r.IntN(300), r.Perm(300)[:1+r.IntN(20)]
		tree, err := g.Tree(source, receivers)
		if err != nil {
			t.Fatal(err)
		}
		want := distances(g, source)
		depth := checkTree(t, g, &tree)
		longest := 0
		for _, node := range receivers {
			if d, ok := depth[node]; !ok || d != want[node] {
				t.Fatalf("node %d is %d links away in the tree (%t), %d in the graph", node, d, ok, want[node])
			}
			longest = max(longest, depth[node])
		}
		if tree.Depth != longest || !slices.Equal(tree.Receivers, receivers) {
			t.Errorf("depth %d, want %d", tree.Depth, longest)
		}
	}
}

// checkTree returns the depth of each node of a tree whose links are in order.
func checkTree(t *testing.T, g *Graph, tree *Tree) map[int]int {
	t.Helper()
	depth := map[int]int{tree.Source: 0}
	for _, l := range tree.Links {
		from, to := g.Link(l)
		if _, twice := depth[to]; twice || !tree.Has(l) {
			t.Fatalf("the tree comes to node %d twice", to)
		}
		d, ok := depth[from]
		if !ok {
			t.Fatalf("link %d comes before what leads to it", l)
		}
		depth[to] = d + 1
	}
	return depth
}

func TestRandomTreesHaveTheWishedSize(t *testing.T) {
	g := preferential(t, 500, 1)
	r := rand.New(rand.NewPCG(4, 4))
	for links := range 60 {
		tree := g.RandomTree(r, links)
		depth := checkTree(t, g, &tree)
		if len(tree.Links) != links || len(tree.IDs(g)) != links {
			t.Fatalf("%d links, want %d", len(tree.Links), links)
		}
		deepest := 0
		for _, node := range tree.Receivers {
			d, ok := depth[node]
			if !ok {
				t.Fatalf("receiver %d is not in the tree", node)
			}
			deepest = max(deepest, d)
		}
		if deepest != tree.Depth {
			t.Errorf("depth %d, the deepest receiver is at %d", tree.Depth, deepest)
		}
	}
	if whole := g.RandomTree(r, 10_000); len(whole.Links) != 499 {
		t.Errorf("a tree of the whole graph has %d links", len(whole.Links))
	}
}

func TestBesideIsAllThatLeadsOut(t *testing.T) {
	g := ring(t, 100, 5)
	tree := g.RandomTree(rand.New(rand.NewPCG(5, 5)), 12)
	in := map[int]bool{tree.Source: true}
	for _, l := range tree.Links {
		_, to := g.Link(l)
		in[to] = true
	}
	var want []filter.Key
	for l := range g.Links() {
		if from, _ := g.Link(l); in[from] && !tree.Has(l) {
			want = append(want, g.ID(l))
		}
	}
	got := tree.Beside(g)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d links beside the tree, want %d", len(got), len(want))
	}
}

func TestTreesOfNodesThatAreNotThereAreRefused(t *testing.T) {
	g := ring(t, 10, 1)
	for _, nodes := range [][]int{{-1, 3}, {10, 3}, {3, 10}, {3, -1}} {
		if _, err := g.Tree(nodes[0], nodes[1:]); err == nil {
			t.Errorf("%v was taken", nodes)
		}
	}
	if tree, err := g.Tree(4, []int{4}); err != nil || len(tree.Links) != 0 {
		t.Errorf("a tree to its own source: %v, %v", tree, err)
	}
}
