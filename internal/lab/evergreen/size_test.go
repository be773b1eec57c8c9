package evergreen

import (
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// Compact filters need more fast memory when many fingerprints are equal; others
// have no such excuse.
func TestOnlyEqualFingerprintsExplainMoreMemory(t *testing.T) {
	for _, c := range []struct {
		width, keys int
		known       bool
	}{{32, 50_000_000, true}, {32, 1_000_000, false}, {56, 50_000_000, false}} {
		g := growth{shape: evergreen.Shape{FPR: 0.001, Hashes: 8, Width: c.width}, last: c.keys, glances: []look{{keys: c.keys, fast: 22, slow: 42}}}
		for _, check := range printed[3].check("0.1 %", g)[:2] {
			if check.Verdict != lab.Differs || check.Known != c.known {
				t.Errorf("%+v: %+v", c, check)
			}
		}
	}
}

func TestKeptSeesARateThatIsTooHigh(t *testing.T) {
	good := []look{{keys: 10, yes: 100, asked: 10_000}, {keys: 20, yes: 105, asked: 10_000}}
	if c := kept("rate", "kept", 0.01, good); c.Verdict != lab.Reproduced {
		t.Errorf("%+v", c)
	}
	once := append([]look{{keys: 30, yes: 150, asked: 10_000}}, good...)
	if c := kept("rate", "kept", 0.01, once); c.Verdict != lab.Differs || !strings.Contains(c.Ours, "at 30 keys") {
		t.Errorf("one size: %+v", c)
	}
	var little []look
	for range 100 {
		little = append(little, look{keys: 10, blocks: 300, yes: 110, asked: 10_000})
	}
	if c := kept("rate", "kept", 0.01, little); c.Verdict != lab.Differs {
		t.Errorf("a little everywhere: %+v", c)
	}
}

// Only a 128th is explained.
func TestKeptExplainsNoMoreThanAStripeHolds(t *testing.T) {
	for yes, want := range map[int]struct{ differs, known bool }{1_000_000: {}, 1_006_000: {true, true}, 1_020_000: {true, false}} {
		c := kept("rate", "kept", 0.01, []look{{keys: 10, blocks: 300, yes: yes, asked: 100_000_000}})
		if (c.Verdict == lab.Differs) != want.differs || c.Known != want.known {
			t.Errorf("%d yeses: %+v", yes, c)
		}
	}
	for says, want := range map[float64]struct{ differs, known bool }{0.01: {}, 0.01005: {true, true}, 0.0102: {true, false}} {
		c := ownAccount("rate", 0.01, []look{{keys: 10, says: 0.009}, {keys: 20, says: says}})
		if (c.Verdict == lab.Differs) != want.differs || c.Known != want.known {
			t.Errorf("%v: %+v", says, c)
		}
	}
}

func TestWithinGoesByThePrintedDigits(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   lab.Verdict
	}{
		{[]float64{10.05, 13.54}, lab.Reproduced},
		{[]float64{10.04, 13}, lab.Differs},
		{[]float64{12, 13.56}, lab.Differs},
		{nil, lab.Differs},
	} {
		if got := within("bits", "10.1", "13.5", "here", c.values); got.Verdict != c.want {
			t.Errorf("%v: %+v", c.values, got)
		}
	}
	if got := within("bits", "67", "70", "here", []float64{66.6, 70.4}); got.Verdict != lab.Reproduced {
		t.Errorf("whole numbers: %+v", got)
	}
}

func TestADeniedMemberIsSeen(t *testing.T) {
	if c := neverDenied("denied", []look{{keys: 10, asked: 5}, {keys: 10, asked: 5, denied: 1}}); c.Verdict != lab.Differs || !strings.HasPrefix(c.Ours, "1 of 10 ") {
		t.Errorf("%+v", c)
	}
	if c := noneOf("nothing", "never", 0, 0, "asked"); c.Verdict != lab.Differs {
		t.Errorf("nobody was asked: %+v", c)
	}
}
