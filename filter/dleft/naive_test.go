package dleft

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// A naive filter does what the package comment says in the plainest way, cell by
// cell and with divisions. Filters must agree with it in every cell.
type naive struct {
	shape   Shape
	factors []uint64
	buckets [][]naiveCell
	moved   uint64
}

// A naiveCell is empty if it has no copies. A stuck one has lost count.
type naiveCell struct {
	remainder, copies uint64
	stuck             bool
}

func newNaive(f *Filter) *naive {
	s := f.shape
	n := &naive{shape: s, buckets: make([][]naiveCell, s.buckets())}
	for g := range n.buckets {
		n.buckets[g] = make([]naiveCell, s.Cells)
	}
	for i := range s.Subtables {
		n.factors = append(n.factors, f.paths[i].forth.value)
	}
	return n
}

func (n *naive) fingerprint(k filter.Key) uint64 {
	v, _ := bits.Mul64(probe.NewMixer(n.shape.Salt).Mix(k), n.shape.space())
	if v%(1<<n.shape.Remainder) == 0 {
		v++
	}
	return v
}

func (n *naive) at(i int, fp uint64) (bucket, remainder uint64) {
	hi, lo := bits.Mul64(n.factors[i], fp)
	_, v := bits.Div64(hi%n.shape.space(), lo, n.shape.space())
	return uint64(i)*n.shape.Buckets + v>>n.shape.Remainder, v % (1 << n.shape.Remainder)
}

func (n *naive) find(fp uint64) *naiveCell {
	for i := range n.shape.Subtables {
		bucket, remainder := n.at(i, fp)
		for c := range n.buckets[bucket] {
			if cell := &n.buckets[bucket][c]; cell.copies > 0 && cell.remainder == remainder {
				return cell
			}
		}
	}
	return nil
}

// free returns the first empty cell of a bucket and how many are used.
func (n *naive) free(bucket uint64) (cell *naiveCell, used int) {
	for c := range n.buckets[bucket] {
		switch b := &n.buckets[bucket][c]; {
		case b.copies > 0:
			used++
		case cell == nil:
			cell = b
		}
	}
	return cell, used
}

// least returns a cell in the least loaded bucket and its remainder.
func (n *naive) least(fp uint64, from int) (cell *naiveCell, remainder uint64) {
	best := n.shape.Cells
	for i := from; i < n.shape.Subtables; i++ {
		bucket, r := n.at(i, fp)
		if c, used := n.free(bucket); used < best {
			cell, remainder, best = c, r, used
		}
	}
	return cell, remainder
}

func (n *naive) add(fp uint64) (added, full bool) {
	most := uint64(1) << n.shape.Counter
	if cell := n.find(fp); cell != nil {
		cell.copies++
		cell.stuck = cell.stuck || cell.copies >= most
		return false, false
	}
	cell, remainder := n.least(fp, 0)
	if cell == nil {
		cell, remainder = n.move(fp)
	}
	if cell == nil {
		return false, true
	}
	*cell = naiveCell{remainder: remainder, copies: 1}
	return true, false
}

func (n *naive) move(fp uint64) (cell *naiveCell, remainder uint64) {
	bucket, remainder := n.at(0, fp)
	for c := range n.buckets[bucket] {
		old := &n.buckets[bucket][c]
		to, r := n.least(bucket<<n.shape.Remainder|old.remainder, 1) // the first factor is 1
		if to != nil {
			*to = naiveCell{r, old.copies, old.stuck}
			n.moved++
			return old, remainder
		}
	}
	return nil, 0
}

func (n *naive) delete(fp uint64) bool {
	cell := n.find(fp)
	if cell == nil {
		return false
	}
	if !cell.stuck {
		cell.copies--
	}
	return true
}

// differs compares all cells.
func (n *naive) differs(f *Filter) (cell uint64, yes bool) {
	for g, bucket := range n.buckets {
		for c, want := range bucket {
			at := uint64(g*n.shape.Cells + c)
			remainder, counter := f.get(at)
			switch {
			case want.copies == 0:
				yes = remainder != 0 || counter != 0
			case want.stuck:
				yes = remainder != want.remainder || counter != f.stick
			default:
				yes = remainder != want.remainder || counter != want.copies-1
			}
			if yes {
				return at, true
			}
		}
	}
	return 0, false
}

