package partition

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"unsafe"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// The experiments of [DPBF19] and those about its promises. By default they are
// short; the variable EVERBLOOM_TRIALS asks for so many merges of sets of up to a
// million ids, and for sets of up to ten million.

// trials returns how many merges were asked for, 0 if none.
func trials(tb testing.TB) int {
	tb.Helper()
	text := os.Getenv("EVERBLOOM_TRIALS")
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		tb.Fatalf("EVERBLOOM_TRIALS=%q: not a number of trials", text)
	}
	return n
}

// A population is a way in which n ids lie in a universe of 2^32: it gives those
// that are in the set and, near them, as many as one likes that are not.
type population struct {
	name            string
	present, absent func(n, i uint64) filter.Key
	absentees       func(n uint64) uint64 // how many different ones are near
}

var populations = []population{
	{
		"uniform",
		func(_, i uint64) filter.Key { return filtertest.Stream{Seed: 1, Bits: 32}.Present(i) },
		func(_, i uint64) filter.Key { return filtertest.Stream{Seed: 1, Bits: 32}.Absent(i) },
		func(uint64) uint64 { return 1 << 31 },
	},
	// Twenty ranges, of which one id in four to eight is taken.
	{
		"clusters",
		func(n, i uint64) filter.Key { return cluster(n, i, filtertest.Stream.Present) },
		func(n, i uint64) filter.Key { return cluster(n, i, filtertest.Stream.Absent) },
		func(n uint64) uint64 { return 20 << (clusterBits(n) - 1) },
	},
	// Runs of a thousand neighbours; what is asked for follows a run at once.
	{
		"runs",
		func(_, i uint64) filter.Key { return run(i/1000, i%1000) },
		func(n, i uint64) filter.Key { return run(i%max(1, n/1000), 1000+i/max(1, n/1000)%3000) },
		func(n uint64) uint64 { return max(1, n/1000) * 3000 },
	},
}

func cluster(n, i uint64, key func(filtertest.Stream, uint64) filter.Key) filter.Key {
	return filter.Key(i%20*(1<<32/20)) + key(filtertest.Stream{Bits: clusterBits(n)}, i/20)
}

func clusterBits(n uint64) int { return bits.Len64(n/20) + 2 }

// run returns the i-th id of a run; the runs begin 4096 apart or more.
func run(number, i uint64) filter.Key {
	return filtertest.Stream{Bits: 20}.Present(number)<<12 + filter.Key(i)
}

// populate returns a filter of n ids, for a rate of 1e-4.
func (p population) populate(tb testing.TB, n uint64) *Filter {
	tb.Helper()
	f := filtertest.Make(tb, New, Config{FPR: 1e-4, Universe: 1 << 32})
	for i := range n {
		add(tb, f, uint64(p.present(n, i)))
	}
	if f.Len() != n {
		tb.Fatalf("%s: %d ids, want %d", p.name, f.Len(), n)
	}
	return f
}

// sizes are the numbers of ids of [DPBF19] Figure 1, or the smaller ones.
func sizes(tb testing.TB) []uint64 {
	tb.Helper()
	switch {
	case trials(tb) > 0:
		return []uint64{100, 1000, 10_000, 100_000, 1_000_000, 10_000_000}
	case effort.Brief():
		return []uint64{100, 3000}
	}
	return []uint64{100, 1000, 10_000, 100_000}
}

