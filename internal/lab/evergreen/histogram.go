package evergreen

import (
	"math"
	"math/bits"
	"time"

	"github.com/everbloom-go/everbloom/internal/lab"
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

// tail is the share of operations that took longer, over the time in microseconds.
func (h *histogram) tail() (points []lab.Point) {
	left := h.n
	for i, c := range h.counts {
		left -= c
		if c > 0 && left > 0 {
			points = append(points, lab.Point{X: end(i).Seconds() * 1e6, Y: float64(left) / float64(h.n)})
		}
	}
	return points
}
