package everbloom

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/kinds"
)

var update = flag.Bool("update", false, "renew the generated parts of docs/choosing.md and CHANGELOG.md")

const readme = "README.md"

func readReadme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(readme)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("there is no README.md yet")
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// between returns what stands in text after the first from, up to the next to.
func between(text, from, to string) (inside string, found bool) {
	_, rest, ok1 := strings.Cut(text, from)
	inside, _, ok2 := strings.Cut(rest, to)
	return inside, ok1 && ok2
}

// exampleBody returns the part of the function Example that is shown: what comes
// after its first statement, up to the output, without the indentation.
func exampleBody(source string) (string, bool) {
	body, ok := between(source, "func Example() {\n\tdefer inTemporaryFolder()()\n\n", "\n\n\t// Output:\n")
	return strings.ReplaceAll("\n"+body, "\n\t", "\n")[1:] + "\n", ok
}

func TestReadmeShowsTheExample(t *testing.T) {
	text := readReadme(t)
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	want, ok := exampleBody(string(source))
	if !ok {
		t.Fatal("example_test.go has no function Example of the known form")
	}
	got, ok := between(text, "```go\n", "```\n")
	if !ok {
		t.Fatal("README.md shows no Go code")
	}
	if got != want {
		t.Errorf("the first code in README.md is\n%s\nand that of Example\n%s", got, want)
	}
}

func TestChoosingHasTheTableOfKinds(t *testing.T) {
	const page, begin, end = "docs/choosing.md", "<!-- kinds -->\n", "<!-- /kinds -->"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	got, ok := between(text, begin, end)
	if !ok {
		t.Fatalf("%s has no %s and %s", page, strings.TrimSpace(begin), end)
	}
	want := kinds.Markdown()
	if got == want {
		return
	}
	if !*update {
		t.Fatalf("the table in %s is old: go test -run Choosing -update .\n%s", page, want)
	}
	renewed := strings.Replace(text, begin+got+end, begin+want+end, 1)
	if err := os.WriteFile(page, []byte(renewed), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestExampleBodyIsCutOut(t *testing.T) {
	const source = "func Other() {}\n\nfunc Example() {\n\tdefer inTemporaryFolder()()\n\n\tif a {\n\t\tb()\n\t}\n\n\tc()\n\n\t// Output:\n\t// 1\n}\n"
	if got, ok := exampleBody(source); !ok || got != "if a {\n\tb()\n}\n\nc()\n" {
		t.Errorf("got %q", got)
	}
	if _, ok := exampleBody("func Example() {\n}\n"); ok {
		t.Error("an example of another form was accepted")
	}
}

// TestReadmeCommandsWork runs the commands that README.md shows for the tool, as a
// newcomer would, with the tool built from here.
func TestReadmeCommandsWork(t *testing.T) {
	effort.OneGoroutine(t)
	if runtime.GOOS != "linux" || strconv.IntSize == 32 {
		t.Skip("needs the go tool and a shell, and builds what one platform has shown to work")
	}
	_, rest, found := strings.Cut(readReadme(t), "## On the command line\n\n```sh\n")
	commands, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("README.md shows no commands")
	}
	folder := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(folder, "bin", "everbloom"), "./cmd/everbloom")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	script := strings.Replace(commands, "make build && ", "", 1)
	run := exec.Command("bash", "-eu", "-c", script)
	run.Dir = folder
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "100001\n100002\n") {
		t.Errorf("%v:\n%s", err, out)
	}
}
