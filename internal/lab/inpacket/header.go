package inpacket

import (
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

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
