package sum

import (
	"fmt"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// constantTime compares a no of the smallest filter with one of the largest. It is
// shown only: what a read of memory takes depends on the caches that it misses.
func constantTime(first, last rivalry) lab.Check {
	return lab.Show(fmt.Sprintf("constant time: a no with %d and with %d keys (timing)", first.n, last.n),
		fmt.Sprintf("filter %.0f and %.0f ns, at most as many reads in both; set %.0f and %.0f ns", first.filterMiss, last.filterMiss, first.setMiss, last.setMiss))
}

// counterCost times filling a filter of counters, and one of bits with as many
// positions and hashes.
func counterCost(e *lab.Env) (lab.Check, error) {
	n := slices.Min(e.Ints("keys"))
	s, err := bloom.Config{Items: uint64(n), FPR: e.Float("rate")}.Shape()
	if err != nil {
		return lab.Check{}, err
	}
	plain, err := bloom.Build(s)
	if err != nil {
		return lab.Check{}, err
	}
	counters, err := counting.Build(counting.Shape{Counters: s.Bits, Hashes: s.Hashes, CounterBits: 4})
	if err != nil {
		return lab.Check{}, err
	}
	keys := lab.RandomKeys(e.Rand(2), n)
	list := []contest{{run: adding(plain, keys)}, {run: adding(counters, keys)}}
	timeRounds(list, e.Int("rounds"))
	return costOf(list[0].median()/float64(n), list[1].median()/float64(n)), nil
}

// adding is a round that adds the keys; from the second one on they are there.
func adding(f filter.Filter, keys []filter.Key) func() uint64 {
	return func() (added uint64) {
		for _, k := range keys {
			if ok, err := f.Add(k); ok && err == nil {
				added++
			}
		}
		return added
	}
}

func costOf(bits, counters float64) lab.Check {
	return lab.Holds("time to add, counters to bits (timing)", "counters come at the cost of increased computational complexity (Implementation)",
		fmt.Sprintf("%.1f and %.1f ns: %.2f times", counters, bits, counters/bits), counters > bits, "direction only").Timed()
}
