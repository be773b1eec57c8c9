package dpbf19

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var merges = lab.Experiment{
	ID:       "dpbf19/merges",
	Paper:    paper,
	Title:    "Unions and intersections of sets of all sizes",
	Question: "Does the rate stay bounded through many unions and intersections of sets of different sizes, where that of a plain filter does not?",
	Says: "Abstract: DPBF is superior to standard Bloom filters because it can efficiently handle a large number of unions and intersections of sets of different sizes " +
		"while controlling the false positive rate. No number is printed.",
	Quick: lab.Params{lab.Int("chains", 6), lab.Int("merges in each", 20), lab.Int("numbers", 1<<17), lab.Int("queries after each", 20_000)},
	Full:  lab.Params{lab.Int("chains", 20), lab.Int("merges in each", 50), lab.Int("numbers", 1<<21), lab.Int("queries after each", 100_000)},
	Run:   runMerges,
}

// A collection is a set as a partition filter, as a plain filter of fixed size, and
// exactly: a bitmap of numbers, each of which stands for an id.
type collection struct {
	ours    *partition.Filter
	plain   *bloom.Filter
	numbers []uint64
}

// merged is what one merge gave.
type merged struct {
	union       bool
	n           uint64
	ours, plain answers
	wrong       bool // a key was denied, or the count is not exact
}

// A chain merges sets at random.
type chain struct {
	r       *rand.Rand
	seed    uint32
	numbers uint64 // how many there are
}

func runMerges(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	chains, err := lab.TryTrials(ctx, e, e.Int("chains"), func(_ int, r *rand.Rand) ([]merged, error) {
		c := chain{r: r, seed: r.Uint32(), numbers: uint64(e.Int("numbers"))}
		return c.run(e.Int("merges in each"), e.Int("queries after each"))
	})
	if err != nil {
		return nil, err
	}
	var all []merged
	for _, c := range chains {
		all = append(all, c...)
	}
	return &lab.Result{
		Tables: []lab.Table{mergeTable(all)}, Checks: mergeChecks(all), Plots: []lab.Plot{mergePlot(all)},
		Notes: []string{
			fmt.Sprintf("Sets have from 10 to %d ids, sizes of all magnitudes alike, those that are intersected with a quarter of that at least. Two merges of three are unions; a set that became small or large is replaced by a new one. "+
				"Each result is asked about ids of other sets and about any others.", e.Int("numbers")/2),
			fmt.Sprintf("The plain filter is sized for %d ids at 1e-4, a size in the middle, and merged by OR and AND.", middle(uint64(e.Int("numbers")))),
		},
	}, nil
}

// smallest is the least number of ids of a new set.
const smallest = 10.0

// middle is the size that plain filters are made for: the geometric mean.
func middle(numbers uint64) uint64 { return uint64(math.Sqrt(smallest * float64(numbers) / 2)) }

// id is what a number stands for; no other id is ever in a set.
func (c chain) id(number uint64) uint64 { return permute(number, 32, c.seed) }

// random returns a set of so many ids up to half of all, sizes of all magnitudes
// alike: numbers that follow each other, so that sets overlap.
func (c chain) random(least float64) (s collection, err error) {
	if s.ours, err = partition.New(wish); err != nil {
		return s, err
	}
	if s.plain, err = bloom.New(bloom.Config{Items: middle(c.numbers), FPR: target}); err != nil {
		return s, err
	}
	s.numbers = make([]uint64, c.numbers/64)
	from := c.r.Uint64N(c.numbers)
	for i := range uint64(least * math.Pow(float64(c.numbers)/2/least, c.r.Float64())) {
		x := (from + i) % c.numbers
		s.numbers[x/64] |= 1 << (x % 64)
		if _, err := s.plain.Add(key(c.id(x))); err != nil {
			return s, err
		}
		if _, err := s.ours.Add(filterKey(c.id(x))); err != nil {
			return s, err
		}
	}
	return s, nil
}

