package everbloom

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestComingFromShowsTestedCode holds each piece of Go code in docs/coming-from.md to
// an example, in order.
func TestComingFromShowsTestedCode(t *testing.T) {
	pieces := strings.Split(readText(t, "docs/coming-from.md"), "```go\n")[1:]
	bodies := strings.Split(readText(t, "coming_from_example_test.go"), "\tdefer inTemporaryFolder()()\n\n")[1:]
	if len(pieces) != len(bodies) {
		t.Fatalf("docs/coming-from.md has %d pieces of Go code, coming_from_example_test.go %d examples", len(pieces), len(bodies))
	}
	for i, piece := range pieces {
		got, _, closed := strings.Cut(piece, "```\n")
		body, _, shown := strings.Cut(bodies[i], "\n\n\t// Output:\n")
		want := strings.ReplaceAll("\n"+body, "\n\t", "\n")[1:] + "\n"
		if !closed || !shown || got != want {
			t.Errorf("code %d of docs/coming-from.md is\n%s\nand that of the example\n%s", i, got, want)
		}
	}
}

// withUnreleased returns the text of a changelog with the lines as its section of what
// is not released yet.
func withUnreleased(text, lines string) string {
	const title = "Unreleased\n\n"
	sections := strings.Split(text, "\n## ")
	if len(sections) > 1 && strings.HasPrefix(sections[1], title) {
		sections = slices.Delete(sections, 1, 2)
	}
	if lines != "" {
		sections = slices.Insert(sections, 1, title+lines)
	}
	return strings.Join(sections, "\n## ")
}

func TestChangelogKeepsReleases(t *testing.T) {
	const released, both = "# C\n\n## v1\n\n- a\n", "# C\n\n## Unreleased\n\n- b\n\n## v1\n\n- a\n"
	for _, test := range []struct{ text, lines, want string }{
		{released, "- b\n", both}, {both, "- b\n", both}, {both, "", released}, {released, "", released},
	} {
		if got := withUnreleased(test.text, test.lines); got != test.want {
			t.Errorf("%q with %q is %q, want %q", test.text, test.lines, got, test.want)
		}
	}
}

// TestChangelogHasTheChanges holds CHANGELOG.md to the files in changes/, those that
// change what was there before first.
func TestChangelogHasTheChanges(t *testing.T) {
	const name = "CHANGELOG.md"
	files, err := filepath.Glob("changes/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var changed, added string
	for _, file := range files {
		text := strings.TrimSpace(readText(t, file))
		list := &added
		if strings.HasPrefix(text, "Changed: ") {
			list = &changed
		}
		*list += "- " + strings.ReplaceAll(text, "\n", "\n  ") + "\n"
	}
	got := readText(t, name)
	want := withUnreleased(got, changed+added)
	switch {
	case got == want:
	case !*update:
		t.Errorf("%s is old: go test -run Changelog -update .", name)
	default:
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
