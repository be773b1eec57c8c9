package archtest

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const maxExampleLines = 99 // of a whole program: it is read in one go

func TestExamplesAreShortTestedAndListed(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages(t) {
		if path.Dir(p.path) != "examples" {
			continue
		}
		lines, tested := 0, false
		for _, f := range p.files {
			if f.test() {
				tested = tested || slices.Contains(f.imports(), module+"/internal/exampletest")
			} else {
				lines += f.fset.File(f.syn.FileStart).LineCount()
			}
		}
		if lines > maxExampleLines {
			t.Errorf("%s has %d lines, the limit for an example is %d", p.path, lines, maxExampleLines)
		}
		if !tested {
			t.Errorf("%s has no test that calls exampletest.Samples", p.path)
		}
		if !strings.Contains(string(readme), "]("+p.path+")") {
			t.Errorf("%s is not in README.md's table of examples", p.path)
		}
	}
}
