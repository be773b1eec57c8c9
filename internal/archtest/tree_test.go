package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
)

const (
	module = "github.com/everbloom-go/everbloom"
	root   = "../.." // tests run in the folder of their package
)

// A goFile is one parsed file. Files that build constraints leave out on this
// machine are parsed too, so that every check sees all variants.
type goFile struct {
	name string // from the top of the tree, with slashes
	syn  *ast.File
	fset *token.FileSet
}

func (f goFile) test() bool { return strings.HasSuffix(f.name, "_test.go") }

// place returns the position of a node as file:line.
func (f goFile) place(n ast.Node) string {
	return f.name + ":" + strconv.Itoa(f.fset.Position(n.Pos()).Line)
}

// imports returns the paths that the file imports.
func (f goFile) imports() []string {
	var paths []string
	for _, spec := range f.syn.Imports {
		p, _ := strconv.Unquote(spec.Path.Value) // the parser has accepted it
		paths = append(paths, p)
	}
	return paths
}

// A goPackage is a folder of Go files. Its path is relative to the module, the
// root package is ".".
type goPackage struct {
	path  string
	files []goFile
}

// parse parses one file; src as in parser.ParseFile.
func parse(filename, name string, src any) (goFile, error) {
	fset := token.NewFileSet()
	syn, err := parser.ParseFile(fset, filename, src, parser.ParseComments|parser.SkipObjectResolution)
	return goFile{name: name, syn: syn, fset: fset}, err
}

// source is a file of a bad example.
func source(t *testing.T, name, text string) goFile {
	t.Helper()
	f, err := parse(name, name, text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// loadPackages asks the go command, once per test run, for the packages of the
// module and parses all their files.
var loadPackages = sync.OnceValues(func() ([]goPackage, error) {
	out, err := goList("-e", "-json=ImportPath,Dir", "./...")
	if err != nil {
		return nil, err
	}
	var pkgs []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var listed struct{ ImportPath, Dir string }
		if err := dec.Decode(&listed); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, err
		}
		p := goPackage{path: relative(listed.ImportPath)}
		if p.files, err = parseFolder(listed.Dir, p.path); err != nil {
			return nil, err
		}
		pkgs = append(pkgs, p)
	}
})

// relative turns an import path of this module into a path from its top.
func relative(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

func parseFolder(dir, rel string) ([]goFile, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []goFile
	for _, name := range names {
		f, err := parse(name, path.Join(rel, filepath.Base(name)), nil)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// goList runs go list at the top of the module, always for the same platform,
// so that the answer does not depend on the one under test.
func goList(args ...string) ([]byte, error) {
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, &stderr)
	}
	return out, nil
}

// packages returns the packages of the module.
func packages(t *testing.T) []goPackage {
	t.Helper()
	effort.OneGoroutine(t)
	pkgs, err := loadPackages()
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

// notOurs are the entries at the top of the tree that git ignores or owns; in a
// linked working tree .git is a file.
var notOurs = []string{".git", "bin", "dist", "lab-results"}

// walk visits every file of the tree.
func walk(t *testing.T, visit func(name string, data []byte)) {
	t.Helper()
	effort.OneGoroutine(t)
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if slices.Contains(notOurs, name) && d.IsDir() {
			return fs.SkipDir
		}
		if slices.Contains(notOurs, name) || !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			visit(name, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// report fails the test with all problems.
func report(t *testing.T, problems []string) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}

// wantProblems checks that a bad example gave exactly these problems, each
// named by a part of its text.
func wantProblems(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d problems, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i, part := range want {
		if !strings.Contains(got[i], part) {
			t.Errorf("problem %d: got %q, want a text with %q", i, got[i], part)
		}
	}
}
