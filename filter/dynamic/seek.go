package dynamic

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// A seeker finds keys in units. All units have one shape and salt, so that a key's
// positions are the same in each and are computed once.
type seeker struct {
	mixer     probe.Mixer
	positions uint64
	width     uint64 // of a position, in bits
	top       uint64 // the largest value of a position
	hashes    int
	steps     [4]int // from the first position to each of the first four
}

func newSeeker(s Shape) seeker {
	k := seeker{
		mixer: probe.NewMixer(s.Salt), positions: s.Positions, hashes: s.Hashes,
		width: uint64(s.CounterBits), top: 1<<s.CounterBits - 1,
	}
	for i := range k.steps {
		k.steps[i] = min(i, s.Hashes-1) // the last stands for those that are missing
	}
	return k
}

// A place is where a position is: in which word of a unit, at which bit.
type place struct{ word, bit uint64 }

func (s *seeker) place(h uint64) place {
	i := probe.Reduce(h, s.positions) * s.width
	return place{i / 64, i % 64}
}

// seek returns the last of the units that answers for k, or -1.
//
// The first four positions are tested together: their cache misses overlap, and
// the processor need not guess which of them is clear. Full units have about half
// of their positions set, so that four decide about all units but one in 16. The
// places are plain variables, which stay in registers from unit to unit. To ask a
// unit about many keys of a batch before the next one is slower at every size.
func (s *seeker) seek(units []unit, k filter.Key) int {
	h := s.mixer.Mix(k)
	a, b := s.place(h), s.place(probe.StepBy(h, s.steps[1]))
	c, d := s.place(probe.StepBy(h, s.steps[2])), s.place(probe.StepBy(h, s.steps[3]))
	top := s.top
	i := len(units) - 1
	for ; i >= 0; i-- {
		u := units[i].words
		if value(u, a, top)|value(u, b, top)|value(u, c, top)|value(u, d, top) >= 0 && s.rest(u, h) {
			break
		}
	}
	return i
}

// value is negative if the position is zero.
func value(unit []uint64, p place, top uint64) int64 {
	return int64(unit[p.word]>>(p.bit%64)&top) - 1
}

// rest reports whether the positions after the first four of h are set.
func (s *seeker) rest(unit []uint64, h uint64) bool {
	for range s.hashes - 4 {
		if value(unit, s.place(probe.StepBy(h, 4)), s.top) < 0 {
			return false
		}
		h = probe.Step(h)
	}
	return true
}
