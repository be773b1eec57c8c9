package forward

import (
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
)

// Graph is a network: nodes, and links in both directions between some of them. A
// link has a number and an ID of its own; the two directions have nothing in common.
type Graph struct {
	first   []int32 // the links out of node u are first[u] to before first[u+1]
	from    []int32
	to      []int32
	reverse []int32
	ids     []filter.Key
}

// maxNodes is the size of the largest graph.
const maxNodes = 1 << 20

// Preferential returns a connected graph with few nodes of many links and many of
// few, as the Internet has: nodes come one by one, and each is joined to some of those
// before it, to well-connected ones more often (Barabási and Albert). Seeds give
// graphs and IDs.
func Preferential(nodes, joins int, seed uint64) (*Graph, error) {
	if err := checkSize(nodes, joins); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 1))
	var edges [][2]int32
	// Every node stands here as often as it has links.
	ends := []int32{0}
	for u := int32(1); int(u) < nodes; u++ {
		joined := map[int32]bool{}
		for len(joined) < min(joins, int(u)) {
			v := ends[r.IntN(len(ends))]
			if !joined[v] {
				joined[v] = true
				edges = append(edges, [2]int32{v, u})
			}
		}
		for _, e := range edges[len(edges)-len(joined):] {
			ends = append(ends, e[0], u)
		}
	}
	return build(nodes, edges, r), nil
}

// Ring returns a ring with so many chords for each node, between nodes at random: a
// graph without hubs, in which ways are short and circles many. Chords that are there
// already, or would join neighbours, are left out.
func Ring(nodes, chords int, seed uint64) (*Graph, error) {
	if err := checkSize(nodes, chords+1); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 2))
	var edges [][2]int32
	there := map[[2]int32]bool{}
	join := func(u, v int) {
		e := [2]int32{int32(min(u, v)), int32(max(u, v))}
		if u != v && !there[e] {
			there[e] = true
			edges = append(edges, e)
		}
	}
	for u := range nodes {
		join(u, (u+1)%nodes)
	}
	for range nodes * chords {
		join(r.IntN(nodes), r.IntN(nodes))
	}
	return build(nodes, edges, r), nil
}

func checkSize(nodes, links int) error {
	if nodes < 2 || nodes > maxNodes {
		return fmt.Errorf("forward: graph: %d nodes, must be 2 to %d", nodes, maxNodes)
	}
	if links < 1 || links > 100 {
		return fmt.Errorf("forward: graph: %d links for each node, must be 1 to 100", links)
	}
	return nil
}

// build makes two links of each edge and gives them IDs.
func build(nodes int, edges [][2]int32, r *rand.Rand) *Graph {
	n := 2 * len(edges)
	g := &Graph{
		first: make([]int32, nodes+1),
		from:  make([]int32, n), to: make([]int32, n), reverse: make([]int32, n),
		ids: make([]filter.Key, n),
	}
	for _, e := range edges {
		g.first[e[0]+1]++
		g.first[e[1]+1]++
	}
	for u := range nodes {
		g.first[u+1] += g.first[u]
	}
	next := make([]int32, nodes)
	copy(next, g.first)
	put := func(u, v int32) int32 {
		l := next[u]
		next[u]++
		g.from[l], g.to[l], g.ids[l] = u, v, filter.Key(r.Uint64())
		return l
	}
	for _, e := range edges {
		a, b := put(e[0], e[1]), put(e[1], e[0])
		g.reverse[a], g.reverse[b] = b, a
	}
	return g
}

// nodes returns the number of nodes, which are numbered from 0.
func (g *Graph) nodes() int { return len(g.first) - 1 }
