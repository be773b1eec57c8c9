package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
	"testing"
)

// commentProblems checks that each package has one package comment that
// go doc shows and that starts as the convention wants.
func commentProblems(pkgs []goPackage) []string {
	var out []string
	for _, p := range pkgs {
		var with []string
		for _, f := range p.code() {
			if text := f.syn.Doc.Text(); text != "" {
				with = append(with, f.name)
				if start := opening(p); !strings.HasPrefix(text, start) {
					out = append(out, fmt.Sprintf("%s: the package comment must start with %q", f.name, start))
				}
			} else if c := detached(f); c != nil {
				out = append(out, fmt.Sprintf("%s: this package comment is detached, so go doc does not show it: "+
					"remove the empty line below it", f.place(c)))
			}
		}
		switch {
		case len(with) == 0:
			out = append(out, fmt.Sprintf("package %s has no package comment: write one, in doc.go if it is long", p.path))
		case len(with) > 1:
			out = append(out, fmt.Sprintf("package %s has %d package comments, keep one: %s", p.path, len(with), strings.Join(with, ", ")))
		}
	}
	return out
}

// opening returns how the comment of a package begins.
func opening(p goPackage) string {
	if p.name == "main" {
		return "Command " + path.Base(p.path) + " "
	}
	return "Package " + p.name + " "
}

// detached returns a comment above the package clause that reads like a package
// comment but is not one, because a line is between the two.
func detached(f goFile) *ast.CommentGroup {
	for _, c := range f.syn.Comments {
		text := c.Text()
		if c.End() < f.syn.Package && (strings.HasPrefix(text, "Package ") || strings.HasPrefix(text, "Command ")) {
			return c
		}
	}
	return nil
}

func TestEveryPackageHasOneComment(t *testing.T) {
	report(t, commentProblems(packages(t)))
}

func TestCommentCheckRefusesMissingDoubleDetachedAndOdd(t *testing.T) {
	pkg := func(path, name string, texts ...string) goPackage {
		p := goPackage{path: path, name: name}
		for i, text := range texts {
			p.files = append(p.files, source(t, fmt.Sprintf("%s/%d.go", path, i), text))
		}
		return p
	}
	wantProblems(t, commentProblems([]goPackage{
		pkg("good", "good", "// Package good is good.\npackage good", "package good", "// Command gen is a generator.\npackage main"),
		pkg("none", "none", "//go:build linux\n\npackage none"),
		pkg("two", "two", "// Package two is one.\npackage two", "// Package two is two.\npackage two"),
		pkg("away", "away", "// Package away is away.\n\npackage away"),
		pkg("odd", "odd", "// This package is odd.\npackage odd"),
		pkg("cmd/tool", "main", "// Command tool does it.\npackage main"),
		pkg("cmd/other", "main", "// Package main does it.\npackage main"),
	}),
		"package none has no package comment",
		"package two has 2 package comments, keep one: two/0.go, two/1.go",
		"away/0.go:1: this package comment is detached",
		"package away has no package comment",
		`odd/0.go: the package comment must start with "Package odd "`,
		`cmd/other/0.go: the package comment must start with "Command other "`,
	)
}
