package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/catalog"
	"github.com/everbloom-go/everbloom/internal/lab/store"
)

// quote is a figure in bold with the claim that gives it: **80 %** (`dlbf10/fig3`: "name"),
// a few words between them allowed.
var quote = regexp.MustCompile("\\*\\*([0-9][^*]*)\\*\\*[^*(]*\\(`([a-z0-9]+/[a-z0-9-]+)`: \"([^\"]+)\"\\)")

// TestQuotedFiguresAreThoseOfTheResults holds the figures in docs to the stored results.
func TestQuotedFiguresAreThoseOfTheResults(t *testing.T) {
	for _, page := range []string{"findings.md", "claims.md"} {
		text, err := os.ReadFile(filepath.Join("../../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range quote.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\n", " "), -1) {
			figure, id, name := m[1], m[2], m[3]
			i := slices.IndexFunc(catalog.All(), func(x lab.Experiment) bool { return x.ID == id })
			if i < 0 || !slices.ContainsFunc(catalog.All()[i].Claims, func(c lab.Claim) bool { return c.Name == name }) {
				t.Errorf("%s: %s has no claim %q", page, id, name)
				continue
			}
			r, err := store.Dir("../../docs/results").Load(catalog.All()[i])
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			ours := "nothing"
			if i := slices.IndexFunc(r.Result.Checks, func(c lab.Check) bool { return c.Name == name }); i >= 0 {
				ours = r.Result.Checks[i].Ours
			}
			if !says(ours, figure) {
				t.Errorf("%s: %s of %s, %q: the stored result says %s", page, figure, id, name, ours)
			}
		}
	}
}

// TestPicturesOfTheFindingsAreDrawn holds the links of docs/findings.md to plots that the
// experiments have.
func TestPicturesOfTheFindingsAreDrawn(t *testing.T) {
	text, err := os.ReadFile("../../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`results/([a-z0-9]+/[a-z0-9-]+)/([a-z0-9-]+)\.svg`).FindAllStringSubmatch(string(text), -1)
	if len(links) < 10 {
		t.Errorf("%d pictures for ten findings", len(links))
	}
	for _, m := range links {
		drawn := func(x lab.Experiment) bool {
			return x.ID == m[1] && slices.ContainsFunc(x.Plots, func(v lab.View) bool { return v.Name == m[2] })
		}
		if !slices.ContainsFunc(catalog.All(), drawn) {
			t.Errorf("%s has no plot %q", m[1], m[2])
		}
	}
}

// numerals are numbers with the reach that may follow them.
var numerals = regexp.MustCompile(`(-?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)(?: ± ([0-9.e-]+))?`)

// says reports whether the first number of a text is the quoted one: it rounds to its
// digits, or its reach has it. What ours is compared with comes after it.
func says(text, quoted string) bool {
	m, ours := numerals.FindStringSubmatch(quoted), numerals.FindStringSubmatch(text)
	if m == nil || ours == nil {
		return false
	}
	want, half := parseFigure(m[1])
	value, _ := parseFigure(ours[1])
	reach, _ := strconv.ParseFloat(ours[2], 64) // none: 0
	return math.Abs(value-want) <= (half+reach)*(1+1e-9)
}

// parseFigure returns a number and half a unit of its last digit.
func parseFigure(text string) (value, half float64) {
	text = strings.ReplaceAll(text, ",", "")
	value, _ = strconv.ParseFloat(text, 64) // the expression matches numbers only
	mantissa, exponent, _ := strings.Cut(text, "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	power, _ := strconv.Atoi(exponent)
	return value, math.Pow(10, float64(power-len(fraction))) / 2
}

func TestFiguresAreComparedByTheirDigits(t *testing.T) {
	for _, c := range []struct {
		text, quoted string
		want         bool
	}{
		{"93.25 %", "93.2 %", true},
		{"93.25 %", "93.3 %", true},
		{"93.25 %", "93.4 %", false},
		{"79.9 ± 1.4 % against 93 %", "80.2 %", true},
		{"79.9 ± 0.1 %", "80.2 %", false},
		{"5.4232e-8", "5.42e-8", true},
		{"5.4232e-8", "5.4e-7", false},
		{"53248.00", "53,248", true},
		{"0.607 against 4.00", "4.00", false},
		{"none", "1", false},
	} {
		if got := says(c.text, c.quoted); got != c.want {
			t.Errorf("%q says %q: %t", c.text, c.quoted, got)
		}
	}
}
