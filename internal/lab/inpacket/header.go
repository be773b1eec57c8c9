package inpacket

import (
	"math"
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// format is the geometry of a header: marks, cells and the number of the candidate.
type format struct {
	shape      deletable.Shape
	candidates int
}

// headerFormat is that of the parameters, with so many marks and candidates.
func headerFormat(e *lab.Env, marks, candidates int) format {
	number := bits.Len(uint(candidates - 1))
	return format{deletable.Shape{Bits: uint64(e.Int("bits") - number), Hashes: e.Int("hashes"), Regions: uint64(marks)}, candidates}
}

// header is a set of IDs inside a packet. It is a value: a copy has bits of its own, which
// is what each branch of a delivery gets.
type header struct {
	wire   *deletable.Wire
	hashes int
	bits   [32]byte
}

// choose returns the best header for different IDs.
func (f format) choose(ids []filter.Key, goal deletable.Goal, salt uint64) (header, error) {
	f.shape.Salt = salt
	best, number, err := deletable.Choose(f.shape, ids, goal, f.candidates)
	if err != nil {
		return header{}, err
	}
	wire, err := f.shape.Candidate(number).Wire()
	h := header{wire: &wire, hashes: f.shape.Hashes}
	copy(h.bits[:], best.AppendRaw(nil))
	return h, err
}

func (h *header) has(id filter.Key) bool { return h.wire.MayContain(h.bits[:], id) }

// remove deletes an ID. The error is filter.ErrPinned if that would harm others.
func (h *header) remove(id filter.Key) error { return h.wire.Delete(h.bits[:], id) }

// rate is that of false positives, by the fill.
func (h *header) rate() float64 {
	return math.Pow(h.wire.Fill(h.bits[:]), float64(h.hashes))
}
