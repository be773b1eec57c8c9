package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
)

func markdown(t *testing.T, folder string) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteMarkdown(&b, sample(), folder); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkdownShowsEverything(t *testing.T) {
	text := markdown(t, "../r")
	for _, part := range []string{
		"[one/good](#one-good)", `<a id="one-good"></a>`, "### ✓ one/good: About one/good", "\\[Sum\\] What is &lt;one/good&gt;?",
		"> Sec. 1: something else", "![Rate](../r/one/good/rate.svg)", "under the picture", "[Sizes](../r/one/good/sizes.csv)",
		"| ≠ | the share<br>Why: the paper forgets a condition | 90 % |", "**Failed:** lab: two/failed: no room for &lt;bits&gt;",
		"What the papers print, ≠ differs:\n\n- [one/explained](#one-explained) the share: 90 %\n", "A note of one/good", "Quick: trials 200, seed 42, real data ip/some\\_list.gz (77 bytes), 2 workers, commit 0123456789ab", "| what the papers print | ✓ 3 reproduced, ○ 2 shown, ≠ 2 differ, ≠! 1 unexplained |", "| experiments without a result | – 1 not run, ✗ 1 failed |",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not on the page", part)
		}
	}
}

func TestMarkdownLinksFromTheFolderItself(t *testing.T) {
	if text := markdown(t, "."); !strings.Contains(text, "](one/good/rate.svg)") {
		t.Error(text)
	}
}

// A cell with a bar or a line break would end the row.
func TestMarkdownKeepsTablesWhole(t *testing.T) {
	outcomes := sample()[:1]
	outcomes[0].Record.Result.Checks = []lab.Check{{Name: "a|b *c*\nd_e", Ours: "1 < 2 & [x]", Verdict: lab.Shown}}
	var b bytes.Buffer
	if err := WriteMarkdown(&b, outcomes, "."); err != nil {
		t.Fatal(err)
	}
	if want := `a\|b \*c\* d\_e |`; !strings.Contains(b.String(), want) || !strings.Contains(b.String(), `1 &lt; 2 &amp; \[x\] |`) {
		t.Errorf("%q is not in %s", want, b.String())
	}
}

func TestMarkdownTablesAreTables(t *testing.T) {
	row := regexp.MustCompile(`^\|.*\|$`)
	bars := regexp.MustCompile(`(^|[^\\])\|`)
	columns := 0
	for line := range strings.Lines(markdown(t, ".")) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := len(bars.FindAllString(line, -1))
		if columns == 0 {
			columns = n
		}
		if !row.MatchString(line) || n != columns {
			t.Errorf("%q has %d bars, its table %d", line, n, columns)
		}
	}
}
