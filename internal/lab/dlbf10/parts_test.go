package dlbf10

import (
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

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

// The menu must take the fewest regions that reach the wish, or the best.
func TestMenuTakesTheFewestRegionsThatSuffice(t *testing.T) {
	e := &lab.Env{Params: adaptiveParams(1, 4)}
	regions := []int{6, 24, 60, 120}
	r := rand.New(rand.NewPCG(4, 4))
	for range 50 {
		keys := lab.RandomKeys(r, 22)
		const wish = 0.9
		m, err := buildMenu(e, keys, regions, wish)
		if err != nil {
			t.Fatal(err)
		}
		best := 0.0
		for _, n := range regions {
			// Two bits tell which of four it was.
			v, err := buildVersion(deletable.Shape{Bits: 238, Hashes: 5, Regions: uint64(min(n, 119))}, keys)
			if err != nil {
				t.Fatal(err)
			}
			if v.regions < m.chosen.regions && v.deletable >= wish {
				t.Errorf("%v regions suffice, %v were taken", v.regions, m.chosen.regions)
			}
			best = max(best, v.deletable)
		}
		if m.chosen.deletable < wish && m.chosen.deletable != best {
			t.Errorf("%v deletable, the best has %v", m.chosen.deletable, best)
		}
	}
}

func TestAmountsAreCompared(t *testing.T) {
	trials := []menu{
		{fixed: []version{{6, 0.5, 0.01}, {24, 0.95, 0.02}, {60, 0.99, 0.03}}, chosen: version{24, 0.95, 0.02}},
		{fixed: []version{{6, 0.7, 0.01}, {24, 0.87, 0.02}, {60, 0.99, 0.03}}, chosen: version{60, 0.99, 0.03}},
	}
	row, c := compareAmounts(22, trials, 0.9)
	if row[1] != 24.0 {
		t.Errorf("fixed r is %v: %v", row[1], row)
	}
	if c.Ours != "50.0 % with r = 24, 100 % with adaptive r" {
		t.Errorf("%+v", c)
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
	if first.ghosts != 0 || second.ghosts != 0.1 || first.deletable != second.deletable || first.denied != 0 {
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
