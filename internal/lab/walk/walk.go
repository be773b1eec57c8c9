// Package walk takes filters from one number of keys to another and looks at them on
// the way: what the experiments on kinds that grow have in common.
package walk

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// Keys are as many different ones as are wanted, found again by their number: fifty
// million of them need no memory. Strangers are never members.
type Keys struct{ hash filter.Hash }

// NewKeys returns keys that depend on the random source.
func NewKeys(r *rand.Rand) Keys { return KeysOf(filter.XXH3(r.Uint64())) }

// KeysOf returns the keys that a hash gives.
func KeysOf(h filter.Hash) Keys { return Keys{h} }

// Member returns the i-th key.
func (k Keys) Member(i int) filter.Key { return k.Key(uint64(i)) }

// Stranger returns the i-th of the keys that are not members.
func (k Keys) Stranger(i int) filter.Key { return k.Key(uint64(i) | 1<<63) }

// Key returns that of any number.
func (k Keys) Key(number uint64) filter.Key { return k.hash.Uint64(number) }

// Sizes returns numbers of keys at equal ratios.
func Sizes(from, to, count int) []int {
	all := make([]int, count)
	ratio := float64(to) / float64(from)
	for i := range all {
		all[i] = int(math.Round(float64(from) * math.Pow(ratio, float64(i)/float64(count-1))))
	}
	return all
}

// A Look is what a filter with some number of keys was like.
type Look struct {
	Keys       int
	Fast, Slow float64 // bits per key
	Says       float64 // the rate by Info
	Most       float64 // all bits per key, at most since the look before

	Yes    float64 // share of the strangers that got one
	Denied float64 // share of the members that got a no
}

// All is all memory, in bits per key.
func (l Look) All() float64 { return l.Fast + l.Slow }

// A Walker changes a filter in the order of its keys' numbers: members are those from
// First to before Next.
type Walker struct {
	F           filter.Filter
	Keys        Keys
	First, Next int

	asked int // strangers so far: each look asks others
}

// Len is the number of members.
func (w *Walker) Len() int { return w.Next - w.First }

// To adds keys, or deletes the oldest, until there are n.
func (w *Walker) To(n int) error {
	for ; w.Len() < n; w.Next++ {
		if _, err := w.F.Add(w.Keys.Member(w.Next)); err != nil {
			return err
		}
	}
	for ; w.Len() > n; w.First++ {
		if err := filter.Delete(w.F, w.Keys.Member(w.First)); err != nil {
			return err
		}
	}
	return nil
}

// Look asks about so many strangers that no other look asked about, and about as many
// members.
func (w *Walker) Look(queries int) Look {
	l := w.glance()
	yes := 0
	for range queries {
		if w.F.MayContain(w.Keys.Stranger(w.asked)) {
			yes++
		}
		w.asked++
	}
	members := min(queries, w.Len())
	l.Yes, l.Denied = share(yes, queries), share(w.Denied(members), members)
	return l
}

func share(part, of int) float64 { return float64(part) / float64(max(of, 1)) }

// glance looks at the memory.
func (w *Walker) glance() Look {
	info, n := w.F.Info(), float64(w.Len())
	l := Look{Keys: w.Len(), Fast: float64(info.FastBits) / n, Slow: float64(info.SlowBits) / n, Says: info.FPR}
	l.Most = l.All()
	return l
}

// Denied asks about so many members, evenly from the oldest to the youngest, and counts
// those that get a no.
func (w *Walker) Denied(count int) (denied int) {
	for i := range count {
		if !w.F.MayContain(w.Keys.Member(w.First + int(float64(w.Len())*float64(i)/float64(count)))) {
			denied++
		}
	}
	return denied
}

// between is how often the memory is looked at from one size to the next.
const between = 4

// Through visits all sizes and returns a look at each. Between them it watches the
// memory, whose peaks are short.
func (w *Walker) Through(ctx context.Context, sizes []int, queries int) ([]Look, error) {
	looks := make([]Look, 0, len(sizes))
	for _, n := range sizes {
		from, most := w.Len(), 0.0
		for i := 1; i <= between; i++ {
			if err := w.To(from + (n-from)*i/between); err != nil {
				return nil, err
			}
			if len(looks) > 0 {
				most = max(most, w.glance().Most)
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		l := w.Look(queries)
		l.Most = max(l.Most, most)
		looks = append(looks, l)
	}
	return looks, nil
}

// MetricsOf are the metrics of looks that are part of something: shares of so many queries.
func MetricsOf[T any](queries int, look func(T) Look) []lab.Metric[T] {
	metric := func(name string, unit lab.Unit, of func(l Look) float64) lab.Metric[T] {
		return lab.Metric[T]{Name: name, Unit: unit, Of: func(t T) float64 { return of(look(t)) }}
	}
	rate := metric("rate", lab.InPercent, func(l Look) float64 { return l.Yes })
	rate.Asked = lab.Each(queries)
	return []lab.Metric[T]{
		metric("fast bits per key", lab.Plain, func(l Look) float64 { return l.Fast }),
		metric("slow bits per key", lab.Plain, func(l Look) float64 { return l.Slow }),
		metric("bits per key", lab.Plain, Look.All),
		rate,
		metric("rate by Info", lab.InPercent, func(l Look) float64 { return l.Says }),
		metric("false negatives", lab.InPercent, func(l Look) float64 { return l.Denied }),
	}
}

// Strides are laps of one name through n operations, so many at a time.
func Strides(name string, n, stride int, do func(i int) error) (laps []lab.Lap) {
	for start := 0; start < n; start += stride {
		end := min(start+stride, n)
		laps = append(laps, lab.Lap{Name: name, Ops: end - start, Run: func() error {
			for i := start; i < end; i++ {
				if err := do(i); err != nil {
					return err
				}
			}
			return nil
		}})
	}
	return laps
}

// ThereOrBack visits sizes in rising order, or, after growing to the last, on the way
// back. Looks are in the order of the sizes.
func ThereOrBack(ctx context.Context, w *Walker, sizes []int, queries int, back bool) ([]Look, error) {
	if !back {
		return w.Through(ctx, sizes, queries)
	}
	if _, err := w.Through(ctx, sizes[len(sizes)-1:], 0); err != nil {
		return nil, err
	}
	falling := slices.Clone(sizes)
	slices.Reverse(falling)
	looks, err := w.Through(ctx, falling, queries)
	slices.Reverse(looks)
	return looks, err
}
