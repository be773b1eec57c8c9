package field

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The numbers that are checked are copies of those in docs/choosing.md: they must be
// there, in the row of the kind.
func TestClaimsAreThoseOfTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/choosing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "## All kinds, by what they are good at")
	table, _, ended := strings.Cut(table, "## What each kind does")
	if !found || !ended {
		t.Fatal("docs/choosing.md has no such table")
	}
	words := map[string]string{"1": "one"} // cache lines
	for _, c := range claims {
		row := rowOf(table, c.kind)
		printed := regexp.MustCompile(`(^|[^0-9.])` + regexp.QuoteMeta(c.printed) + `($|[^0-9.])`)
		word, ok := words[c.printed]
		if !printed.MatchString(row) && (!ok || !strings.Contains(row, word+" cache line")) {
			t.Errorf("%s: %s %s is not in %q", c.kind, c.printed, c.what, row)
		}
	}
	if row := rowOf(table, "counting"); !strings.Contains(row, "four times the bits of `bloom`") {
		t.Errorf("%q", row)
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
