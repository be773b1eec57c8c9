package compare

import (
	"errors"
	"runtime"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

// An entrant is a kind, or a variant that the table of kinds does not have.
type entrant struct {
	name    string
	kind    kinds.Kind
	make    func(n uint64, rate float64) (filter.Filter, error)
	predict func(n uint64, rate float64) (filter.Prediction, error)
}

// entrants are all kinds, each made for the number of keys it will have, and
// evergreen with shorter fingerprints.
func entrants() []entrant {
	var all []entrant
	for _, k := range kinds.All() {
		all = append(all, entrant{
			name: k.Name, kind: k,
			make: func(n uint64, rate float64) (filter.Filter, error) {
				return k.New(kinds.Config{Items: n, FPR: rate})
			},
			predict: func(n uint64, rate float64) (filter.Prediction, error) {
				return k.Predict(kinds.Config{Items: n, FPR: rate}, n)
			},
		})
	}
	return append(all, compactEvergreen(all))
}

// compactName is that of evergreen with fingerprints of 32 bits.
const compactName = "evergreen, 32 bits"

func compactEvergreen(all []entrant) entrant {
	i := slices.IndexFunc(all, func(e entrant) bool { return e.name == "evergreen" })
	e := all[i]
	e.name = compactName
	e.make = func(n uint64, rate float64) (filter.Filter, error) {
		return evergreen.New(evergreen.Config{FPR: rate, Width: 32, Items: n})
	}
	e.predict = func(n uint64, rate float64) (filter.Prediction, error) {
		return evergreen.Config{FPR: rate, Width: 32}.Predict(n)
	}
	return e
}

// names are those of the entrants.
func names(list []entrant) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = x.name
	}
	return out
}

// exactName is that of the entrant that has no false positives.
const exactName = "exact: Go map"

// exact is a map of keys, the plainest exact set in Go.
type exact struct{ keys map[filter.Key]struct{} }

func (x exact) Add(k filter.Key) (bool, error) {
	_, there := x.keys[k]
	x.keys[k] = struct{}{}
	return !there, nil
}

func (x exact) MayContain(k filter.Key) bool { _, there := x.keys[k]; return there }

func (x exact) Info() filter.Info { return filter.Info{Kind: "exact", Keys: uint64(len(x.keys))} }

func (x exact) Delete(k filter.Key) error {
	if _, there := x.keys[k]; !there {
		return filter.ErrNotFound
	}
	delete(x.keys, k)
	return nil
}

// exactBits is what a map of n keys that grew takes on the heap, in bits per key: the median
// of five, since other experiments allocate and free meanwhile.
func exactBits(k walk.Keys, n int) float64 {
	var bits [5]float64
	for round := range bits {
		before := liveHeap()
		x := exact{map[filter.Key]struct{}{}}
		for i := range n {
			_, _ = x.Add(k.Member(i)) // maps never refuse
		}
		bits[round] = 8 * (liveHeap() - before) / float64(n)
		runtime.KeepAlive(x)
	}
	slices.Sort(bits[:])
	return bits[len(bits)/2]
}

// liveHeap returns how much is allocated. What has a cleanup is freed by the second collection.
func liveHeap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// fill adds members from first on, and returns how many were refused for want of room.
func fill(f filter.Filter, k walk.Keys, first, count int) (refused int, err error) {
	for i := range count {
		if _, err := f.Add(k.Member(first + i)); err != nil {
			if !errors.Is(err, filter.ErrFull) {
				return refused, err
			}
			refused++
		}
	}
	return refused, nil
}

// denied counts members that get a no.
func denied(f filter.Filter, k walk.Keys, first, count int) (n int) {
	for i := range count {
		if !f.MayContain(k.Member(first + i)) {
			n++
		}
	}
	return n
}

// yeses counts strangers that get a yes.
func yeses(f filter.Filter, k walk.Keys, count int) (n int) {
	for i := range count {
		if f.MayContain(k.Stranger(i)) {
			n++
		}
	}
	return n
}
