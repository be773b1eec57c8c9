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
// million of them need no memory. No key is both present and absent.
type Keys struct{ hash filter.Hash }

// NewKeys returns keys that depend on the random source.
func NewKeys(r *rand.Rand) Keys { return KeysOf(filter.XXH3(r.Uint64())) }

// KeysOf returns the keys that a hash gives.
func KeysOf(h filter.Hash) Keys { return Keys{h} }

// Present returns the i-th of the keys that are put into filters.
func (k Keys) Present(i int) filter.Key { return k.Key(uint64(i)) }

// Absent returns the i-th of the keys that never are.
func (k Keys) Absent(i int) filter.Key { return k.Key(uint64(i) | 1<<63) }

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

	Yes    float64 // share of the absent keys that got one
	Denied float64 // share of the present keys that got a no
}

// All is all memory, in bits per key.
func (l Look) All() float64 { return l.Fast + l.Slow }

// Through takes an empty filter to all sizes, which rise, and returns a look at each;
// with back it grows to the last one first, and the looks are those on the way back.
// Each look asks about so many absent keys that no other asked about, and about as many
// present ones. Between two looks the memory is watched: its peaks are short.
func Through(ctx context.Context, f filter.Filter, keys Keys, sizes []int, queries int, back bool) ([]Look, error) {
	w := walker{f: f, keys: keys}
	if back {
		if err := w.to(sizes[len(sizes)-1]); err != nil {
			return nil, err
		}
		sizes = slices.Clone(sizes)
		slices.Reverse(sizes)
	}
	looks := make([]Look, 0, len(sizes))
	for _, n := range sizes {
		const between = 4 // looks at the memory
		from, most := w.len(), 0.0
		for i := 1; i <= between; i++ {
			if err := w.to(from + (n-from)*i/between); err != nil {
				return nil, err
			}
			if len(looks) > 0 {
				most = max(most, w.memory().Most)
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		l := w.look(queries)
		l.Most = max(l.Most, most)
		looks = append(looks, l)
	}
	if back {
		slices.Reverse(looks)
	}
	return looks, nil
}

// A walker changes a filter in the order of its keys' numbers: present are those from
// first to before next.
type walker struct {
	f           filter.Filter
	keys        Keys
	first, next int
	asked       int // absent keys so far
}

func (w *walker) len() int { return w.next - w.first }

// to adds keys, or deletes the oldest, until there are n.
func (w *walker) to(n int) error {
	for ; w.len() < n; w.next++ {
		if _, err := w.f.Add(w.keys.Present(w.next)); err != nil {
			return err
		}
	}
	for ; w.len() > n; w.first++ {
		if err := filter.Delete(w.f, w.keys.Present(w.first)); err != nil {
			return err
		}
	}
	return nil
}

// memory is a look without questions.
func (w *walker) memory() Look {
	info, n := w.f.Info(), float64(w.len())
	l := Look{Keys: w.len(), Fast: float64(info.FastBits) / n, Slow: float64(info.SlowBits) / n, Says: info.FPR}
	l.Most = l.All()
	return l
}

func (w *walker) look(queries int) Look {
	l := w.memory()
	for range queries {
		l.Yes += lab.OneIf(w.f.MayContain(w.keys.Absent(w.asked)))
		w.asked++
	}
	present := min(queries, w.len()) // evenly from the oldest to the youngest
	for i := range present {
		at := w.first + int(float64(w.len())*float64(i)/float64(present))
		l.Denied += lab.OneIf(!w.f.MayContain(w.keys.Present(at)))
	}
	l.Yes, l.Denied = l.Yes/float64(max(1, queries)), l.Denied/float64(max(1, present))
	return l
}

// Figures are those of [Metrics].
func (l Look) Figures() lab.Figures {
	return lab.Figures{"fast bits per key": l.Fast, "slow bits per key": l.Slow, "bits per key": l.All(), "rate": l.Yes, "rate by Info": l.Says, "false negatives": l.Denied}
}

// Metrics are those of looks with so many queries.
func Metrics(queries int) []lab.Metric {
	return []lab.Metric{
		{Name: "fast bits per key"},
		{Name: "slow bits per key"},
		{Name: "bits per key"},
		{Name: "rate", Unit: lab.InPercent, Asked: lab.Each(queries)},
		{Name: "rate by Info", Unit: lab.InPercent},
		{Name: "false negatives", Unit: lab.InPercent},
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

// Replace fills f with the keys and replaces them: each step deletes a random key and adds
// a new one. After each of some numbers of turnovers look is told which keys were deleted.
// A key that f refuses to delete counts as deleted, too.
func Replace(f filter.Deleter, keys []filter.Key, turnovers []float64, r *rand.Rand, look func(gone []filter.Key) error) error {
	if _, _, err := filter.AddBatch(f, keys); err != nil {
		return err
	}
	var gone []filter.Key
	for _, until := range turnovers {
		for float64(len(gone)) < until*float64(len(keys)) {
			i := r.IntN(len(keys))
			_ = f.Delete(keys[i])
			gone = append(gone, keys[i])
			keys[i] = filter.Key(r.Uint64())
			if _, err := f.Add(keys[i]); err != nil {
				return err
			}
		}
		if err := look(gone); err != nil {
			return err
		}
	}
	return nil
}
