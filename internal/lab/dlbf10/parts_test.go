package dlbf10

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
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
	if o := deleteAll(broken, keys); o.lost == 0 {
		t.Errorf("%+v", o)
	}
}

// The menu takes the fewest regions that reach what is asked, or the best.
func TestMenuTakesTheFewestRegionsThatSuffice(t *testing.T) {
	e := &lab.Env{Params: codes.Quick}
	menu := []int{6, 24, 60, 118}
	r := rand.New(rand.NewPCG(4, 4))
	for range 50 {
		keys := lab.RandomKeys(r, 22)
		list, err := buildMenu(e, keys, menu, 0.9)
		if err != nil || len(list) != 5 {
			t.Fatal(list, err)
		}
		chosen, best := list[4], 0.0
		for _, n := range menu { // three bits tell which it was
			o, err := try(deletable.Shape{Bits: 237, Hashes: 5, Regions: uint64(n)}, keys, nil)
			if err != nil {
				t.Fatal(err)
			}
			if float64(n) < chosen.regions && o.deletable >= 0.9 {
				t.Errorf("%d regions suffice, %v were taken", n, chosen.regions)
			}
			best = max(best, o.deletable)
		}
		if chosen.deletable < 0.9 && chosen.deletable != best {
			t.Errorf("%v deletable, the best has %v", chosen.deletable, best)
		}
	}
}

// On a picture the paper's regions do what the filter does, other codes name clean cells
// only, and deleting one by one is no better.
func TestCodesAgreeWithTheFilter(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		keys, regions, hashes := lab.RandomKeys(r, 5+r.IntN(40)), 10+r.IntN(90), 1+r.IntN(8)
		p, err := takePicture(216, hashes, keys)
		if err != nil {
			t.Fatal(err)
		}
		want, err := try(deletable.Shape{Bits: uint64(216 + regions), Hashes: hashes, Regions: uint64(regions)}, keys, nil)
		if got := p.share(inRow(216, regions)); err != nil || !near(got, want.deletable) {
			t.Errorf("seed %d: picture %v, filter %v, %v", seed, got, want.deletable, err)
		}
		for c, clean := range p.clean(rankRegions(p.set, regions)) {
			if clean && (p.collided[c] || !p.set[c]) {
				t.Errorf("seed %d: cell %d is taken for a clean set one", seed, c)
			}
		}
		exact := p.share(func(c int) int { return c })
		if set, turns := p.share(rankRegions(p.set, regions)), p.oneByOne(regions); turns > set+1e-9 || set > exact+1e-9 || p.bestLayout(regions, 4) < p.bestLayout(regions, 1) {
			t.Errorf("seed %d: %v, one by one %v, exact %v", seed, set, turns, exact)
		}
	}
	if _, err := takePicture(0, 5, nil); err == nil {
		t.Error("a filter without cells")
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

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
	if first.lost != 0 {
		t.Errorf("%+v", first)
	}
	if want := deleteAll(f, keys).deletable; first.deletable != want {
		t.Errorf("deletable %v, really %v", first.deletable, want)
	}
}

// All filters of the comparison must have the memory they are said to have.
func TestContendersHaveEqualMemory(t *testing.T) {
	e := &lab.Env{Params: r4.Quick}
	list, err := contenders(e)
	if err != nil {
		t.Fatal(err)
	}
	want := float64(e.Int("keys") * e.Int("bits per key"))
	for _, c := range list {
		if c.bits < 0.99*want || c.bits > 1.01*want {
			t.Errorf("%s: %v bits, want %v", c.name, c.bits, want)
		}
		f, err := c.build()
		if err != nil {
			t.Fatal(err)
		}
		if c.name != "standard" && !filter.AbilitiesOf(f).Delete {
			t.Errorf("%s cannot delete", c.name)
		}
	}
}

func TestSignaturesLoseOthers(t *testing.T) {
	f := newSignatures(1000, 5)
	keys := lab.RandomKeys(rand.New(rand.NewPCG(3, 3)), 100)
	if _, _, err := filter.AddBatch(f, keys); err != nil {
		t.Fatal(err)
	}
	if lab.YesShare(f, keys) != 1 {
		t.Error("a key is lost before anything is deleted")
	}
	for _, k := range keys[:50] {
		_ = f.Delete(k) // may be lost already
		if f.MayContain(k) {
			t.Error("a deleted key is still there")
		}
	}
	if lab.YesShare(f, keys[50:]) == 1 {
		t.Error("no other key is lost")
	}
	if err := f.Delete(keys[0]); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("deleting twice: %v", err)
	}
}

// The ideal filter and the real one are the same experiment.
func TestIdealTrialsAgreeWithTheFilter(t *testing.T) {
	s := deletable.Shape{Bits: 240, Hashes: 5, Regions: 24}
	var ideal, found []outcome
	r := rand.New(rand.NewPCG(5, 5))
	for range 2_000 {
		ideal = append(ideal, idealTrial(r, s, 22, false))
		o, err := try(s, lab.RandomKeys(r, 22), nil)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, o)
	}
	a, b := lab.Figure(ideal, deletableShare), lab.Figure(found, deletableShare)
	if d := a.Mean - b.Mean; d > lab.Spread(a, b) || -d > lab.Spread(a, b) {
		t.Errorf("ideal %v, filter %v", a, b)
	}
}

// One cell and one hit, two cells and two hits, and the paper's filter against
// simulation.
func TestExactRate(t *testing.T) {
	for _, c := range []struct {
		cells, k, n, want float64
	}{{1, 1, 1, 1}, {5, 3, 0, 0}, {2, 1, 2, 0.75}, {2, 2, 1, (0.5*0.25 + 0.5*1)}} {
		if got := exactRate(c.cells, c.k, c.n); !near(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
	r := rand.New(rand.NewPCG(9, 9))
	fills := make([]float64, 20_000)
	for i := range fills {
		f, err := filled(deletable.Shape{Bits: 240, Hashes: 5, Regions: 24}, lab.RandomKeys(r, 22))
		if err != nil {
			t.Fatal(err)
		}
		fills[i] = f.Info().FPR
	}
	if got := lab.Mean(fills); !got.Within(exactRate(216, 5, 22), lab.Sigmas) {
		t.Errorf("simulated %v, exact %v", got, exactRate(216, 5, 22))
	}
}

func TestHalfLifeIsBetweenLooks(t *testing.T) {
	life := func(shares ...float64) (list []moment) {
		for _, s := range shares {
			list = append(list, moment{outcome: outcome{deletable: s}})
		}
		return list
	}
	if got := halfLife(life(1, 0.7, 0.6, 0.4, 0.1), 2); math.Abs(got[0].half-1.25) > 1e-9 || !math.IsNaN(got[1].half) {
		t.Errorf("%v", got[0].half)
	}
	if got := halfLife(life(1, 0.9), 2)[0].half; !math.IsNaN(got) {
		t.Errorf("%v without an end", got)
	}
	if got := halfLife(life(0.4, 0.3), 2)[0].half; got != 0 {
		t.Errorf("%v turnovers of an overfull filter", got)
	}
}
