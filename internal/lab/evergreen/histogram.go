package evergreen

import (
	"math"
	"math/bits"
	"time"
)

// A histogram counts durations in classes an eighth of an octave wide, from a
// nanosecond to minutes.
type histogram struct {
	counts  [40 * perOctave]int
	n       int
	longest time.Duration
}

const perOctave = 8

func (h *histogram) add(d time.Duration) {
	h.counts[class(d)]++
	h.n++
	h.longest = max(h.longest, d)
}

// class is the octave and, from the three bits behind the first, its eighth.
func class(d time.Duration) int {
	v := uint64(max(d, perOctave)) // shorter than any operation
	octave := bits.Len64(v) - 1
	return min(octave*perOctave+int(v>>(octave-3)&(perOctave-1)), len(histogram{}.counts)-1)
}

// end is the shortest duration above a class.
func end(class int) time.Duration {
	octave, part := class/perOctave, class%perOctave
	return time.Duration(math.Exp2(float64(octave)) * (1 + float64(part+1)/perOctave))
}

// quantile is a duration that a share of all are below, to an eighth.
func (h *histogram) quantile(share float64) time.Duration {
	left := int(math.Ceil(share * float64(h.n)))
	for i, c := range h.counts {
		if left -= c; left <= 0 && h.n > 0 {
			return min(end(i), h.longest)
		}
	}
	return h.longest
}

// oneIn is the time in microseconds that one in so many exceeds; none of nothing.
func (h *histogram) oneIn(many float64) float64 {
	if h.n == 0 {
		return math.NaN()
	}
	return h.quantile(1-1/many).Seconds() * 1e6
}
