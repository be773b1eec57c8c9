package inpacket

import (
	"errors"

	"github.com/everbloom-go/everbloom/filter"
)

// ttl is how many links a copy may go over. Nodes count, as in IP.
const ttl = 64

// outcome is what became of a packet.
type outcome struct {
	missed        int  // receivers that no copy reached
	transmissions int  // over links of all sorts
	stray         int  // of these, over links that are not in the tree
	repeated      int  // of these, over links of the tree that had carried a copy before
	expired       int  // copies that nothing but the TTL kept from going on
	storm         bool // the limit was reached

	// What copies met that were never outside the tree.
	mistakes int // links beside the tree that were found
	pinned   int // links of the tree that could not be deleted
}

// efficiency is the share of transmissions that were needed.
func (o *outcome) efficiency() float64 {
	return float64(o.transmissions-o.stray-o.repeated) / float64(max(o.transmissions, 1))
}

// worse says that a packet is worse off than another. Where the limit has cut the other off
// nothing can be said about it.
func (o *outcome) worse(than *outcome) bool {
	return !than.storm && (o.transmissions > than.transmissions || o.storm || o.expired > than.expired)
}

// copied is a copy of a packet at a node.
type copied struct {
	header header
	node   int32
	via    int32 // the link it came over, -1 at the source
	hops   int
	stray  bool // it was outside the tree
}

// flight is one packet on its way.
type flight struct {
	outcome
	contender
	g       *graph
	tree    *tree
	limit   int      // of transmissions that were not needed; copies outside the tree do not go on after it
	waiting []copied // copies that have arrived and not left
	reached map[int32]bool
	used    map[int32]bool
}

// forward follows a packet until no copy goes on. Nodes keep no state, so the order of
// copies does not matter.
func (g *graph) forward(h header, t *tree, c contender, limit int) outcome {
	f := flight{g: g, tree: t, contender: c, limit: limit, reached: map[int32]bool{t.source: true}, used: map[int32]bool{}}
	f.waiting = []copied{{header: h, node: t.source, via: -1}}
	for len(f.waiting) > 0 {
		last := len(f.waiting) - 1
		c := f.waiting[last]
		f.waiting = f.waiting[:last]
		f.leave(c)
	}
	for _, node := range t.receivers {
		if !f.reached[node] {
			f.missed++
		}
	}
	return f.outcome
}

// leave sends a copy over every link whose ID is in its header.
func (f *flight) leave(c copied) {
	expired := 0
	for _, l := range f.g.out[c.node] {
		if f.neverBack && c.via == l^1 || !c.header.has(f.g.ids[l]) {
			continue
		}
		if !c.stray && !f.tree.has[l] {
			f.mistakes++
		}
		if c.hops < ttl {
			f.send(c, l)
		} else {
			expired = 1
		}
	}
	f.expired += expired
}

// send moves a copy over a link. The ID of the link is deleted from this copy only.
func (f *flight) send(c copied, l int32) {
	inTree := f.tree.has[l]
	c.stray = c.stray || !inTree
	if c.stray && f.stray+f.repeated >= f.limit {
		f.storm = true
		return
	}
	f.transmissions++
	if !inTree {
		f.stray++
	} else if f.used[l] {
		f.repeated++
	}
	f.used[l] = true
	if f.remove && errors.Is(c.header.remove(f.g.ids[l]), filter.ErrPinned) && !c.stray {
		f.pinned++
	}
	c.node, c.via, c.hops = f.g.to[l], l, c.hops+1
	f.reached[c.node] = true
	f.waiting = append(f.waiting, c)
}
