package archtest

import (
	"fmt"
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

// papersFolder has one page per paper, named after the tag in lower case.
const papersFolder = "docs/papers"

func page(tag string) string { return papersFolder + "/" + strings.ToLower(tag) + ".md" }

// isTheory reports whether a file holds formulas.
func isTheory(f goFile) bool {
	return !f.test() && (path.Dir(f.name) == "internal/theory" || path.Base(f.name) == "theory.go")
}

// citationProblems checks that the exported functions of theory files cite a
// paper, and that each cited paper has its page.
func citationProblems(files []goFile, hasPage func(tag string) bool) []string {
	var out []string
	for _, f := range files {
		if !isTheory(f) {
			continue
		}
		for _, decl := range f.syn.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !fn.Name.IsExported() {
				continue
			}
			tags := tag.FindAllStringSubmatch(fn.Doc.Text(), -1)
			if len(tags) == 0 {
				out = append(out, fmt.Sprintf("%s: %s cites no paper: write where the formula comes from, such as [Sum] Sec. 2, into its comment",
					f.place(fn), fn.Name.Name))
			}
			for _, m := range tags {
				if !hasPage(m[1]) {
					out = append(out, fmt.Sprintf("%s: %s cites %s, which has no page: write %s", f.place(fn), fn.Name.Name, m[0], page(m[1])))
				}
			}
		}
	}
	return out
}

func TestExportedTheoryCitesPapersThatHaveAPage(t *testing.T) {
	hasPage := func(tag string) bool {
		_, err := os.Stat(filepath.Join(root, page(tag)))
		return err == nil
	}
	for _, p := range packages(t) {
		report(t, citationProblems(p.files, hasPage))
	}
}

func TestCitationCheckRefusesMissingAndUnknownPapers(t *testing.T) {
	const text = `package p

// Cited is from [Sum] Sec. 2.
func Cited() {}

// Linked is like [Cited] and [math.Log].
func Linked() {}

func Bare() {}

// Strange is from [Foo99] and [EBF21].
func Strange() {}

// String needs no paper.
func (T) String() string { return "" }

func small() {}
`
	hasPage := func(tag string) bool { return tag == "Sum" || tag == "EBF21" }
	problems := []string{
		"Linked cites no paper",
		"Bare cites no paper",
		"Strange cites [Foo99], which has no page: write docs/papers/foo99.md",
	}
	for _, name := range []string{"internal/theory/sizing.go", "filter/bloom/theory.go"} {
		wantProblems(t, citationProblems([]goFile{source(t, name, text)}, hasPage), problems...)
	}
	for _, name := range []string{"internal/theory/sizing_test.go", "filter/bloom/filter.go"} {
		wantProblems(t, citationProblems([]goFile{source(t, name, text)}, hasPage))
	}
}
