package archtest

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
)

const (
	examplesFolder  = "examples"
	maxExampleLines = 99 // of a whole program: it is read in one go
)

// A sample is a command of an example's package comment, and what it prints.
type sample struct{ command, output string }

// samples finds them: code that begins with a dollar, and the lines below it.
func samples(comment string) (out []sample) {
	for line := range strings.Lines(comment) {
		code, isCode := strings.CutPrefix(line, "\t")
		command, isCommand := strings.CutPrefix(code, "$ ")
		switch {
		case isCommand:
			out = append(out, sample{command: strings.TrimSpace(command)})
		case isCode && len(out) > 0:
			out[len(out)-1].output += code
		}
	}
	return out
}

// comment returns the package comment.
func comment(p goPackage) (text string) {
	for _, f := range p.code() {
		text += f.syn.Doc.Text()
	}
	return text
}

// examplePrograms returns the packages that are examples.
func examplePrograms(pkgs []goPackage) (out []goPackage) {
	for _, p := range pkgs {
		if path.Dir(p.path) == examplesFolder {
			out = append(out, p)
		}
	}
	return out
}

// exampleProblems checks that examples are short, tested, shown at work and listed.
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
		if len(p.code()) == len(p.files) {
			out = append(out, fmt.Sprintf("%s has no test", p.path))
		}
		shown := samples(comment(p))
		if len(shown) == 0 || !strings.Contains(shown[0].command, "go run ./"+p.path) {
			out = append(out, fmt.Sprintf("%s: the package comment has no line \"$ … go run ./%s …\" with its output", p.path, p.path))
		}
		if !strings.Contains(readme, "]("+p.path+")") {
			out = append(out, fmt.Sprintf("%s is not in README.md's table of examples", p.path))
		}
	}
	return out
}

func TestExamplesAreShortTestedShownAndListed(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, exampleProblems(packages(t), string(readme)))
}

// TestExamplesPrintWhatTheyShow runs the samples with programs built from here.
func TestExamplesPrintWhatTheyShow(t *testing.T) {
	effort.OneGoroutine(t)
	if runtime.GOOS != "linux" || strconv.IntSize == 32 {
		t.Skip("needs the go tool and a shell, and builds what one platform has shown to work")
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "./"+examplesFolder+"/...")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, p := range examplePrograms(packages(t)) {
		for _, s := range samples(comment(p)) {
			program := filepath.Join(bin, path.Base(p.path))
			run := exec.Command("bash", "-eu", "-o", "pipefail", "-c", strings.ReplaceAll(s.command, "go run ./"+p.path, program))
			run.Dir = t.TempDir()
			if out, err := run.CombinedOutput(); err != nil || string(out) != s.output {
				t.Errorf("%s: %s\n%v, printed\n%sand shows\n%s", p.path, s.command, err, out, s.output)
			}
		}
	}
}

func TestSamplesAreCutOut(t *testing.T) {
	got := samples("Command a is.\n\n\tx  y\n\n\t$ one | two\n\t1\n\t 2\n\nText.\n\n\t$ three\n")
	want := []sample{{"one | two", "1\n 2\n"}, {"three", ""}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestExampleCheckRefusesLongUntestedSilentAndHidden(t *testing.T) {
	const doc = "// Command %[1]s is an example.\n//\n//\t$ go run ./examples/%[1]s\npackage main\n"
	pkg := func(name, text string, tests ...goFile) goPackage {
		dir := examplesFolder + "/" + name
		return goPackage{path: dir, name: "main", files: append(tests, source(t, dir+"/main.go", text))}
	}
	test := source(t, "main_test.go", "package main")
	readme := "[good](examples/good) [long](examples/long) [untested](examples/untested) [silent](examples/silent)"
	wantProblems(t, exampleProblems([]goPackage{
		pkg("good", fmt.Sprintf(doc, "good")+strings.Repeat("//\n", maxExampleLines-4), test),
		pkg("long", fmt.Sprintf(doc, "long")+strings.Repeat("//\n", maxExampleLines-3), test),
		pkg("untested", fmt.Sprintf(doc, "untested")),
		pkg("silent", "// Command silent is an example.\npackage main\n", test),
		pkg("hidden", fmt.Sprintf(doc, "hidden"), test),
		{path: "cmd/everbloom", name: "main"},
	}, readme),
		"examples/long has 100 lines",
		"examples/untested has no test",
		`examples/silent: the package comment has no line "$ … go run ./examples/silent …"`,
		"examples/hidden is not in README.md's table",
	)
}
