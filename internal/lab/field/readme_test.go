package field

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

func allBits(p filter.Prediction) float64 { return p.FastBitsPerKey + p.SlowBitsPerKey }

func hitLines(p filter.Prediction) float64 { return p.HitLines }

// The numbers that docs/choosing.md prints about a million keys are those that the kinds
// predict, in the row of the kind.
func TestFiguresOfTheKindsAreThoseOfTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/choosing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "## All kinds, by what they are good at")
	table, _, ended := strings.Cut(table, "## What each kind does")
	if !found || !ended {
		t.Fatal("docs/choosing.md has no such table")
	}
	for _, c := range []struct {
		kind    string
		rate    float64
		printed string
		value   func(p filter.Prediction) float64
	}{
		{"blocked", 0.01, "10.1", allBits},
		{"blocked", 0.001, "15.7", allBits},
		{"blocked", 0.01, "one cache line", hitLines},
		{"bloom", 0.01, "9.6", allBits},
		{"bloom", 0.001, "14.4", allBits},
		{"bloom", 0.01, "7", hitLines},
		{"bloom", 0.001, "10", hitLines},
		{"evergreen", 0.01, "one cache line", hitLines},
		{"dleft", 0.01, "21.3", allBits},
		{"dleft", 0.01, "0.15", func(p filter.Prediction) float64 { return 100 * p.FPR }},
		{"dleft", 0.001, "23.4", allBits},
		{"deletable", 0.01, "11.5", allBits},
		{"deletable", 0.001, "16.4", allBits},
		{"scalable", 0.01, "12.6", allBits},
		{"partition", 0.01, "46", allBits},
	} {
		if row := rowOf(table, c.kind); !regexp.MustCompile(`(^|[^0-9.])` + regexp.QuoteMeta(c.printed) + `($|[^0-9.])`).MatchString(row) {
			t.Errorf("%s: %s is not in %q", c.kind, c.printed, row)
		}
		p, err := predict(c.kind, 1_000_000, c.rate)
		want, digits := 1.0, 0
		if c.printed != "one cache line" {
			want, _ = strconv.ParseFloat(c.printed, 64) // the table above has numbers
			_, fraction, _ := strings.Cut(c.printed, ".")
			digits = len(fraction)
		}
		if got := c.value(p); err != nil || math.Abs(got-want) > 0.5*math.Pow10(-digits) {
			t.Errorf("%s at %v: %v, printed %s; %v", c.kind, c.rate, got, c.printed, err)
		}
	}
	if row := rowOf(table, "counting"); !strings.Contains(row, "four times the bits of `bloom`") {
		t.Errorf("%q", row)
	}
	counting, err1 := predict("counting", 1_000_000, 0.01)
	bloom, err2 := predict("bloom", 1_000_000, 0.01)
	if ratio := allBits(counting) / allBits(bloom); err1 != nil || err2 != nil || math.Abs(ratio-4) > 0.05 {
		t.Errorf("counting takes %v times the bits of bloom; %v, %v", ratio, err1, err2)
	}
	if row := rowOf(table, "elastic"); !strings.Contains(row, "thousands of bits per key") {
		t.Errorf("%q", row)
	}
}

// rowOf returns the row in which a kind is recommended.
func rowOf(table, kind string) string {
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 && strings.Contains(cells[2], "`"+kind+"`") {
			return line
		}
	}
	return ""
}
