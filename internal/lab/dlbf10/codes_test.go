package dlbf10

import (
	"math"
	"testing"
)

func TestSizesOfCodes(t *testing.T) {
	list := make([]bool, 16)
	list[3], list[4], list[15] = true, true, true
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"enumerative, 3 of 16: 560 cases and a count up to 16", enumerative(16, 3), 10 + 5},
		{"enumerative, none", enumerative(16, 0), 5},
		{"enumerative, 1 of 2", enumerative(2, 1), 1 + 2},
		// Gaps 3, 0, 10 and 0 at the end; with two low bits each costs gap/4 + 3.
		{"Rice", riceBits(list), 3 + (0 + 3) + (0 + 3) + (2 + 3) + (0 + 3)},
		{"Rice, none", riceBits(make([]bool, 16)), 3 + 6},
		{"entropy of a fair coin", entropy(0.5), 1},
		{"entropy of a certain one", entropy(0) + entropy(1), 0},
		{"entropy of one in ten", math.Round(1e4 * entropy(0.1)), 4690},
	} {
		if !near(c.got, c.want) {
			t.Errorf("%s: %v bits, want %v", c.what, c.got, c.want)
		}
	}
}

// No code may ever name a collided cell as clean: a live key would be denied.
func TestCodesNameOnlyCleanCells(t *testing.T) {
	for _, p := range picturesOf(t, 50, 180, 24) {
		layouts := makeLayouts(180, 24, 4)
		for name, clean := range map[string][]bool{
			"regions in a row": p.byRegions(24, p.inRow(24)),
			"one region":       p.byRegions(1, p.inRow(1)),
			"set cells":        p.byRegions(24, rankRegions(p.set, 24)),
			"layout":           p.byRegions(24, func(c int) int { return layouts[3][c] }),
			"compressed":       p.compressed(60),
			"compressed, tiny": p.compressed(2),
			"runs":             p.cleanRuns(3),
			"all runs":         p.cleanRuns(1000),
		} {
			for i, ok := range clean {
				if ok && p.collided[i] {
					t.Fatalf("%s: cell %d has collisions", name, i)
				}
			}
		}
		if n := count(p.cleanRuns(1000)); n != 180-p.collisions() {
			t.Errorf("all runs have %d cells, want %d", n, 180-p.collisions())
		}
	}
}

// A bit for every cell is exact: then all codes are worth the same.
func TestCodesAgreeWhereBitsSuffice(t *testing.T) {
	for _, p := range picturesOf(t, 20, 120, 22) {
		want := lossyCodes[0].deletable(p, 120)
		for _, c := range lossyCodes {
			if got := c.deletable(p, 120); !near(got, want) {
				t.Errorf("%s: %v, want %v", c.name, got, want)
			}
		}
	}
}

// Redrawing regions can only lose knowledge.
func TestDeletingOneByOneIsNoBetter(t *testing.T) {
	for i, p := range picturesOf(t, 50, 200, 22) {
		once := p.gainOf(p.byRegions(40, rankRegions(p.set, 40))).deletable
		if got := deleteOneByOne(p, 40); got > once+1e-9 {
			t.Errorf("picture %d: %v one by one, %v at once", i, got, once)
		}
	}
	if got := deleteOneByOne(picture{set: []bool{true}, collided: []bool{false}, places: [][]int{{0}}}, 1); got != 1 {
		t.Errorf("a lone key: %v", got)
	}
}

// More layouts to choose from are never worse.
func TestMoreLayoutsAreNoWorse(t *testing.T) {
	layouts := makeLayouts(216, 24, 64)
	for _, p := range picturesOf(t, 20, 216, 22) {
		if few, many := p.bestLayout(24, layouts[:4]), p.bestLayout(24, layouts); many.deletable < few.deletable {
			t.Errorf("%v with 4 layouts, %v with 64", few, many)
		}
	}
	for i, layout := range layouts {
		sizes := make([]int, 24)
		for _, r := range layout {
			sizes[r]++
		}
		for r, n := range sizes {
			if n != 9 {
				t.Fatalf("layout %d: region %d has %d cells", i, r, n)
			}
		}
	}
}

func TestLimitRisesWithTheBudgetAndBoundsTheCodes(t *testing.T) {
	v := numbers{cells: 216, k: 5, n: 22}
	last := -1.0
	for budget := 0.0; budget <= 80; budget += 4 {
		l := v.limit(budget)
		if l < last || l > 1 {
			t.Errorf("%v bits: %v after %v", budget, l, last)
		}
		last = l
	}
	if v.limit(0) > 1e-6 {
		t.Errorf("without any bits %v", v.limit(0))
	}
	// With bits enough all single hits are known.
	if want := 1 - math.Pow(1-math.Pow(1-1/216.0, 109), 5); math.Abs(v.limit(1e3)-want) > 1e-6 {
		t.Errorf("at most %v, want %v", v.limit(1e3), want)
	}
}
