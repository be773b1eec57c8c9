package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/everbloom-go/everbloom/internal/timing"
)

// sharers are the contenders that goroutines may share for reading and writing, for
// -shared, the one to compare with last. The spinning one only hashes its keys: if two
// of its goroutines are not nearly twice as fast as one, the machine has not two free
// processors, and no other figure for two means anything.
var sharers = []string{spinning, "everbloom Set", "everbloom Set, 16 shards", "blobloom Sync"}

const spinning = "spinning"

// A workload is what each goroutine does with a set that is half full: of ten
// operations so many add a new key, the others ask for keys, present and absent.
type workload struct {
	name string
	adds int
}

var workloads = []workload{{"reads", 0}, {"90/10", 1}}

// A sharing is how one contender does: operations per second by workload and goroutines.
type sharing struct {
	name  string
	build func(request) (set, error)
	rates map[string][]float64
}

func (l workload) by(goroutines int) string { return fmt.Sprintf("%s by %d", l.name, goroutines) }

// runShared measures the contenders in turns and writes a table.
func runShared(o options, out *printer) error {
	w := request{n: o.n[0], fpr: o.fprs[0], size: o.sizes[0]}
	all := make([]*sharing, len(sharers))
	for i, name := range sharers {
		all[i] = &sharing{name: name, build: newSpinning, rates: map[string][]float64{}}
		if c, err := byName(contenders(), name); err == nil {
			all[i].build = c.build
		}
	}
	keys := newSharedKeys(w, o.seed)
	for range o.rounds {
		for _, l := range workloads {
			for _, s := range all {
				if err := s.work(w, keys, l); err != nil {
					return err
				}
			}
		}
	}
	writeShared(out, w, o.rounds, all)
	return nil
}

func newSpinning(request) (set, error) {
	spin := func(b block) int { return count(b, func(k []byte) bool { return keyOf(k)&1023 == 0 }) }
	return set{add: spin, has: spin}, nil
}

// sharedKeys are keys that are present from the start, keys to add, and queries.
type sharedKeys struct{ first, later, hits, misses block }

func newSharedKeys(w request, seed uint64) sharedKeys {
	half := keyspace{n: w.n / 2, size: w.size, seed: seed}
	k := sharedKeys{
		newBlock(int(w.n/2), w.size), newBlock(int(w.n/2), w.size),
		newBlock(1<<16, w.size), newBlock(1<<16, w.size),
	}
	half.present(k.first, newOrder(half.n, 1))
	i := w.n
	half.number(k.later, func() uint64 { i++; return i })
	half.hits(k.hits, 1)
	half.misses(k.misses, 2)
	return k
}

// work measures a workload with one goroutine and with two.
func (s *sharing) work(w request, keys sharedKeys, l workload) error {
	for goroutines := 1; goroutines <= 2; goroutines++ {
		rate, err := s.workBy(goroutines, w, keys, l)
		if err != nil {
			return err
		}
		s.rates[l.by(goroutines)] = append(s.rates[l.by(goroutines)], rate)
	}
	return nil
}

// workBy fills a new set by half, lets goroutines share the rest of the work, and
// returns operations per second. There are ten operations for each key that may be
// added.
func (s *sharing) workBy(goroutines int, w request, keys sharedKeys, l workload) (float64, error) {
	set, err := s.build(w)
	if err != nil {
		return 0, err
	}
	set.add(keys.first)
	var wg sync.WaitGroup
	share := keys.later.len() / goroutines
	start := time.Now()
	for g := range goroutines {
		wg.Go(func() {
			at := 0
			for i := g * share; i < (g+1)*share; i++ {
				if at += 10; at+10 > keys.hits.len() {
					at = 0
				}
				set.add(keys.later.slice(i, i+l.adds))
				set.has(keys.hits.slice(at, at+5))
				set.has(keys.misses.slice(at, at+5-l.adds))
			}
		})
	}
	wg.Wait()
	return float64(10*share*goroutines) / time.Since(start).Seconds(), nil
}

func writeShared(out *printer, w request, rounds int, all []*sharing) {
	last := all[len(all)-1]
	t := table{rows: [][]string{{"contender", "work", "M/s by 1", "M/s by 2", "2 against 1", "by 1 against " + last.name, "by 2"}}}
	for _, l := range workloads {
		for _, s := range all {
			one, two := s.rates[l.by(1)], s.rates[l.by(2)]
			t.row(s.name, l.name, fmt.Sprintf("%.1f", timing.Median(one)/1e6), fmt.Sprintf("%.1f", timing.Median(two)/1e6), times(timing.Ratio(two, one)),
				times(timing.Ratio(one, last.rates[l.by(1)])), times(timing.Ratio(two, last.rates[l.by(2)])))
		}
	}
	out.printf("## A set shared by goroutines\n\n%d keys of %d bytes, asked %g, %d rounds; operations per second, medians.\n\n", w.n, w.size, w.fpr, rounds)
	t.writeTo(out)
}

func times(r float64) string { return fmt.Sprintf("%.2f×", r) }
