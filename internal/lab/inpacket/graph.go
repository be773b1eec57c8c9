package inpacket

import (
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
)

// graph is a network: nodes, and links in both directions between some of them. Each
// direction has a number and an ID of its own.
type graph struct {
	out     [][]int32 // links out of each node
	from    []int32
	to      []int32
	reverse []int32
	ids     []filter.Key
}

// join adds the two links between u and v.
func (g *graph) join(u, v int32, r *rand.Rand) {
	l := int32(len(g.to))
	g.out[u], g.out[v] = append(g.out[u], l), append(g.out[v], l+1)
	g.from, g.to = append(g.from, u, v), append(g.to, v, u)
	g.reverse = append(g.reverse, l+1, l)
	g.ids = append(g.ids, filter.Key(r.Uint64()), filter.Key(r.Uint64()))
}

// hubs returns a connected graph with few nodes of many links and many of few, as the
// Internet has: each node is joined to some before it, to well-connected ones more often
// (Barabási and Albert).
func hubs(nodes, joins int, r *rand.Rand) *graph {
	g := &graph{out: make([][]int32, nodes)}
	ends := []int32{0} // every node as often as it has links
	for u := int32(1); int(u) < nodes; u++ {
		joined := map[int32]bool{}
		var more []int32
		for len(joined) < min(joins, int(u)) {
			if v := ends[r.IntN(len(ends))]; !joined[v] {
				joined[v] = true
				g.join(v, u, r)
				more = append(more, v, u)
			}
		}
		ends = append(ends, more...)
	}
	return g
}

// ring returns a ring with a chord for each node, between nodes at random: a graph without
// hubs, in which ways are short and circles many. Chords that are there already are left
// out.
func ring(nodes int, r *rand.Rand) *graph {
	g := &graph{out: make([][]int32, nodes)}
	there := map[[2]int]bool{}
	join := func(u, v int) {
		if e := [2]int{min(u, v), max(u, v)}; u != v && !there[e] {
			there[e] = true
			g.join(int32(u), int32(v), r)
		}
	}
	for u := range nodes {
		join(u, (u+1)%nodes)
	}
	for range nodes {
		join(r.IntN(nodes), r.IntN(nodes))
	}
	return g
}
