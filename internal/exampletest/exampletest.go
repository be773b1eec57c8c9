// Package exampletest runs the commands that the package comment of an example shows,
// in the tests of the example. The test binary stands in for the program, so that no
// further program is linked:
//
//	func TestMain(m *testing.M)    { exampletest.Main(m, main) }
//	func TestSamples(t *testing.T) { exampletest.Samples(t) }
package exampletest

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// asProgram is the variable that makes a test binary run as the example.
const asProgram = "EVERBLOOM_AS_EXAMPLE"

// Main runs the tests, or the example in a process that Samples has started.
func Main(m *testing.M, main func()) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	main()
	os.Exit(0)
}

// Samples runs each command of the package comment and compares its output with the
// lines below it.
func Samples(t *testing.T) {
	t.Helper()
	effort.PlainOnly(t)
	if runtime.GOOS != "linux" {
		t.Skip("needs a shell")
	}
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	folder, err1 := os.Getwd()
	binary, err2 := os.Executable()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	program := "go run ./examples/" + filepath.Base(folder)
	found := samples(file.Doc.Text())
	if len(found) == 0 {
		t.Errorf("the package comment has no line \"$ … %s …\" with its output", program)
	}
	for _, s := range found {
		command := exec.Command("bash", "-eu", "-o", "pipefail", "-c", strings.ReplaceAll(s.command, program, binary))
		command.Dir = t.TempDir()
		command.Env = append(os.Environ(), asProgram+"=1")
		out, err := command.CombinedOutput()
		if err != nil || string(out) != s.output || !strings.Contains(s.command, program) {
			t.Errorf("%s: %v, printed\n%sand the comment shows\n%s", s.command, err, out, s.output)
		}
	}
}

// A sample is a command of an example's package comment, and its output.
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
