package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/internal/draw"
)

func TestTextIsWrappedAtTheWidth(t *testing.T) {
	const text = "take x: the rate is 0.1 % where it was 1 % and – ≤ a-word-that-is-longer-than-any-line comes last"
	for _, width := range []int{1, 12, 20, 40, 200} {
		var b strings.Builder
		writeWrapped(&b, text, width)
		joined := strings.Join(strings.Fields(b.String()), " ")
		if joined != text {
			t.Errorf("width %d: words changed: %q", width, joined)
		}
		for line := range strings.SplitSeq(b.String(), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "%") {
				t.Errorf("width %d: %q begins with the unit of a number", width, line)
			}
			if n := utf8.RuneCountInString(line); n > width && len(strings.Fields(line)) > 1 && !strings.HasSuffix(line, "%") {
				t.Errorf("width %d: %q has %d characters", width, line, n)
			}
		}
	}
}

// TestAFewKindsAreShown: those that can do it, or any if none can.
func TestAFewKindsAreShown(t *testing.T) {
	for _, c := range []struct {
		fit, weaker, all, want int
	}{{11, 0, 11, 5}, {2, 1, 11, 3}, {2, 5, 11, 5}, {0, 0, 11, 5}, {0, 2, 3, 2}, {1, 0, 1, 1}} {
		choices := make([]everbloom.Choice, c.all)
		for i := range choices {
			choices[i].Fits, choices[i].Weaker = i < c.fit, i >= c.fit && i < c.fit+c.weaker
		}
		if got := len(first(choices)); got != c.want {
			t.Errorf("%+v: %d are shown", c, got)
		}
	}
}

func TestCurvesEndWhereTheKindDoes(t *testing.T) {
	var p plan
	p.Items, p.FPR = 1000, 0.01
	rates, sizes := p.panels()
	if err := p.addCurves(&rates, &sizes, "dleft", 1); err != nil {
		t.Fatal(err)
	}
	for _, plot := range []draw.Plot{rates, sizes} {
		points := plot.Series[len(plot.Series)-1].Points
		if last := points[len(points)-1].X; last < 1000 || last > 2000 {
			t.Errorf("%s ends at %g", plot.Y.Label, last)
		}
	}
}