// run does so many merges.
func (c chain) run(merges, queries int) (out []merged, err error) {
	set, err := c.random(smallest)
	if err != nil {
		return nil, err
	}
	for range merges {
		m := merged{union: c.r.IntN(3) > 0}
		least := smallest
		if !m.union { // with a small set there would be nothing in common
			least = float64(c.numbers) / 8
		}
		other, err := c.random(least)
		if err != nil {
			return nil, err
		}
		if err := set.merge(other, m.union); err != nil {
			return nil, err
		}
		m.n = set.ours.Len()
		m.wrong = !c.exact(set)
		c.ask(set, queries, &m)
		out = append(out, m)
		if m.n < c.r.Uint64N(1_000) || m.n > c.numbers/2 {
			if set, err = c.random(smallest); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// merge changes s.
func (s *collection) merge(other collection, union bool) (err error) {
	if union {
		if err = s.ours.Union(other.ours); err != nil {
			return err
		}
		err = s.plain.Union(other.plain)
	} else {
		if err = s.ours.Intersect(other.ours); err != nil {
			return err
		}
		err = s.plain.Intersect(other.plain)
	}
	for w, x := range other.numbers {
		if union {
			s.numbers[w] |= x
		} else {
			s.numbers[w] &= x
		}
	}
	return err
}

// exact reports whether the partition filter has all numbers of the set, and counts
// no others.
func (c chain) exact(s collection) bool {
	n := uint64(0)
	for w, x := range s.numbers {
		for ; x != 0; x &= x - 1 {
			n++
			if !s.ours.MayContain(filterKey(c.id(uint64(64*w + bits.TrailingZeros64(x))))) {
				return false
			}
		}
	}
	return n == s.ours.Len()
}

// ask asks for ids that are not in the set: those that others have, if one is found
// at once, and any others.
func (c chain) ask(s collection, queries int, m *merged) {
	m.ours = answers{queries: queries, told: s.ours.Info().FPR}
	m.plain = answers{queries: queries, told: s.plain.Info().FPR}
	for range queries {
		number := c.r.Uint64N(2 * c.numbers)
		if number < c.numbers && s.numbers[number/64]>>(number%64)&1 == 1 {
			number += c.numbers
		}
		id := c.id(number)
		if s.ours.MayContain(filterKey(id)) {
			m.ours.yes++
		}
		if s.plain.MayContain(key(id)) {
			m.plain.yes++
		}
	}
}

// mergeTable groups the results by size.
func mergeTable(all []merged) lab.Table {
	table := lab.Table{
		Name: "sizes", Title: "Results of merges, by their size",
		Columns: []string{"ids", "unions", "intersections", "DPBF: rate", "plain filter: rate"},
	}
	for low := uint64(0); ; low = max(10, 10*low) {
		high, more := max(10, 10*low), false
		var ours, plain answers
		unions, intersections := 0, 0
		for _, m := range all {
			more = more || m.n >= low
			if m.n < low || m.n >= high {
				continue
			}
			ours.add(m.ours)
			plain.add(m.plain)
			if m.union {
				unions++
			} else {
				intersections++
			}
		}
		if !more {
			return table
		}
		if unions+intersections > 0 {
			share := func(a answers) float64 { return float64(a.yes) / float64(a.queries) }
			table.Add(fmt.Sprintf("%d to %d", low, high-1), unions, intersections, share(ours), share(plain))
		}
	}
}

// mergeChecks are the claims of the abstract.
func mergeChecks(all []merged) []lab.Check {
	var ours, plain answers
	least, most, told, wrong := uint64(math.MaxUint64), uint64(0), 0.0, 0
	for _, m := range all {
		ours.add(m.ours)
		plain.add(m.plain)
		least, most, told = min(least, m.n), max(most, m.n), max(told, m.ours.told)
		if m.wrong {
			wrong++
		}
	}
	rate := float64(plain.yes) / float64(plain.queries)
	return []lab.Check{
		keeps(fmt.Sprintf("rate after %d merges, results of %d to %d ids", len(all), least, most), ours),
		lab.Holds("largest rate that a result tells of itself", "at most 1e-4", lab.Digits(told, 3), told <= target, "at most 1e-4 after every merge"),
		lab.Holds("results that deny a key or miscount", "none", fmt.Sprintf("%d of %d", wrong, len(all)), wrong == 0, "none; beside an exact set"),
		lab.Holds("rate of a plain filter through the same merges", "not controlled by standard Bloom filters", fmt.Sprintf("%d of %d: %s", plain.yes, plain.queries, lab.Digits(rate, 3)),
			rate > target, "above 1e-4"),
	}
}

// mergePlot draws every merge.
func mergePlot(all []merged) lab.Plot {
	series := []lab.Series{
		{Name: "plain, unions", Style: lab.Dots, Color: 2},
		{Name: "plain, intersections", Style: lab.Dots, Color: 3},
		{Name: "DPBF, unions", Style: lab.Dots, Color: 1},
		{Name: "DPBF, intersections", Style: lab.Dots, Color: 4},
	}
	var left, right float64 = math.Inf(1), 0
	for _, m := range all {
		kind := 1
		if m.union {
			kind = 0
		}
		for i, told := range []float64{m.plain.told, m.ours.told} {
			if told > floor && m.n > 0 {
				x := float64(m.n)
				left, right = min(left, x), max(right, x)
				series[2*i+kind].Points = append(series[2*i+kind].Points, lab.Point{X: x, Y: told})
			}
		}
	}
	shown := []lab.Series{{Name: "threshold", Style: lab.Dashed, Color: 7, Points: []lab.Point{{X: left, Y: target}, {X: right, Y: target}}}}
	for _, s := range series {
		if len(s.Points) > 0 {
			shown = append(shown, s)
		}
	}
	return lab.Plot{
		Name: "rates", Title: "Rate of the result of each merge",
		X: lab.Axis{Label: "ids in the result", Log: true}, Y: lab.Axis{Label: "rate that the filter tells of itself", Log: true},
		Series: shown, Notes: []string{"Rates below 1e-7 are left out."},
	}
}