// naiveShapes go from 32 bits up, over all sorts of cells.
var naiveShapes = []Shape{
	{Subtables: 1, Buckets: 1, Cells: 2, Remainder: 14, Counter: 2},
	{Subtables: 2, Buckets: 2, Cells: 2, Remainder: 3, Counter: 1, Salt: 1},
	{Subtables: 8, Buckets: 1, Cells: 1, Remainder: 1, Counter: 3},
	{Subtables: 4, Buckets: 3, Cells: 8, Remainder: 14, Counter: 2, Salt: 2},
	{Subtables: 4, Buckets: 64, Cells: 8, Remainder: 10, Counter: 6, Salt: 3},
	{Subtables: 3, Buckets: 17, Cells: 8, Remainder: 12, Counter: 4, Salt: 4},
	{Subtables: 3, Buckets: 50, Cells: 5, Remainder: 9, Counter: 2, Salt: 5},
	{Subtables: 5, Buckets: 7, Cells: 32, Remainder: 30, Counter: 2, Salt: 6},
	{Subtables: 2, Buckets: 9, Cells: 31, Remainder: 2, Counter: 30, Salt: 7},
	{Subtables: 4, Buckets: 100, Cells: 8, Remainder: 15, Counter: 2, Salt: 8},
	{Subtables: 7, Buckets: 13, Cells: 3, Remainder: 16, Counter: 5, Salt: 9},
	{Subtables: 4, Buckets: 1000, Cells: 8, Remainder: 14, Counter: 2, Salt: 10},
}

// TestCellsAreThoseOfTheNaiveFilter also takes the general way where there is a
// shorter one.
func TestCellsAreThoseOfTheNaiveFilter(t *testing.T) {
	effort.OneGoroutine(t)
	operations := max(60_000, 3*effort.Operations(t)) // fewer fill no filter
	var full int
	var moved, stuck uint64
	for _, s := range naiveShapes {
		for _, general := range []bool{false, true} {
			f := build(t, s)
			if general {
				f.twins, f.short = nil, false
			}
			full += walk(t, f, operations/len(naiveShapes)/2)
			moved, stuck = moved+f.moved, stuck+f.stuck
		}
	}
	if full < 100 || moved < 100 || stuck < 100 {
		t.Errorf("the walk met %d full filters, %d moves and %d stuck counters: too few to mean much", full, moved, stuck)
	}
}

func build(tb testing.TB, s Shape) *Filter {
	tb.Helper()
	return filtertest.Make(tb, Build, s)
}

// walk adds and deletes keys of a small pool, now more of the one, now of the
// other, so that the filter is full and empty several times. It returns how often an Add
// found no room.
func walk(tb testing.TB, f *Filter, operations int) (full int) {
	tb.Helper()
	s := f.shape
	n := newNaive(f)
	rng := rand.New(rand.NewPCG(s.Salt, s.Buckets))
	pool := make([]filter.Key, 2*s.cells()+4)
	for i := range pool {
		pool[i] = filter.Key(rng.Uint64())
	}
	owed := make([]int, len(pool)) // deletes of each key that are allowed
	total := uint64(0)
	for op := range operations {
		i := rng.IntN(len(pool))
		fp := n.fingerprint(pool[i])
		had := n.find(fp) != nil
		if f.MayContain(pool[i]) != had || f.has(fp) != had || f.hasAny(fp) != had || f.fingerprint(pool[i]) != fp {
			tb.Fatalf("%+v, operation %d: key %#x is in the table: %t", s, op, pool[i], had)
		}
		growing := op/(4*len(pool))%2 == 0
		if rng.IntN(4) > 0 == growing {
			wantAdded, wantFull := n.add(fp)
			added, err := f.Add(pool[i])
			if added != wantAdded || errors.Is(err, filter.ErrFull) != wantFull {
				tb.Fatalf("%+v, operation %d: add %#x: %t, %v, want %t, full %t", s, op, pool[i], added, err, wantAdded, wantFull)
			}
			if err != nil {
				full++
			} else {
				owed[i]++
				total++
			}
		} else if owed[i] > 0 || n.find(fp) == nil {
			want := n.delete(fp)
			if err := f.Delete(pool[i]); errors.Is(err, filter.ErrNotFound) == want {
				tb.Fatalf("%+v, operation %d: delete %#x: %v", s, op, pool[i], err)
			}
			if want {
				owed[i]--
				total--
			}
		}
		if f.Len() != total || f.moved != n.moved {
			tb.Fatalf("%+v, operation %d: %d keys, want %d, %d moved, want %d", s, op, f.Len(), total, f.moved, n.moved)
		}
		if op%(16*len(pool)) == 0 || op == operations-1 {
			if cell, yes := n.differs(f); yes {
				tb.Fatalf("%+v, operation %d: cell %d differs", s, op, cell)
			}
			if err := f.check(); err != nil {
				tb.Fatalf("%+v, operation %d: %v", s, op, err)
			}
		}
	}
	return full
}
