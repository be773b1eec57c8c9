package evergreen

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
)

// keys are as many different ones as are wanted, found again by their number:
// fifty million of them need no memory. Strangers are never members.
type keys struct{ hash filter.Hash }

func newKeys(r *rand.Rand) keys { return keys{filter.XXH3(r.Uint64())} }

func (k keys) member(i int) filter.Key { return k.hash.Uint64(uint64(i)) }

func (k keys) stranger(i int) filter.Key { return k.hash.Uint64(uint64(i) | 1<<63) }

// sizes returns numbers of keys at equal ratios.
func sizes(from, to, count int) []int {
	all := make([]int, count)
	ratio := float64(to) / float64(from)
	for i := range all {
		all[i] = int(math.Round(float64(from) * math.Pow(ratio, float64(i)/float64(count-1))))
	}
	return all
}

// A look is what a filter with some number of keys was like.
type look struct {
	keys   int
	fast   float64 // bits per key
	slow   float64
	says   float64 // the rate by the filter itself
	blocks uint64

	// Of a look at answers, not only at memory.
	yes, asked int // strangers
	denied     int // members that got a no
}

// A walker changes a filter in the order of its keys' numbers: members are those
// from first to before next.
type walker struct {
	f           *evergreen.Filter
	keys        keys
	first, next int
	asked       int // strangers so far: each look asks others
}

func (w *walker) len() int { return w.next - w.first }

func (w *walker) grow(to int) error {
	for ; w.len() < to; w.next++ {
		if _, err := w.f.Add(w.keys.member(w.next)); err != nil {
			return err
		}
	}
	return nil
}

// shrink deletes the oldest first.
func (w *walker) shrink(to int) error {
	for ; w.len() > to; w.first++ {
		if err := w.f.Delete(w.keys.member(w.first)); err != nil {
			return err
		}
	}
	return nil
}

// glance looks at the memory.
func (w *walker) glance() look {
	info, n := w.f.Info(), float64(w.len())
	return look{
		keys: w.len(), fast: float64(info.FastBits) / n, slow: float64(info.SlowBits) / n,
		says: info.FPR, blocks: w.f.Blocks(),
	}
}

// look also asks about strangers, and about as many members.
func (w *walker) look(queries int) look {
	l := w.glance()
	l.asked = queries
	for range queries {
		if w.f.MayContain(w.keys.stranger(w.asked)) {
			l.yes++
		}
		w.asked++
	}
	l.denied = w.denied(min(queries, w.len()))
	return l
}

// denied asks about so many members, evenly from the oldest to the youngest.
func (w *walker) denied(count int) (denied int) {
	for i := range count {
		if !w.f.MayContain(w.keys.member(w.first + int(float64(w.len())*float64(i)/float64(count)))) {
			denied++
		}
	}
	return denied
}

// fine is how much sizes grow from one glance to the next.
const fine = 1.01

// up grows a filter through the sizes. It returns a look at each and a glance
// every hundredth of the way.
func (w *walker) up(ctx context.Context, sizes []int, queries int) (looks, glances []look, err error) {
	at := float64(sizes[0])
	for _, n := range sizes {
		for ; at < float64(n); at *= fine {
			if err := w.grow(int(at)); err != nil {
				return nil, nil, err
			}
			glances = append(glances, w.glance())
		}
		if err := w.grow(n); err != nil {
			return nil, nil, err
		}
		looks = append(looks, w.look(queries))
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
	}
	return looks, glances, nil
}
