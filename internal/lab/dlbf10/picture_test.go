package dlbf10

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// On a picture the paper's regions must do what the filter does.
func TestPictureAgreesWithTheFilter(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		keys := lab.RandomKeys(r, 5+r.IntN(40))
		regions := 1 + r.IntN(100)
		s := deletable.Shape{Bits: uint64(216 + regions), Hashes: 1 + r.IntN(8), Regions: uint64(regions), Salt: seed}
		f, err := filled(s, keys)
		if err != nil {
			t.Fatal(err)
		}
		want := deleteAll(f, keys)
		p, err := takePicture(216, s.Hashes, seed, keys)
		if err != nil {
			t.Fatal(err)
		}
		got := p.gainOf(p.byRegions(regions, p.inRow(regions)))
		if !near(got.deletable, want.deletable) || !near(got.free, resetShare(want)) || float64(count(p.set)) != want.set {
			t.Errorf("seed %d, %+v, %d keys: picture %+v, filter %+v", seed, s, len(keys), got, want)
		}
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// picturesOf returns some pictures of filters like the paper's.
func picturesOf(t *testing.T, number, cells, keys int) []picture {
	t.Helper()
	r := rand.New(rand.NewPCG(7, uint64(cells)))
	list := make([]picture, number)
	for i := range list {
		p, err := takePicture(cells, 5, 0, lab.RandomKeys(r, keys))
		if err != nil {
			t.Fatal(err)
		}
		list[i] = p
	}
	return list
}

func TestPicturesAreConsistent(t *testing.T) {
	for _, p := range picturesOf(t, 20, 216, 22) {
		hits := make([]int, len(p.set))
		for _, places := range p.places {
			for _, c := range places {
				hits[c]++
			}
		}
		for i, h := range hits {
			if p.set[i] != (h > 0) || p.collided[i] != (h > 1) {
				t.Fatalf("cell %d: %d hits, set %t, collided %t", i, h, p.set[i], p.collided[i])
			}
		}
	}
}

func TestRefusedShapesAreReported(t *testing.T) {
	none := deletable.Shape{}
	_, picture := takePicture(0, 5, 0, nil)
	_, trial := addAndDelete(none, nil)
	_, version := buildVersion(none, nil)
	_, _, example := drawExample(none)
	_, rates := measureRates(none, nil, nil)
	for what, err := range map[string]error{"picture": picture, "trial": trial, "version": version, "example": example, "rates": rates} {
		if err == nil {
			t.Errorf("%s: a filter without bits", what)
		}
	}
}

func TestSizesOfCodes(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"enumerative, 3 of 16: 560 cases and a count up to 16", enumerative(16, 3), 10 + 5},
		{"enumerative, none", enumerative(16, 0), 5},
		{"enumerative, 1 of 2", enumerative(2, 1), 1 + 2},
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
		} {
			for i, ok := range clean {
				if ok && p.collided[i] {
					t.Fatalf("%s: cell %d has collisions", name, i)
				}
			}
		}
	}
}

// A bit for every cell is exact: then all codes are worth the same.
func TestCodesAgreeWhereBitsSuffice(t *testing.T) {
	for _, p := range picturesOf(t, 20, 120, 22) {
		want := inRow.gain(p, 120).deletable
		for _, c := range otherCodes {
			if got := c.gain(p, 120).deletable; !near(got, want) {
				t.Errorf("%s: %v, want %v", c.name, got, want)
			}
		}
	}
}

// Redrawing regions can only lose knowledge.
func TestDeletingOneByOneIsNoBetter(t *testing.T) {
	for i, p := range picturesOf(t, 50, 200, 22) {
		once := p.gainOf(p.byRegions(40, rankRegions(p.set, 40))).deletable
		if got := deleteOneByOne(p, 40).deletable; got > once+1e-9 {
			t.Errorf("picture %d: %v one by one, %v at once", i, got, once)
		}
	}
	if got := deleteOneByOne(picture{set: []bool{true}, collided: []bool{false}, places: [][]int{{0}}}, 1).deletable; got != 1 {
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
