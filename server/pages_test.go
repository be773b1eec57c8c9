package server

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "renew the table of settings in docs/server.md")

// TestPageHasAllSettings holds docs/server.md to the table of settings.
func TestPageHasAllSettings(t *testing.T) {
	const page, from, to = "../docs/server.md", "<!-- settings -->\n", "<!-- end of settings -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| setting | default | what it is | changes |\n|---|---|---|---|\n")
	for _, row := range SettingTable() {
		if row.Fixed {
			continue
		}
		changes := "–"
		if row.Mutable {
			changes = "yes"
		}
		b.WriteString("| `" + row.Name + "` | " + row.Default + " | " + row.Help + " | " + changes + " |\n")
	}
	before, rest, ok1 := strings.Cut(string(text), from)
	_, after, ok2 := strings.Cut(rest, to)
	want := before + from + b.String() + to + after
	switch {
	case !ok1 || !ok2:
		t.Fatal("no place for the table")
	case want == string(text):
	case *update:
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is old: go test -run %s ./server -update", page, t.Name())
	}
}
