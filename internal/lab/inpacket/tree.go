package inpacket

import (
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
)

// tree is a delivery tree: the shortest ways from a source to some receivers.
type tree struct {
	source    int32
	receivers []int32
	links     []int32 // each after that which leads to it
	has       map[int32]bool
}

// ids returns the IDs of the tree's links: what a header for it holds.
func (t *tree) ids(g *graph) []filter.Key {
	ids := make([]filter.Key, len(t.links))
	for i, l := range t.links {
		ids[i] = g.ids[l]
	}
	return ids
}

// beside returns the IDs of the links that lead out of the tree: those that nodes of the
// tree ask for though they should not be in the header.
func (t *tree) beside(g *graph) (ids []filter.Key) {
	nodes := []int32{t.source}
	for _, l := range t.links {
		nodes = append(nodes, g.to[l])
	}
	for _, node := range nodes {
		for _, l := range g.out[node] {
			if !t.has[l] {
				ids = append(ids, g.ids[l])
			}
		}
	}
	return ids
}

// randomTree returns a tree with exactly so many links, from a random source to random
// receivers. The last way is cut off where the number is reached.
func (g *graph) randomTree(r *rand.Rand, links int) *tree {
	t := &tree{source: int32(r.IntN(len(g.out))), has: map[int32]bool{}}
	via := g.shortest(t.source)
	for _, node := range r.Perm(len(g.out)) {
		if len(t.links) == links {
			break
		}
		t.grow(g, via, int32(node), links-len(t.links))
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

// grow takes the way to a node into the tree, only its first links if it needs more than
// left, and makes a receiver of where it ends.
func (t *tree) grow(g *graph, via []int32, node int32, left int) {
	var missing []int32 // the last link first
	for at := node; at != t.source; at = g.from[via[at]] {
		if l := via[at]; !t.has[l] {
			missing = append(missing, l)
		}
	}
	if over := len(missing) - left; over > 0 {
		missing = missing[over:]
		node = g.to[missing[0]]
	}
	for _, l := range slices.Backward(missing) {
		t.has[l] = true
		t.links = append(t.links, l)
	}
	if node != t.source {
		t.receivers = append(t.receivers, node)
	}
}
