package forward

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
)

// Rules is what nodes do. The zero Rules are those of plain forwarding: a node sends a
// copy over every link whose ID is in the header, be it back to where the packet came
// from.
type Rules struct {
	// Delete takes the ID of a link out of the copy that goes over it, where that is
	// possible. Copies that go over other links keep it.
	Delete bool

	// SkipReverse makes nodes not ask for the link back to where the packet came from.
	SkipReverse bool

	// TTL is how many links a copy may go over; 0 means 64. Nodes count, as in IP.
	TTL int

	// Limit ends the simulation of a packet after so many transmissions that were not
	// needed: where every copy makes more than one, they double with every hop until the
	// TTL. 0 means 10,000.
	Limit int
}

// Outcome is what became of a packet.
type Outcome struct {
	Missed        int  // receivers that no copy reached
	Transmissions int  // over links of all sorts; at least one for each link of the tree
	Stray         int  // of these, over links that are not in the tree
	Repeated      int  // of these, over links of the tree that had carried a copy before
	Extra         int  // nodes outside the tree that a copy reached
	Returned      int  // arrivals of a copy at a node where it had been before
	Expired       int  // copies that nothing but the TTL kept from going on
	Storm         bool // Limit was reached: there would have been more

	// What copies met that were never outside the tree. There is one for each link of
	// the tree, and one at the source.
	Asked    int     // links beside the tree whose IDs were looked for
	Claimed  int     // of these, how many were found by mistake
	Expected float64 // how many would be, by the fill: the sum of fill^hashes
	Pinned   int     // links of the tree that could not be deleted
}

// Efficiency is the share of transmissions that were needed.
func (o *Outcome) Efficiency() float64 {
	return float64(o.Transmissions-o.Stray-o.Repeated) / float64(max(o.Transmissions, 1))
}

// Looped reports whether a copy came back to where it had been.
func (o *Outcome) Looped() bool { return o.Returned > 0 }

// Forward follows a packet with the header h of tree t through the network until
// no copy goes on. Nodes keep no state, so copies do not touch each other and the
// order in which they are followed does not matter. Those inside the tree come first,
// so that the limit never cuts them off.
func (g *Graph) Forward(h Header, t *Tree, rules Rules) (Outcome, error) {
	rules.TTL, rules.Limit = cmp.Or(rules.TTL, 64), cmp.Or(rules.Limit, 10_000)
	if t.Depth > rules.TTL {
		return Outcome{}, fmt.Errorf("forward: forward: a tree of depth %d, the TTL is %d", t.Depth, rules.TTL)
	}
	f := flight{g: g, tree: t, rules: rules, reached: map[int32]bool{}, used: map[int32]bool{}}
	f.arrive(packet{header: h, node: int32(t.Source), via: -1, parent: -1})
	for len(f.inside) > 0 || len(f.outside) > 0 && !f.out.Storm {
		f.leave(f.next())
	}
	return f.outcome(), nil
}

// packet is a copy at a node.
type packet struct {
	header Header
	node   int32
	via    int32 // the link it came over, -1 at the source
	parent int32 // in flight.trail: the copy at the node before, -1 at the source
	hops   int32
	stray  bool // it was outside the tree
}

// step is what is remembered of a copy that has gone on.
type step struct{ node, parent int32 }

// flight is one packet on its way.
type flight struct {
	g               *Graph
	tree            *Tree
	rules           Rules
	inside, outside []packet // copies that have arrived and not left
	trail           []step
	reached         map[int32]bool // nodes
	used            map[int32]bool // links
	out             Outcome
}

func (f *flight) next() packet {
	from := &f.inside
	if len(*from) == 0 {
		from = &f.outside
	}
	last := len(*from) - 1
	p := (*from)[last]
	*from = (*from)[:last]
	return p
}

// arrive counts a copy and puts it where it will be taken up.
func (f *flight) arrive(p packet) {
	for at := p.parent; at >= 0; at = f.trail[at].parent {
		if f.trail[at].node == p.node {
			f.out.Returned++
			break
		}
	}
	f.reached[p.node] = true
	if p.stray {
		f.outside = append(f.outside, p)
		return
	}
	f.inside = append(f.inside, p)
}

// leave sends a copy over every link that is in its header.
func (f *flight) leave(p packet) {
	self := int32(len(f.trail))
	f.trail = append(f.trail, step{p.node, p.parent})
	back := int32(-1)
	if f.rules.SkipReverse && p.via >= 0 {
		back = f.g.reverse[p.via]
	}
	rate, expired := p.header.FPR(), false
	for l := f.g.first[p.node]; l < f.g.first[p.node+1]; l++ {
		if l == back {
			continue
		}
		claimed := p.header.Has(f.g.ids[l])
		if !p.stray && !f.tree.has[int(l)] {
			f.out.Asked++
			f.out.Expected += rate
			if claimed {
				f.out.Claimed++
			}
		}
		if !claimed {
			continue
		}
		if int(p.hops) == f.rules.TTL {
			expired = true
			continue
		}
		f.send(p, l, self)
	}
	if expired {
		f.out.Expired++
	}
}

// send moves a copy over link l. Only this copy forgets the link: the others may have
// been sent by mistake, or this one, and then what it forgets are links of the tree.
func (f *flight) send(p packet, l, self int32) {
	inTree := f.tree.has[int(l)]
	p.stray = p.stray || !inTree
	if p.stray && f.out.Stray+f.out.Repeated >= f.rules.Limit {
		f.out.Storm = true
		return
	}
	f.out.Transmissions++
	if !inTree {
		f.out.Stray++
	} else if f.used[l] {
		f.out.Repeated++
	}
	f.used[l] = true
	if f.rules.Delete {
		if err := p.header.Delete(f.g.ids[l]); errors.Is(err, filter.ErrPinned) && !p.stray {
			f.out.Pinned++
		}
	}
	p.node, p.via, p.parent, p.hops = f.g.to[l], l, self, p.hops+1
	f.arrive(p)
}

// outcome completes the counts when all copies are gone.
func (f *flight) outcome() Outcome {
	for _, node := range f.tree.Receivers {
		if !f.reached[int32(node)] {
			f.out.Missed++
		}
	}
	// A tree of n links has n+1 nodes.
	f.out.Extra = len(f.reached) - (len(f.tree.Links) + 1) + f.unreached()
	return f.out
}

// unreached counts the nodes of the tree that no copy reached: none, if the header
// was made for it.
func (f *flight) unreached() (n int) {
	for _, l := range f.tree.Links {
		if !f.reached[f.g.to[l]] {
			n++
		}
	}
	return n
}
