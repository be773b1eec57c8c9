package kinds

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// TestANewKindIsAFolderAndARow builds the tree as if filter/bitmap were in it, the kind in
// testdata, and its row in the table. Nothing else changes: the tests that look at all
// kinds must pass, on the pages and golden files that -update makes.
func TestANewKindIsAFolderAndARow(t *testing.T) {
	effort.PlainOnly(t)
	overlay := overlayWith(t, "bitmap")
	copied := t.TempDir()
	if err := os.CopyFS(filepath.Join(copied, "testdata"), os.DirFS("../../testdata")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(copied, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(copied, "docs", "choosing.md"), read(t, "../../docs/choosing.md"))
	trials := []struct{ pkg, dir, run, update string }{
		{pkg: "./filter/bitmap", dir: copied},
		{pkg: "./internal/kinds", dir: ".", run: "Names|Rows|Texts|NewMakes|Refusals|ReadFinds|PredictionsMakeSense"},
		{pkg: ".", dir: copied, run: "Golden|Choosing|Describe", update: "Golden|Choosing"},
		{pkg: "./internal/lab/field", dir: copied, run: "TrialsDoNotRace"}, // for the long form
	}
	for _, c := range trials[:effort.Pick(3, 4)] {
		program := filepath.Join(t.TempDir(), "test.exe")
		build := exec.Command("go", "test", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-c", "-o", program, c.pkg)
		build.Dir = filepath.Join("..", "..")
		run(t, build)
		if c.update != "" {
			update := exec.Command(program, "-test.run", c.update, "-update")
			update.Dir = c.dir
			run(t, update)
		}
		test := exec.Command(program, "-test.run", c.run)
		test.Dir = c.dir
		run(t, test)
	}
}

// overlayWith returns the path of a list of replaced files, for go's -overlay: a kind of
// testdata in filter, and the table of kinds with its row and import.
func overlayWith(t *testing.T, kind string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", kind, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no files: %v", kind, err)
	}
	replace := map[string]string{}
	for _, file := range files {
		replace[absolute(t, filepath.Join("..", "..", "filter", kind, filepath.Base(file)))] = absolute(t, file)
	}
	const module, begin = "\t\"github.com/everbloom-go/everbloom/filter/", "var table = []Kind{\n"
	text := strings.Replace(read(t, "table.go"), module, module+kind+"\"\n"+module, 1)
	text = strings.Replace(text, begin, begin+read(t, filepath.Join("testdata", kind, "row.txt")), 1)
	dir := t.TempDir()
	replace[absolute(t, "table.go")] = filepath.Join(dir, "table.go")
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "table.go"), text)
	write(t, filepath.Join(dir, "overlay.json"), string(list))
	return filepath.Join(dir, "overlay.json")
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}