// TestRateHoldsAtEverySize is [DPBF19] Figure 1, and the same for ids that are not
// spread evenly, asked for their neighbours. A list of units of the same size would
// have the rate of Theorem A.1, which is logged beside it.
func TestRateHoldsAtEverySize(t *testing.T) {
	const f = 1e-4
	probes := uint64(200_000)
	if effort.UnderRace {
		probes = 20_000
	}
	if trials(t) > 0 {
		probes = 4_000_000
	}
	for _, p := range populations {
		for _, n := range sizes(t) {
			g := p.populate(t, n)
			for i := range n {
				if !g.MayContain(p.present(n, i)) {
					t.Fatalf("%s, %d ids: number %d is denied", p.name, n, i)
				}
			}
			hits, probes := 0.0, min(probes, p.absentees(n))
			for i := range probes {
				if g.MayContain(p.absent(n, i)) {
					hits++
				}
			}
			alpha := math.Floor(float64(n) / UnitPopulation(float64(g.bits), float64(g.hashes), f))
			t.Logf("%s, %d ids: rate %.2g of %d, Info %.2g; a list of units at least %.2g",
				p.name, n, hits/float64(probes), probes, g.Info().FPR, -math.Expm1(alpha*math.Log1p(-f)))
			if _, most := theory.BinomialInterval(float64(probes), f, 4); hits > most {
				t.Errorf("%s, %d ids: %.0f false positives of %d, want %.0f at most", p.name, n, hits, probes, most)
			}
			if info := g.Info(); info.FPR > f {
				t.Errorf("%s, %d ids: Info tells a rate of %g", p.name, n, info.FPR)
			}
		}
	}
}

// TestMemoryIsInBounds: evenly spread ids take at most four times the bits of a
// plain filter for the same rate, and ids that lie together no more than the
// paper's layout.
func TestMemoryIsInBounds(t *testing.T) {
	for _, p := range populations {
		for _, n := range sizes(t) {
			f := p.populate(t, n)
			info := f.Info()
			plain := theory.BloomBits(float64(n), 1e-4)
			ours := float64(info.FastBits + info.SlowBits)
			paper := float64(f.PaperBits())
			t.Logf("%s, %d ids: %.1f fast + %.1f slow bits per key, %.2f times a plain filter; the paper's layout %.1f",
				p.name, n, float64(info.FastBits)/float64(n), float64(info.SlowBits)/float64(n), ours/plain, paper/float64(n))
			if n >= 10_000 && ours > 4*plain {
				t.Errorf("%s, %d ids: %.2f times the bits of a plain filter", p.name, n, ours/plain)
			}
			// Two words of the walk and a leaf's entry are more than the paper counts.
			if ours > 1.02*paper+10_000 {
				t.Errorf("%s, %d ids: %.0f bits, the paper's layout has %.0f", p.name, n, ours, paper)
			}
		}
	}
	// The entries are counted by a constant, so that files do not depend on the machine.
	if size := unsafe.Sizeof(leaf{}); 8*size > leafBits {
		t.Errorf("an entry of a leaf has %d bits, counted as %d", 8*size, leafBits)
	}
}

// TestAlignedRunsAreNoWorseThanThePaper has the sets for which the paper's layout is
// at its best: every populated unit is full, or nearly, or two of them share a leaf.
func TestAlignedRunsAreNoWorseThanThePaper(t *testing.T) {
	effort.OneGoroutine(t)
	for _, n := range []uint64{1024, 1000, 900, 700, 512, 340, 100} {
		for _, units := range []uint64{1, 2, 3, 30} {
			f := filtertest.Make(t, New, Config{FPR: 1e-4, Universe: 1 << 32})
			for unit := range units {
				low := uint64(filtertest.Stream{Bits: 22}.Present(unit)) << 10
				for i := range n {
					add(t, f, low+i)
				}
			}
			info := f.Info()
			if ours, paper := info.FastBits+info.SlowBits, f.PaperBits(); ours > paper {
				t.Errorf("%d units of %d ids: %d bits, the paper's layout has %d", units, n, ours, paper)
			}
		}
	}
}

