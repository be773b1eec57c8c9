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

func newQuick(f *Filter) quick {
	q := quick{
		mixer: f.mixer, space: f.space, mask: f.mask, shift: f.remainder,
		first: &f.twins[0], stride: 16 * f.buckets, low: [2]uint64{f.low, f.low},
	}
	for i := range q.paths {
		q.paths[i] = f.paths[i+1].forth
	}
	if f.subtables == 4 {
		q.four = 1
	}
	return q
}
