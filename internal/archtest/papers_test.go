package archtest

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tag matches the citation of a paper: a name with the last two digits of its
// year, or the summary that has none. Other words in brackets are doc links.
var tag = regexp.MustCompile(`\[([A-Za-z]+[0-9]{2}|Sum)\]`)

// isTheory reports whether a file holds formulas.
func isTheory(f goFile) bool {
	return !f.test() && (path.Dir(f.name) == "internal/theory" || path.Base(f.name) == "theory.go")
}

// TestExportedTheoryCitesPapersThatHaveAPage wants a page in docs/papers, named after
// the tag in lower case.
func TestExportedTheoryCitesPapersThatHaveAPage(t *testing.T) {
	functions := 0
	for _, p := range packages(t) {
		for _, f := range p.files {
			if !isTheory(f) {
				continue
			}
			for _, decl := range f.syn.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.IsExported() {
					functions++
					wantCitation(t, f, fn)
				}
			}
		}
	}
	if functions == 0 {
		t.Error("there is no theory")
	}
}

func wantCitation(t *testing.T, f goFile, fn *ast.FuncDecl) {
	t.Helper()
	tags := tag.FindAllStringSubmatch(fn.Doc.Text(), -1)
	if len(tags) == 0 {
		t.Errorf("%s: %s cites no paper: write where the formula comes from, such as [Sum] Sec. 2, into its comment",
			f.place(fn), fn.Name.Name)
	}
	for _, m := range tags {
		page := "docs/papers/" + strings.ToLower(m[1]) + ".md"
		if _, err := os.Stat(filepath.Join(root, page)); err != nil {
			t.Errorf("%s: %s cites %s, which has no page: write %s", f.place(fn), fn.Name.Name, m[0], page)
		}
	}
}
