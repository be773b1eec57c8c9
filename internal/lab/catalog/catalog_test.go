package catalog

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
)

func TestEveryExperimentIsWellDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range All() {
		topic, name, _ := strings.Cut(x.ID, "/")
		if seen[x.ID] || !lab.NameForm.MatchString(topic) || !lab.NameForm.MatchString(name) {
			t.Errorf("%s is there twice or not of the form topic/name", x.ID)
		}
		if x.Title == "" || x.Question == "" || x.Run == nil || x.Paper != "" && x.Says == "" {
			t.Errorf("%s: title, question, run or what %s says is missing", x.ID, x.Paper)
		}
		seen[x.ID] = true
		for _, pattern := range x.Data {
			if _, err := path.Match(pattern, ""); err != nil || !fs.ValidPath(pattern) || pattern == "." {
				t.Errorf("%s: data %q: it must be a name or a glob with slashes, within the folder with data", x.ID, pattern)
			}
		}
	}
}

// Claims are told apart by their names, in results and in pages.
func TestClaimsHaveNames(t *testing.T) {
	for _, x := range All() {
		seen := map[string]bool{}
		for _, c := range x.Claims {
			if c.Name == "" || seen[c.Name] {
				t.Errorf("%s: claim %q is without a name or there twice", x.ID, c.Name)
			}
			seen[c.Name] = true
		}
	}
}

func TestParametersHaveNames(t *testing.T) {
	for _, x := range All() {
		seen := map[string]bool{}
		for _, p := range x.Params {
			if p.Name == "" || seen[p.Name] {
				t.Errorf("%s: parameter %q is there twice", x.ID, p.Name)
			}
			seen[p.Name] = true
		}
	}
}

func TestEveryPaperHasAPage(t *testing.T) {
	for _, x := range All() {
		tag := strings.ToLower(strings.Trim(x.Paper, "[]"))
		if tag == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join("..", "..", "..", "docs", "papers", tag+".md")); err != nil {
			t.Errorf("%s: %v", x.ID, err)
		}
	}
}
