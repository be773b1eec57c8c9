package dpbf19

import (
	"fmt"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

func TestPermuteIsAPermutation(t *testing.T) {
	for _, width := range []int{1, 2, 5, 12, 15} {
		for _, seed := range []uint32{0, 1, 0xdeadbeef} {
			seen := make([]bool, 1<<width)
			for i := range uint64(1) << width {
				x := permute(i, width, seed)
				if x >= 1<<width || seen[x] {
					t.Fatalf("%d bits, seed %d: %d becomes %d, which is outside or taken", width, seed, i, x)
				}
				seen[x] = true
			}
		}
	}
}

// Absent ids must be absent, or every rate is wrong; present ones are different.
func TestPopulationsKeepAbsentIDsApart(t *testing.T) {
	const width = 26
	for name, p := range map[string]population{spread: evenly(width, 7), whole: aligned(width, 7)} {
		for _, n := range []uint64{10, 1_000, 30_000} {
			present := make(map[uint64]bool, n)
			for i := range n {
				present[p.present(n, i)] = true
			}
			if uint64(len(present)) != n {
				t.Errorf("%s: %d different ids of %d", name, len(present), n)
			}
			if p.absent == nil {
				continue
			}
			absent := map[uint64]bool{}
			for i := range uint64(3000) {
				id := p.absent(n, i)
				if present[id] || absent[id] || id >= 1<<width {
					t.Fatalf("%s, %d ids: the absent id %d, %d, is present, outside or there twice", name, n, i, id)
				}
				absent[id] = true
			}
		}
	}
}

// filled is the paper's layout with ids of a population.
func filled(t *testing.T, p population, from, to uint64) *layout {
	t.Helper()
	f, err := build(papers, 16, 0)
	if err == nil {
		err = p.fill(papers, f, from, to)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f.(*layout)
}

// figures are what tells two layouts apart: leaves and set bits by depth.
func (l *layout) figures() string {
	var leaves []string
	l.leaves(func(n *node, depth int) {
		leaves = append(leaves, fmt.Sprintf("%d: %d of %d", depth, n.unit.SetBits(), len(n.below)))
	})
	return fmt.Sprintf("%d units, %s", len(l.units), strings.Join(leaves, ", "))
}

func TestLayoutMergesUnitByUnit(t *testing.T) {
	p := evenly(16, 3)
	one, two, both := filled(t, p, 0, 6_000), filled(t, p, 5_000, 9_000), filled(t, p, 0, 9_000)
	if err := one.Union(two); err != nil {
		t.Fatal(err)
	}
	if one.figures() != both.figures() {
		t.Errorf("a union is not the filter of all ids:\n%s\n%s", one.figures(), both.figures())
	}
	common, all := filled(t, p, 0, 6_000), filled(t, p, 5_000, 6_000)
	if err := common.Intersect(two); err != nil {
		t.Fatal(err)
	}
	for i := uint64(5_000); i < 6_000; i++ {
		if !common.MayContain(filter.Key(p.present(0, i))) {
			t.Fatalf("the id %d of both is denied", i)
		}
	}
	sets := func(l *layout) (n uint64) {
		l.leaves(func(leaf *node, _ int) { n += leaf.unit.SetBits() })
		return n
	}
	if sets(common) <= sets(all) || len(common.units) < len(all.units) {
		t.Errorf("AND leaves no bits of other ids: %s\n%s", common.figures(), all.figures())
	}
	if none := filled(t, p, 9_000, 9_000); common.Intersect(none) != nil || len(common.units) != 0 || common.Info().FPR != 0 {
		t.Errorf("nothing in common: %s", common.figures())
	}
}

// Every leaf but those at the bottom keeps the rate, and one level up it would not.
func TestLayoutSplitsByBits(t *testing.T) {
	l := filled(t, evenly(16, 5), 0, 20_000)
	inner := 0
	l.leaves(func(n *node, depth int) {
		if n.unit.SetBits() > l.shape.Full && depth < l.shape.Depth {
			t.Errorf("a leaf at %d has %d bits of %d", depth, n.unit.SetBits(), l.shape.Full)
		}
		for _, number := range n.below {
			if l.units[number] == nil {
				t.Errorf("the unit %d is not in the map", number)
			}
			inner++
		}
	})
	if inner != len(l.units) {
		t.Errorf("%d pointers to %d units", inner, len(l.units))
	}
	ours, err := build(ours, 16, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := evenly(16, 5).fill("DPBF, ids in the map", ours, 0, 20_000); err != nil {
		t.Fatal(err)
	}
	if a, b := l.Info().FPR, ours.Info().FPR; a > target || b > target || a < b/10 || b < a/10 {
		t.Errorf("rates %g and %g", a, b)
	}
	if _, err := build("another", 16, 0); err == nil {
		t.Error("a filter of another name")
	}
}
