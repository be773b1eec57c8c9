package everbloom

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/kinds"
)

var update = flag.Bool("update", false, "renew the generated parts of docs/choosing.md and CHANGELOG.md")

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// wantText holds a page to the text that is generated for it, or renews it.
func wantText(t *testing.T, page, want string) {
	t.Helper()
	switch {
	case readText(t, page) == want:
	case !*update:
		t.Errorf("%s is old: go test -run '%s' -update .", page, t.Name())
	default:
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// between returns what stands in text after the first from, up to the next to.
func between(text, from, to string) (inside string, found bool) {
	_, rest, ok1 := strings.Cut(text, from)
	inside, _, ok2 := strings.Cut(rest, to)
	return inside, ok1 && ok2
}

// tableOfKinds returns the rows of all kinds in Markdown.
func tableOfKinds() string {
	yes := map[bool]string{true: "yes", false: "–"}
	rows := []string{"| kind | grows | delete | adding twice | deleting an absent key | past capacity | merge | concurrent |", strings.Repeat("|---", 8) + "|"}
	for _, k := range kinds.All() {
		cells := []string{
			k.Name, yes[k.Grows], k.Deleting, k.Duplicates.String(), k.AbsentDelete, k.PastCapacity, k.Merging,
			yes[k.Abilities().Concurrent],
		}
		rows = append(rows, "| "+strings.Join(cells, " | ")+" |")
	}
	return strings.Join(rows, "\n") + "\n"
}

func TestChoosingHasTheTableOfKinds(t *testing.T) {
	const page, begin, end = "docs/choosing.md", "<!-- kinds -->\n", "<!-- /kinds -->"
	text := readText(t, page)
	got, ok := between(text, begin, end)
	if !ok {
		t.Fatalf("%s has no %s and %s", page, strings.TrimSpace(begin), end)
	}
	wantText(t, page, strings.Replace(text, begin+got+end, begin+tableOfKinds()+end, 1))
}

// TestPagesShowTestedCode holds each piece of Go code in a page to an example, in order:
// to what comes after its first statement, up to the output.
func TestPagesShowTestedCode(t *testing.T) {
	for page, file := range map[string]string{
		"README.md":           "example_test.go",
		"docs/coming-from.md": "coming_from_example_test.go",
	} {
		pieces := strings.Split(readText(t, page), "```go\n")[1:]
		bodies := strings.Split(readText(t, file), "\tdefer inTemporaryFolder()()\n\n")[1:]
		if len(pieces) != len(bodies) || len(pieces) == 0 {
			t.Fatalf("%s has %d pieces of Go code, %s %d examples", page, len(pieces), file, len(bodies))
		}
		for i, piece := range pieces {
			got, _, closed := strings.Cut(piece, "```\n")
			body, _, shown := strings.Cut(bodies[i], "\n\n\t// Output:\n")
			want := strings.ReplaceAll("\n"+body, "\n\t", "\n")[1:] + "\n"
			if !closed || !shown || got != want {
				t.Errorf("code %d of %s is\n%s\nand that of the example\n%s", i, page, got, want)
			}
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
	wantText(t, name, withUnreleased(readText(t, name), changed+added))
}
