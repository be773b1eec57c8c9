package inpacket

import (
	"errors"
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
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

// headers is the dimension of the contenders.
const headers = "headers"

// goal is what a header is chosen by, with the IDs in it and others that will be asked for.
type goal func(present, others []filter.Key) deletable.Goal

func fewestSet(_, _ []filter.Key) deletable.Goal        { return deletable.BestFill() }
func fewestFalse(_, others []filter.Key) deletable.Goal { return deletable.FewestFalse(others...) }
func mostDeletable(present, _ []filter.Key) deletable.Goal {
	return deletable.MostDeletable(present...)
}

func bothGoals(present, others []filter.Key) deletable.Goal {
	return fewestFalse(present, others).And(mostDeletable(present, others))
}

// contender is a way to make headers and to treat them; see the package comment.
type contender struct {
	name       string
	shape      deletable.Shape
	candidates int
	goal       goal
	remove     bool // an ID is deleted from the header when it was used
	neverBack  bool // the link back to where a packet came from is not asked for
}

func (c contender) String() string { return c.name }

// contenders have as many bits, with marks, cells and the number of the candidate.
func contenders(e *lab.Env) []contender {
	with := func(marks, candidates int) deletable.Shape {
		number := bits.Len(uint(candidates - 1))
		return deletable.Shape{Bits: uint64(e.Int("bits") - number), Hashes: e.Int("hashes"), Regions: uint64(marks)}
	}
	marks, many := e.Int("regions"), e.Int("candidates")
	return []contender{
		{"plain", with(1, 1), 1, fewestSet, false, false},
		{"plain, by mistakes", with(1, many), many, fewestFalse, false, false},
		{"kept", with(marks, 1), 1, fewestSet, false, false},
		{"deleting", with(marks, 1), 1, fewestSet, true, false}, // after kept
		{"deleting, by set bits", with(marks, many), many, fewestSet, true, false},
		{"deleting, by mistakes", with(marks, many), many, fewestFalse, true, false},
		{"deleting, by deletability", with(marks, many), many, mostDeletable, true, false},
		{"deleting, by both", with(marks, many), many, bothGoals, true, false},
		{"plain, never back", with(1, 1), 1, fewestSet, false, true},
		{"deleting, never back", with(marks, 1), 1, fewestSet, true, true},
	}
}

// header is a set of IDs inside a packet. It is a value: a copy has bits of its own, which
// is what each branch of a delivery gets.
type header struct {
	wire *deletable.Wire
	bits [32]byte
}

// choose returns the best header for different IDs.
func (c contender) choose(ids, others []filter.Key, salt uint64) (header, error) {
	c.shape.Salt = salt
	best, number, err := deletable.Choose(c.shape, ids, c.goal(ids, others), c.candidates)
	if err != nil {
		return header{}, err
	}
	wire, err := c.shape.Candidate(number).Wire()
	h := header{wire: &wire}
	copy(h.bits[:], best.AppendRaw(nil))
	return h, err
}

func (h *header) has(id filter.Key) bool { return h.wire.MayContain(h.bits[:], id) }

// remove deletes an ID. The error is filter.ErrPinned if that would harm others.
func (h *header) remove(id filter.Key) error { return h.wire.Delete(h.bits[:], id) }
