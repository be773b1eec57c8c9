package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// emptyNames say where code was put, not what it is about.
var emptyNames = []string{"base", "common", "helpers", "types", "util", "utils"}

// noisy are the packages, with all below them, that do I/O or log.
var noisy = []string{"log", "net", "os"}

// nameProblems checks that package names mean something.
func nameProblems(pkgs []goPackage) []string {
	var out []string
	for _, p := range pkgs {
		if slices.Contains(emptyNames, p.name) || slices.Contains(emptyNames, path.Base(p.path)) {
			out = append(out, fmt.Sprintf("package %s: the name says nothing: call it after what it provides", p.path))
		}
	}
	return out
}

// silenceProblems checks that theory and the packages under filter only compute.
func silenceProblems(pkgs []goPackage) []string {
	var out []string
	for _, p := range pkgs {
		if p.path != "internal/theory" && p.path != "filter" && !strings.HasPrefix(p.path, "filter/") {
			continue
		}
		for _, f := range p.code() {
			for _, imp := range f.imports() {
				first, _, _ := strings.Cut(imp, "/")
				if slices.Contains(noisy, first) {
					out = append(out, fmt.Sprintf("%s: imports %s: filters and theory neither do I/O nor log: "+
						"return an error, take an io.Reader or io.Writer, or use internal/mem", f.name, imp))
				}
			}
			out = append(out, printProblems(f)...)
		}
	}
	return out
}

// printProblems finds calls that print to the standard output or error.
func printProblems(f goFile) []string {
	var out []string
	ast.Inspect(f.syn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if name := calledName(call); slices.Contains(printers, name) {
			out = append(out, fmt.Sprintf("%s: calls %s: libraries do not print", f.place(call), name))
		}
		return true
	})
	return out
}

var printers = []string{"fmt.Print", "fmt.Printf", "fmt.Println", "print", "println"}

// calledName returns "f" or "pkg.f" for a call of that form, otherwise nothing.
func calledName(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		if x, ok := fun.X.(*ast.Ident); ok {
			return x.Name + "." + fun.Sel.Name
		}
	}
	return ""
}

func TestPackageNamesMeanSomething(t *testing.T) {
	report(t, nameProblems(packages(t)))
}

func TestFiltersAndTheoryNeitherDoIONorPrint(t *testing.T) {
	report(t, silenceProblems(packages(t)))
}

func TestNameCheckRefusesEmptyNames(t *testing.T) {
	wantProblems(t, nameProblems([]goPackage{
		{path: "filter/bloom", name: "bloom"},
		{path: "internal/util", name: "util"},
		{path: "internal/lab/common", name: "lab"},
	}),
		"package internal/util", "package internal/lab/common")
}

func TestSilenceCheckRefusesNoise(t *testing.T) {
	const text = `package p

import (
	"fmt"
	"log/slog"
	"os"
)

func f(w io.Writer) {
	fmt.Fprintln(w, fmt.Sprint(1))
	fmt.Println(1)
	println(1)
}
`
	pkg := func(path, name string) goPackage {
		return goPackage{path: path, name: "p", files: []goFile{source(t, path+"/"+name, text)}}
	}
	wantProblems(t, silenceProblems([]goPackage{
		pkg("filter/bloom", "a.go"), pkg("filter/bloom", "a_test.go"), pkg("lab", "a.go"),
	}),
		"filter/bloom/a.go: imports log/slog", "imports os", "a.go:11: calls fmt.Println", "a.go:12: calls println")
}
