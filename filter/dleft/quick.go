package dleft

import "github.com/everbloom-go/everbloom/internal/probe"

// A quick is what asking for a key needs to know of a filter with three or four
// subtables of twin buckets, side by side, in the order of its use by
// quick_amd64.s.
type quick struct {
	mixer  probe.Mixer
	space  uint64
	mask   uint64 // of a remainder
	shift  uint64 // bits of a remainder
	first  *[2]uint64
	stride uint64 // bytes of a subtable
	low    [2]uint64
	paths  [3]factor // those after the first
	four   uint64    // 1 if there are four subtables
}

func newQuick(c *store) quick {
	q := quick{
		mixer: c.mixer, space: c.space, mask: c.mask, shift: c.remainder,
		first: &c.twins[0], stride: 16 * c.buckets, low: [2]uint64{c.low, c.low},
	}
	for i := range q.paths {
		q.paths[i] = c.paths[i+1].forth
	}
	if c.subtables == 4 {
		q.four = 1
	}
	return q
}