// TestRateSurvivesMerges unites and intersects sets of all sizes with each other, at
// random, beside an exact reference: a set is a bitmap of numbers, each of which
// stands for an id.
func TestRateSurvivesMerges(t *testing.T) {
	merges, space, probes := 60, uint64(1<<15), 20_000
	if effort.Brief() {
		merges, space, probes = 20, 1<<13, 5000
	}
	if n := trials(t); n > 0 {
		merges, space, probes = n, 1<<21, 50_000
	}
	m := newMerger(t, space)
	hits, sum := 0, 0.0
	least, most := uint64(math.MaxUint64), uint64(0)
	for i := range merges {
		f := m.merge()
		if err := m.compare(f); err != nil {
			t.Fatalf("merge %d: %v", i, err)
		}
		least, most, sum = min(least, f.filter.Len()), max(most, f.filter.Len()), sum+float64(f.filter.Len())
		for range probes {
			if f.filter.MayContain(m.absent(f)) {
				hits++
			}
		}
		if f.filter.Info().FPR > 1e-4 {
			t.Fatalf("merge %d: %+v", i, f.filter.Info())
		}
	}
	total := float64(merges * probes)
	t.Logf("%d merges gave sets of %d to %d ids, %.0f on average; rate %.3g", merges, least, most, sum/float64(merges), float64(hits)/total)
	if _, limit := theory.BinomialInterval(total, 1e-4, 4); float64(hits) > limit {
		t.Errorf("%d false positives of %.0f, want %.0f at most", hits, total, limit)
	}
}

// A merger has some sets, as filters and exactly.
type merger struct {
	testing.TB
	rng    *rand.Rand
	stream filtertest.Stream
	space  uint64
	pool   [6]exactly
}

// exactly is a filter with the numbers of its ids.
type exactly struct {
	filter  *Filter
	numbers []uint64 // a bitmap
}

func newMerger(tb testing.TB, space uint64) *merger {
	tb.Helper()
	m := &merger{TB: tb, rng: rand.New(rand.NewPCG(7, space)), stream: filtertest.Stream{Seed: 7, Bits: 32}, space: space}
	for i := range m.pool {
		m.pool[i] = m.random()
	}
	return m
}

// random returns a set of 10 ids up to half of the space, all sizes alike.
func (m *merger) random() exactly {
	n := uint64(10 * math.Pow(float64(m.space)/20, m.rng.Float64()))
	e := exactly{filtertest.Make(m, New, Config{FPR: 1e-4, Universe: 1 << 32}), make([]uint64, m.space/64)}
	from := m.rng.Uint64N(m.space)
	for i := range n {
		x := (from + i) % m.space
		e.numbers[x/64] |= 1 << (x % 64)
		add(m, e.filter, uint64(m.stream.Present(x)))
	}
	return e
}

// merge merges a set with another one, or with a new one. A set that became small or
// large is replaced afterwards.
func (m *merger) merge() exactly {
	i, b := m.rng.IntN(len(m.pool)), m.pool[m.rng.IntN(len(m.pool))]
	if m.rng.IntN(2) == 0 {
		b = m.random()
	}
	a := &m.pool[i]
	join := m.rng.IntN(3) > 0
	operation := a.filter.Intersect
	if join {
		operation = a.filter.Union
	}
	if err := operation(b.filter); err != nil {
		m.Fatal(err)
	}
	for w, x := range b.numbers {
		if join {
			a.numbers[w] |= x
		} else {
			a.numbers[w] &= x
		}
	}
	result := *a
	if n := a.filter.Len(); n < m.rng.Uint64N(1000) || n > m.space/2 {
		m.pool[i] = m.random()
	}
	return result
}

// absent returns an id that is not in the set: one of those that sets are made of, if
// there is one at once, or any other.
func (m *merger) absent(e exactly) filter.Key {
	if x := m.rng.Uint64N(2 * m.space); x < m.space && e.numbers[x/64]>>(x%64)&1 == 0 {
		return m.stream.Present(x)
	}
	return m.stream.Absent(m.rng.Uint64N(1 << 30))
}

// compare checks that a filter has all the numbers and counts no others.
func (m *merger) compare(e exactly) error {
	n := uint64(0)
	for w, x := range e.numbers {
		for ; x != 0; x &= x - 1 {
			n++
			if k := m.stream.Present(uint64(64*w + bits.TrailingZeros64(x))); !e.filter.MayContain(k) {
				return fmt.Errorf("%d is in the set and was denied", k)
			}
		}
	}
	if e.filter.Len() != n {
		return fmt.Errorf("%d ids, want %d", e.filter.Len(), n)
	}
	return nil
}
