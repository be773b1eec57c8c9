package forward

import (
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
)

// Tree is a delivery tree: the shortest ways from a source to some receivers.
type Tree struct {
	Source    int
	Receivers []int
	Links     []int // each after that which leads to it
	Depth     int   // links on the longest way

	has map[int]bool // of links
}

// IDs returns the IDs of the tree's links: what a header for it holds.
func (t *Tree) IDs(g *Graph) []filter.Key {
	ids := make([]filter.Key, len(t.Links))
	for i, l := range t.Links {
		ids[i] = g.ids[l]
	}
	return ids
}

// Beside returns the IDs of the links that lead out of the tree: those that nodes of
// the tree will ask for though they should not be in the header.
func (t *Tree) Beside(g *Graph) []filter.Key {
	var ids []filter.Key
	visit := func(node int) {
		for l := g.first[node]; l < g.first[node+1]; l++ {
			if !t.has[int(l)] {
				ids = append(ids, g.ids[l])
			}
		}
	}
	visit(t.Source)
	for _, l := range t.Links {
		visit(int(g.to[l]))
	}
	return ids
}

// RandomTree returns a tree with exactly so many links, from a random source to random
// receivers. The last way is cut off where the number is reached. If the graph has
// fewer nodes all are receivers.
func (g *Graph) RandomTree(r *rand.Rand, links int) Tree {
	b := g.branches(r.IntN(g.nodes()))
	for _, node := range r.Perm(g.nodes()) {
		left := links - len(b.tree.Links)
		if left <= 0 {
			break
		}
		if node != b.tree.Source {
			b.grow(node, left)
		}
	}
	return b.tree
}

// branches is a tree on which others grow: that of the shortest ways to all nodes.
type branches struct {
	g    *Graph
	via  []int32 // for each node the link that leads to it, -1 for none
	tree Tree
}

func (g *Graph) branches(source int) *branches {
	b := &branches{g: g, via: make([]int32, g.nodes()), tree: Tree{Source: source, has: map[int]bool{}}}
	for i := range b.via {
		b.via[i] = -1
	}
	queue := make([]int32, 1, g.nodes())
	queue[0] = int32(source)
	for i := 0; i < len(queue); i++ {
		for l := g.first[queue[i]]; l < g.first[queue[i]+1]; l++ {
			if v := g.to[l]; b.via[v] < 0 && int(v) != source {
				b.via[v] = l
				queue = append(queue, v)
			}
		}
	}
	return b
}

// grow takes the way to a node into the tree, its first links only if it needs more
// than left, and makes a receiver of where it ends. A way that is in the tree already
// adds a receiver, too.
func (b *branches) grow(node, left int) {
	var missing []int // links, the last first
	depth := 0
	at := int32(node)
	for int(at) != b.tree.Source {
		l := b.via[at]
		if !b.tree.has[int(l)] {
			missing = append(missing, int(l))
		}
		at = b.g.from[l]
		depth++
	}
	if over := len(missing) - left; over > 0 {
		missing = missing[over:]
		node, depth = int(b.g.to[missing[0]]), depth-over
	}
	for _, l := range slices.Backward(missing) {
		b.tree.has[l] = true
		b.tree.Links = append(b.tree.Links, l)
	}
	b.tree.Receivers = append(b.tree.Receivers, node)
	b.tree.Depth = max(b.tree.Depth, depth)
}
