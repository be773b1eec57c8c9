package dlbf10

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
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

// The drawing must show a filter like that of Fig. 1: 4 marks, 28 cells, one of
// the regions with a collision and a line for every position of a key.
func TestExampleIsDrawn(t *testing.T) {
	s := deletable.Shape{Bits: 32, Hashes: 3, Regions: 4}
	svg, salt, err := drawExample(s)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			counts[start.Name.Local]++
		}
	}
	lines := 0
	s.Salt = salt
	for _, word := range exampleKeys {
		lines += len(placesOf(filter.Hash{}.String(word), s))
	}
	if counts["line"] != lines {
		t.Errorf("%d lines for %d positions", counts["line"], lines)
	}
	// Marks and cells, and a shade for each cell of the marked regions.
	marked := strings.Count(svg, ": collision")
	if marked == 0 || counts["rect"] != 32+7*marked {
		t.Errorf("%d rectangles, %d marked regions", counts["rect"], marked)
	}
	for _, want := range []string{"bitmap", "region 3: ", ">x<", ">y<", ">z<", "stroke-dasharray"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in the drawing", want)
		}
	}
}

// Keys with one position each are pinned wherever they collide.
func TestExampleMayNotExist(t *testing.T) {
	if _, _, err := drawExample(deletable.Shape{Bits: 32, Hashes: 1, Regions: 4}); err == nil {
		t.Error("an example with one hash")
	}
}

// The menu must take the fewest regions that reach the goal, or the best.
func TestMenuTakesTheFewestRegionsThatSuffice(t *testing.T) {
	e := &lab.Env{Params: adaptiveParams(1, 4)}
	regions := []int{6, 24, 60, 120}
	r := rand.New(rand.NewPCG(4, 4))
	for range 50 {
		keys := lab.RandomKeys(r, 22)
		const goal = 0.9
		menu, err := buildMenu(e, keys, regions, goal)
		if err != nil {
			t.Fatal(err)
		}
		chosen, best := menu[len(menu)-1], 0.0
		for _, n := range regions {
			// Two bits tell which of four it was.
			v, err := buildVersion(deletable.Shape{Bits: 238, Hashes: 5, Regions: uint64(min(n, 119))}, keys)
			if err != nil {
				t.Fatal(err)
			}
			if v.regions < chosen.regions && v.deletable >= goal {
				t.Errorf("%v regions suffice, %v were taken", v.regions, chosen.regions)
			}
			best = max(best, v.deletable)
		}
		if chosen.deletable < goal && chosen.deletable != best {
			t.Errorf("%v deletable, the best has %v", chosen.deletable, best)
		}
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
	first, err := look(f, keys, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := look(f, keys, keys[:10])
	if err != nil || string(f.AppendRaw(nil)) != before {
		t.Fatalf("looking changed the filter: %v", err)
	}
	if first.ghosts != 0 || second.ghosts != 0.1 || first.deletable != second.deletable || first.lost != 0 {
		t.Errorf("%+v, then %+v", first, second)
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
	if fill := f.Info().Fill; fill < 0.3 || fill > 0.5 {
		t.Errorf("fill %v", fill)
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
		o, err := addAndDelete(s, lab.RandomKeys(r, 22))
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
		cells, k, n int
		want        float64
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
