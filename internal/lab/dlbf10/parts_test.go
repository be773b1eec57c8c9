package dlbf10

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

func TestFalseNegativesAreSeen(t *testing.T) {
	// A filter whose bits are lost denies keys, and deleteAll must notice.
	r := rand.New(rand.NewPCG(1, 1))
	keys := lab.RandomKeys(r, 60)
	s := deletable.Shape{Bits: 240, Hashes: 5, Regions: 24}
	f, err := filled(s, keys)
	if err != nil {
		t.Fatal(err)
	}
	raw := f.AppendRaw(nil)
	for i := 8; i < len(raw); i++ {
		raw[i] = 0
	}
	broken, err := deletable.FromRaw(s, raw)
	if err != nil {
		t.Fatal(err)
	}
	if o := deleteAll(broken, keys); o["false negatives"] == 0 {
		t.Errorf("%+v", o)
	}
}

// The fewest regions that let 90 % be deleted are taken, or the best.
func TestFewestRegionsThatSufficeAreTaken(t *testing.T) {
	e := &lab.Env{Params: codes.Params}
	r := rand.New(rand.NewPCG(4, 4))
	for range 50 {
		keys := lab.RandomKeys(r, 22)
		got, err := fewestRegions(e, keys, 63)
		if err != nil || got["bits taken"] > 63 {
			t.Fatal(got, err)
		}
		best := 0.0
		for _, n := range []uint64{12, 18, 24, 36, 48, 60} { // three bits tell which it was
			o, err := try(deletable.Shape{Bits: 237, Hashes: 5, Regions: n}, keys, nil)
			if err != nil {
				t.Fatal(err)
			}
			if float64(n+3) < got["bits taken"] && o["deletable"] >= asked {
				t.Errorf("%d regions suffice, %v bits were taken", n, got["bits taken"])
			}
			best = max(best, o["deletable"])
		}
		if got["deletable"] < asked && got["deletable"] != best {
			t.Errorf("%v deletable, the best has %v", got["deletable"], best)
		}
	}
}

// Regions of set cells are at least as good as those of all, one for each cell is best,
// and more layouts are no worse.
func TestCodesAreOrdered(t *testing.T) {
	var row, set float64
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := throw(r, 216, 1+r.IntN(8), 5+r.IntN(40), false)
		regions := 10 + r.IntN(90)
		exact := p.share(func(c int) int { return c })
		row, set = row+p.share(inRow(216, regions)), set+p.share(p.setCells(regions))
		if few, many := p.bestLayout(regions, 1), p.bestLayout(regions, 4); few > many || many > exact || p.share(p.setCells(regions)) > exact {
			t.Errorf("seed %d: exact %v, one layout %v, four %v", seed, exact, few, many)
		}
	}
	if row >= set {
		t.Errorf("in a row %v, set cells %v", row, set)
	}
}

// A life without replacements is the filter as it was filled.
func TestLookLeavesTheFilterAlone(t *testing.T) {
	keys := lab.RandomKeys(rand.New(rand.NewPCG(6, 6)), 100)
	s := sized(100, 5, 16, 10)
	f, err := filled(s, keys)
	if err != nil {
		t.Fatal(err)
	}
	before := string(f.AppendRaw(nil))
	first, err := look(f, keys)
	if err != nil || string(f.AppendRaw(nil)) != before {
		t.Fatalf("looking changed the filter: %v", err)
	}
	if first["false negatives"] != 0 {
		t.Errorf("%+v", first)
	}
	if want := deleteAll(f, keys)["deletable"]; first["deletable"] != want {
		t.Errorf("deletable %v, really %v", first["deletable"], want)
	}
}

// Two keys that share their first cell: the second is lost with the first. One without
// common cells is not.
func TestSignaturesLoseOthers(t *testing.T) {
	shared := ideal{places: [][]int{{0, 1}, {0, 2}}, hits: []int{2, 1, 1}}
	apart := ideal{places: [][]int{{0, 1}, {2, 3}}, hits: []int{1, 1, 1, 1}}
	if a, b := shared.lostBySignatures(), apart.lostBySignatures(); a != 1 || b != 0 {
		t.Errorf("lost: %v and %v", a, b)
	}
}

// The ideal filter and the real one are the same experiment.
func TestIdealTrialsAgreeWithTheFilter(t *testing.T) {
	s := deletable.Shape{Bits: 240, Hashes: 5, Regions: 24}
	var random, found []float64
	r := rand.New(rand.NewPCG(5, 5))
	for range 2_000 {
		random = append(random, throw(r, 216, 5, 22, false).share(inRow(216, 24)))
		o, err := try(s, lab.RandomKeys(r, 22), nil)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, o["deletable"])
	}
	a, b := lab.Mean(random), lab.Mean(found)
	if d := a.Mean - b.Mean; d > lab.Spread(a, b) || -d > lab.Spread(a, b) {
		t.Errorf("ideal %v, filter %v", a, b)
	}
}

func TestSamplesAreDifferent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	from := lab.RandomKeys(r, 60)
	if n := len(slices.Compact(slices.Sorted(slices.Values(sample(r, from, 60))))); n != 60 {
		t.Fatalf("%d different keys of 60", n)
	}
}

// The trial counts of full runs are those of the paper where it states them.
func TestFullRunsHaveThePapersCounts(t *testing.T) {
	e := lab.Env{Params: fig3.Params.In(true)}
	if e.Int("trials") != 2_000 || e.Int("bits") != 240 || e.Int("hashes") != 5 || e.Int("tested words") != 500 {
		t.Errorf("%v", fig3.Params)
	}
}
