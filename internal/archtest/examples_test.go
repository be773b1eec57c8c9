package archtest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	examplesFolder  = "examples"
	maxExampleLines = 99 // of a whole program: it is read in one go
)

// examplePrograms returns the packages that are examples.
func examplePrograms(pkgs []goPackage) (out []goPackage) {
	for _, p := range pkgs {
		if path.Dir(p.path) == examplesFolder {
			out = append(out, p)
		}
	}
	return out
}

// exampleProblems checks that examples are short, tested and listed.
func exampleProblems(pkgs []goPackage, readme string) []string {
	var out []string
	for _, p := range examplePrograms(pkgs) {
		lines := 0
		for _, f := range p.code() {
			lines += f.fset.File(f.syn.FileStart).LineCount()
		}
		if lines > maxExampleLines {
			out = append(out, fmt.Sprintf("%s has %d lines, the limit for an example is %d", p.path, lines, maxExampleLines))
		}
		if !slices.ContainsFunc(p.files, runsSamples) {
			out = append(out, fmt.Sprintf("%s has no test that calls exampletest.Samples", p.path))
		}
		if !strings.Contains(readme, "]("+p.path+")") {
			out = append(out, fmt.Sprintf("%s is not in README.md's table of examples", p.path))
		}
	}
	return out
}

// runsSamples reports whether a file is a test that runs what the example shows.
func runsSamples(f goFile) bool {
	return f.test() && slices.Contains(f.imports(), module+"/internal/exampletest")
}

func TestExamplesAreShortTestedAndListed(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, exampleProblems(packages(t), string(readme)))
}

func TestExampleCheckRefusesLongUntestedAndHidden(t *testing.T) {
	pkg := func(name string, lines int, test string) goPackage {
		dir := examplesFolder + "/" + name
		text := "package main\n" + strings.Repeat("//\n", lines-1)
		return goPackage{path: dir, name: "main", files: []goFile{source(t, dir+"/main.go", text), source(t, dir+"/main_test.go", test)}}
	}
	const test = "package main\nimport _ \"" + module + "/internal/exampletest\"\n"
	readme := "[good](examples/good) [long](examples/long) [untested](examples/untested)"
	wantProblems(t, exampleProblems([]goPackage{
		pkg("good", maxExampleLines, test),
		pkg("long", maxExampleLines+1, test),
		pkg("untested", 1, "package main"),
		pkg("hidden", 1, test),
		{path: "cmd/everbloom", name: "main"},
	}, readme),
		"examples/long has 100 lines",
		"examples/untested has no test that calls exampletest.Samples",
		"examples/hidden is not in README.md's table",
	)
}
