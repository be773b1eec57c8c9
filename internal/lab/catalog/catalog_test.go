package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryExperimentIsWellDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range All() {
		if err := x.Check(); err != nil {
			t.Error(err)
		}
		if seen[x.ID] {
			t.Errorf("%s is there twice", x.ID)
		}
		seen[x.ID] = true
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
