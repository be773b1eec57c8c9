package inpacket

import (
	"errors"

	"github.com/everbloom-go/everbloom/filter"
)

// rules are what nodes do. They send a copy over every link whose ID is in the header.
type rules struct {
	remove    bool // the ID of a link is deleted from the copy that goes over it, and from no other
	neverBack bool // the link back to where the copy came from is not asked for
	limit     int  // of transmissions that were not needed, after which a packet is not followed further
}

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
	claimed  int     // links beside the tree that were found by mistake
	expected float64 // how many would be, by the fill
	pinned   int     // links of the tree that could not be deleted
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
	rules
	g               *graph
	tree            *tree
	inside, outside []copied // copies that have arrived and not left
	reached         map[int32]bool
	used            map[int32]bool
}

// forward follows a packet until no copy goes on. Nodes keep no state, so the order of
// copies does not matter; those inside the tree come first, so that the limit never cuts
// them off.
func (g *graph) forward(h header, t *tree, r rules) outcome {
	f := flight{g: g, tree: t, rules: r, reached: map[int32]bool{t.source: true}, used: map[int32]bool{}}
	f.inside = []copied{{header: h, node: t.source, via: -1}}
	for len(f.inside) > 0 || len(f.outside) > 0 && !f.storm {
		from := &f.inside
		if len(*from) == 0 {
			from = &f.outside
		}
		last := len(*from) - 1
		c := (*from)[last]
		*from = (*from)[:last]
		f.leave(c)
	}
	for _, node := range t.receivers {
		if !f.reached[node] {
			f.missed++
		}
	}
	return f.outcome
}

// leave sends a copy over every link that is in its header.
func (f *flight) leave(c copied) {
	rate, expired := c.header.rate(), 0
	for _, l := range f.g.out[c.node] {
		if f.neverBack && c.via >= 0 && l == f.g.reverse[c.via] {
			continue
		}
		claimed := c.header.has(f.g.ids[l])
		if !c.stray && !f.tree.has[l] {
			f.expected += rate
			if claimed {
				f.claimed++
			}
		}
		if claimed && c.hops < ttl {
			f.send(c, l)
		} else if claimed {
			expired = 1
		}
	}
	f.expired += expired
}

// send moves a copy over a link.
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
	if c.stray {
		f.outside = append(f.outside, c)
	} else {
		f.inside = append(f.inside, c)
	}
}
