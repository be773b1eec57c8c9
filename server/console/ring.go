package console

import (
	"math"
	"time"
)

// A track is the history of a few values, once for each span.
type track struct {
	rings [3]ring
	last  int64 // second of the last values
	begun bool
}

// maxLate is how many seconds may be without values of their own: a busy machine has ticks
// come late. They are taken to be like the next.
const maxLate = 2

// add takes the values of a second. Seconds that had none since the last are a gap.
func (t *track) add(second int64, values ...float64) {
	missed := int64(0)
	if t.begun {
		missed = second - t.last - 1
	}
	t.last, t.begun = second, true
	for i, s := range spans() {
		r := &t.rings[i]
		if missed > maxLate {
			r.skip(s, len(values), missed)
		} else {
			for range missed {
				r.add(s, values)
			}
		}
		r.add(s, values)
	}
}

// A ring has the means of the last intervals. It grows as they come. The mean of an interval
// without values is not a number.
type ring struct {
	points  []float32 // as many for each interval as there are values
	next    int       // where the next one goes, when the ring is full
	sums    []float64 // of the interval that is not over
	n       int       // values in sums
	seconds int       // of that interval that are over
}

// add takes the values of a second.
func (r *ring) add(s span, values []float64) {
	if r.sums == nil {
		r.sums = make([]float64, len(values))
	}
	for i, v := range values {
		r.sums[i] += v
	}
	r.n++
	r.pass(s, 1)
}

// skip takes some seconds without values.
func (r *ring) skip(s span, width int, seconds int64) {
	if r.sums == nil {
		r.sums = make([]float64, width)
	}
	most := int64(s.every) * int64(s.size+1) // nothing is left of what was before
	for seconds = min(seconds, most); seconds > 0; {
		step := min(seconds, int64(s.every-r.seconds))
		r.pass(s, int(step))
		seconds -= step
	}
}

// pass lets seconds pass, at most to the end of the interval.
func (r *ring) pass(s span, seconds int) {
	if r.seconds += seconds; r.seconds < s.every {
		return
	}
	full := len(r.points) >= s.size*len(r.sums)
	for i := range r.sums {
		mean := float32(math.NaN())
		if r.n > 0 {
			mean = float32(r.sums[i] / float64(r.n))
		}
		if full {
			r.points[r.next+i] = mean
		} else {
			r.points = append(r.points, mean)
		}
		r.sums[i] = 0
	}
	if full {
		r.next = (r.next + len(r.sums)) % len(r.points)
	}
	r.n, r.seconds = 0, 0
}

// values returns the i-th value over time, the oldest first.
func (r *ring) values(i int) []float64 {
	width := len(r.sums)
	if width == 0 {
		return nil
	}
	out := make([]float64, 0, len(r.points)/width)
	for at := range len(r.points) / width {
		out = append(out, float64(r.points[(r.next+at*width+i)%len(r.points)]))
	}
	return out
}

// A secondCount counts seconds, those included in which the process or the machine was suspended.
type secondCount struct {
	began  time.Time
	second int64
}

// tick returns the number of the present second, which is above that of the last call. A clock
// of the system that is set back is waited for.
func (c *secondCount) tick(now time.Time) int64 {
	now = now.Round(0) // the monotonic clock stands still while the machine is suspended
	if c.began.IsZero() {
		c.began = now
	}
	c.second = max(c.second+1, int64(math.Round(now.Sub(c.began).Seconds())))
	return c.second
}
