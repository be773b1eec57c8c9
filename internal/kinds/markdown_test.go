package kinds

import (
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// shared is an exact filter that calls itself safe for concurrent use.
type shared struct{ *filtertest.Exact }

func (shared) ConcurrentUse() {}

func TestMarkdownSaysWhatTheRowsSay(t *testing.T) {
	got := markdown([]Kind{
		{
			Name: "plain", Deleting: "–", AbsentDelete: "–", PastCapacity: "accepts", Merging: "–",
			Maker: Maker{Type: struct{ filter.Filter }{}},
		},
		{
			Name: "able", Grows: true, Duplicates: filter.DuplicatesCounted, Deleting: "done | pinned", AbsentDelete: "refused",
			PastCapacity: "never", Merging: "∪ ∩", Maker: Maker{Type: shared{}},
		},
	})
	const want = `| kind | grows | delete | adding twice | deleting an absent key | past capacity | merge | concurrent |
|---|---|---|---|---|---|---|---|
| plain | – | – | ignored | – | accepts | – | – |
| able | yes | done \| pinned | counted | refused | never | ∪ ∩ | yes |
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestMarkdownHasARowPerKind(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(Markdown(), "\n"), "\n")
	if len(lines) != 2+len(table) {
		t.Fatalf("%d lines for %d kinds", len(lines), len(table))
	}
	for i, k := range table {
		if line := lines[2+i]; !strings.HasPrefix(line, "| "+k.Name+" |") {
			t.Errorf("row %d is %q, want that of %s", i, line, k.Name)
		}
	}
}
