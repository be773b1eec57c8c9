package main

import (
	"fmt"
	"sync"

	"github.com/everbloom-go/everbloom/internal/timing"
)

// sharers are the contenders that goroutines may share for reading and writing, for
// -shared, the one to compare with last. The spinning one only hashes its keys: if two
// of its goroutines are not nearly twice as fast as one, the machine has not two free
// processors, and no other figure for two means anything.
var sharers = []string{spinning, "everbloom Set", "everbloom Set, 16 shards", "blobloom Sync"}

const spinning = "spinning"

// workloads say what each goroutine does with a set that is half full: of ten
// operations so many add a new key, the others ask for keys, present and absent.
var workloads = []struct {
	name string
	adds int
}{{"reads", 0}, {"90/10", 1}}

// work names a workload of so many goroutines.
func work(workload string, goroutines int) string {
	return fmt.Sprintf("%s by %d", workload, goroutines)
}

// runShared measures the contenders in turns and writes a table.
func runShared(o options, out *printer) error {
	w := request{n: o.n[0], fpr: o.fprs[0], size: o.sizes[0]}
	keys, rounds := newSharedKeys(w, o.seed), timing.Rounds{}
	for range o.rounds {
		turns := timing.NewTurns(timing.Wall)
		for _, l := range workloads {
			for _, name := range sharers {
				for goroutines := 1; goroutines <= 2; goroutines++ {
					s, err := buildShared(name, w)
					if err != nil {
						return err
					}
					s.add(keys.first)
					share := keys.later.len() / goroutines
					turns.Time(timing.Lap{name, work(l.name, goroutines)}, 10*share*goroutines, func() {
						keys.use(s, goroutines, share, l.adds)
					})
				}
			}
		}
		rounds.Add(turns)
	}
	writeShared(out, w, o.rounds, rounds)
	return nil
}

func buildShared(name string, w request) (set, error) {
	if name == spinning {
		spin := func(b block) int { return count(b, func(k []byte) bool { return keyOf(k)&1023 == 0 }) }
		return set{add: spin, has: spin}, nil
	}
	c, err := byName(contenders(), name)
	if err != nil {
		return set{}, err
	}
	return c.build(w)
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

// use lets goroutines share a set. There are ten operations for each key that may be added.
func (k sharedKeys) use(s set, goroutines, share, adds int) {
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			at := 0
			for i := g * share; i < (g+1)*share; i++ {
				if at += 10; at+10 > k.hits.len() {
					at = 0
				}
				s.add(k.later.slice(i, i+adds))
				s.has(k.hits.slice(at, at+5))
				s.has(k.misses.slice(at, at+5-adds))
			}
		})
	}
	wg.Wait()
}

func writeShared(out *printer, w request, rounds int, times timing.Rounds) {
	last := sharers[len(sharers)-1]
	t := table{rows: [][]string{{"contender", "work", "M/s by 1", "M/s by 2", "2 against 1", "by 1 against " + last, "by 2"}}}
	for _, l := range workloads {
		one, two := work(l.name, 1), work(l.name, 2)
		for _, name := range sharers {
			twice := timing.Ratio(times[timing.Lap{name, one}], times[timing.Lap{name, two}])
			t.row(name, l.name, fmt.Sprintf("%.1f", 1e3/times.Nanos(name, one)), fmt.Sprintf("%.1f", 1e3/times.Nanos(name, two)),
				fmt.Sprintf("%.2f×", twice), fmt.Sprintf("%.2f×", times.Speedup(name, last, one)), fmt.Sprintf("%.2f×", times.Speedup(name, last, two)))
		}
	}
	out.printf("## A set shared by goroutines\n\n%d keys of %d bytes, asked %g, %d rounds; operations per second, medians.\n\n", w.n, w.size, w.fpr, rounds)
	t.writeTo(out)
}
