package main

import (
	"math"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/timing"
)

func TestBarsNameContendersThatExist(t *testing.T) {
	for _, b := range bars {
		for _, name := range []string{b.contender, b.rival} {
			if name == "" {
				continue
			}
			if _, err := byName(contenders(), name); err != nil {
				t.Errorf("%s: %v", b.name, err)
			}
			if !inBars(name) {
				t.Errorf("%s would not be measured for the bars", name)
			}
		}
		if b.limit <= 0 || b.wanted > b.limit {
			t.Errorf("%s: limit %g, wanted %g", b.name, b.limit, b.wanted)
		}
	}
}

func TestBarAppliesWhereItSays(t *testing.T) {
	b := bar{sizes: []uint64{1e6}, fprs: []float64{0.01}}
	for c, want := range map[cell]bool{
		{1e6, 0.01, 8, 1}:  true,
		{1e4, 0.01, 8, 1}:  false,
		{1e6, 0.001, 8, 1}: false,
		{1e6, 0.01, 16, 1}: false,
		{1e6, 0.01, 8, 2}:  false,
	} {
		if got := b.applies(c); got != want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if !(bar{}).applies(cell{5, 0.3, 8, 1}) {
		t.Error("a bar without sizes and rates applies everywhere")
	}
}

func TestBarComparesWhatItSays(t *testing.T) {
	r := sample()
	c := r.cells()[0]
	for _, test := range []struct {
		bar  bar
		want float64
		best string
	}{
		{bar{contender: "quick", op: hit, rival: "slow one"}, 0.5, "0.5"},
		{bar{contender: "quick", op: hit.inBatches(64), rival: "quick", rivalOp: hit}, 0.5, "0.562"},
		{bar{contender: "quick", op: bitsPerKey}, 10.26, none},
		{bar{contender: "slow one", op: anyAllocs}, 2.25, none},
		{bar{contender: "absent", op: hit, rival: "quick"}, math.NaN(), none},
		{bar{contender: "quick", op: hit, rival: "absent"}, math.NaN(), none},
		{bar{contender: "quick", op: remove, rival: "slow one"}, math.NaN(), none},
	} {
		got := timing.Median(test.bar.values(r, c))
		if got != test.want && !(math.IsNaN(got) && math.IsNaN(test.want)) {
			t.Errorf("%s of %s: %g, want %g", test.bar.against(), test.bar.contender, got, test.want)
		}
		if best := test.bar.bestText(r, c); best != test.best {
			t.Errorf("%s of %s: best %s, want %s", test.bar.against(), test.bar.contender, best, test.best)
		}
	}
}

func TestVerdicts(t *testing.T) {
	b := bar{limit: 0.85, wanted: 0.6}
	for value, want := range map[float64]string{0.5: "met", 0.6: "met", 0.85: "met (wanted 0.6)", 0.86: "NOT met"} {
		if got := b.verdict(value); got != want {
			t.Errorf("%g: %q, want %q", value, got, want)
		}
	}
	if got := b.verdict(math.NaN()); got != "not measured" {
		t.Errorf("NaN: %q", got)
	}
}

func TestBarsTableTellsWhetherAllAreMet(t *testing.T) {
	old := bars
	defer func() { bars = old }()
	r := sample()
	for limit, want := range map[float64]bool{0.5: true, 0.4: false} {
		bars = []bar{
			{name: "fast", contender: "quick", ops: []op{hit}, rival: "slow one", limit: limit},
			{name: "unknown", contender: "absent", ops: []op{hit}, rival: "slow one", limit: 1},
		}
		var out strings.Builder
		if got := r.writeBars(&printer{w: &out}); got != want {
			t.Errorf("limit %g: met %v", limit, got)
		}
		if strings.Contains(out.String(), "NOT met") == want || !strings.Contains(out.String(), "not measured") {
			t.Errorf("limit %g: wrote\n%s", limit, out.String())
		}
		if !strings.Contains(out.String(), "hit ÷ slow one | 10 k | 1 %   | 0.5 ±0%") {
			t.Errorf("wrote\n%s", out.String())
		}
	}
}
