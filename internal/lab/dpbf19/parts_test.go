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

// Ids of a set and those that follow, which are absent, are all different.
func TestIDsDiffer(t *testing.T) {
	const width, n = 26, 40_960
	for name, p := range map[string]ids{spread: evenly(width, 7), whole: aligned(width, 7)} {
		seen := map[filter.Key]bool{}
		for i := range uint64(n) {
			seen[p(i)] = p(i) < 1<<width
		}
		if len(seen) != n {
			t.Errorf("%s: %d different ids of %d", name, len(seen), n)
		}
		for id, inside := range seen {
			if !inside {
				t.Fatalf("%s: %d is outside", name, id)
			}
		}
	}
}

// filled is the paper's layout with ids of a population.
func filled(t *testing.T, p ids, from, to uint64) *layout {
	t.Helper()
	f, err := build(dpbf, 16, 0)
	if err == nil {
		err = p.fill(f, from, to)
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
		if !common.MayContain(p(i)) {
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
	if rate := l.Info().FPR; rate > target || rate == 0 {
		t.Errorf("rate %g", rate)
	}
}
