package inpacket

import (
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
)

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
