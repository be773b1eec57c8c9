package perennial

import (
	"math/bits"
	"unsafe"

	"github.com/everbloom-go/everbloom/filter"
	cache "github.com/everbloom-go/everbloom/internal/line"
)

// stride is how many keys of a batch are under way together: enough to keep the memory
// busy, few enough to stay in the first cache.
const stride = 16

// MayContainBatch answers MayContain(keys[i]) in out[i]. It panics if out is shorter than
// keys.
func (f *Filter) MayContainBatch(keys []filter.Key, out []bool) {
	out = out[:len(keys):len(out)]
	r := f.ring.Load()
	var room [stride]pending
	for len(keys) > 0 {
		n := min(stride, len(keys))
		unknown := ^uint64(0)
		if r.kernel {
			unknown = ringHasBatch(r, &keys[0], n, &out[0], &room)
		}
		for unknown &= 1<<n - 1; unknown != 0; unknown &= unknown - 1 {
			i := bits.TrailingZeros64(unknown)
			out[i] = r.look(keys[i])
		}
		keys, out = keys[n:], out[n:]
	}
}

// AddBatch adds the keys in order.
func (f *Filter) AddBatch(keys []filter.Key) (done, added int, err error) {
	r := f.ring.Load()
	for i, k := range keys {
		if i%stride == 0 {
			r.touch(keys[i:min(i+stride, len(keys))])
		}
		isNew, err := r.add(k)
		if err != nil {
			return done, added, err
		}
		done++
		if isNew {
			added++
		}
	}
	return done, added, nil
}

// PrefetchAdd brings the lines of the keys into the cache.
func (f *Filter) PrefetchAdd(keys []filter.Key) { f.ring.Load().touch(keys) }

// PrefetchDelete brings the lines of the keys into the cache.
func (f *Filter) PrefetchDelete(keys []filter.Key) { f.ring.Load().touch(keys) }

// touch asks for the line of each key.
func (r *ring) touch(keys []filter.Key) {
	if r.kernel && len(keys) > 0 {
		ringPrefetch(r, &keys[0], len(keys))
	}
}

// prefetchFrom is the number of lines from which a change asks for memory ahead: the
// second cache does not hold more.
const prefetchFrom = 1 << 14

func prefetch(l *line) { cache.Prefetch(unsafe.Pointer(l)) }

// prefetchBehind asks for the line behind p, which a change of that line often needs, if it
// is of the same group.
func (r *ring) prefetchBehind(p place) {
	if p.row+1 < p.lines && r.layout.total >= prefetchFrom {
		p.row++
		prefetch(r.at(p.index()))
	}
}

// prefetchGroup asks for all lines of a group and the first behind it.
func (r *ring) prefetchGroup(g uint64) {
	if r.layout.total < prefetchFrom {
		return
	}
	p := r.layout.groupOf(g)
	for range r.layout.lines + 2 {
		prefetch(r.at(p.index()))
		p = r.layout.after(p)
	}
}
