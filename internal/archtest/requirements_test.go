package archtest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/requirements.txt")

const requirementsFile = "testdata/requirements.txt"

// applications are the units that users of the library do not import, so what
// they need does not reach those users. What is internal to them is none of the
// library's as long as no package of it imports it.
var applications = []string{"gate/...", "internal/gate/...", "internal/lab/...", "cmd/everbloom/...", "examples/...", "internal/capture/..."}

// isLibrary reports whether a package is one that a user may come to depend on.
func isLibrary(pkg string) bool {
	name, _, _ := unit(pkg)
	return !slices.Contains(applications, name)
}

// libraryModules lists the other modules that the library's packages import,
// directly or not.
func libraryModules(pkgs []goPackage) ([]string, error) {
	args := []string{"-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}
	for _, p := range pkgs {
		if isLibrary(p.path) {
			args = append(args, "./"+p.path)
		}
	}
	out, err := goList(args...)
	if err != nil {
		return nil, err
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	return slices.DeleteFunc(slices.Compact(modules), func(m string) bool { return m == module }), nil
}

// requirementProblems compares the modules that are needed with those agreed on.
func requirementProblems(needed, agreed []string) []string {
	var out []string
	for _, m := range needed {
		if !slices.Contains(agreed, m) {
			out = append(out, fmt.Sprintf("the library now requires %s, and so do its users", m))
		}
	}
	for _, m := range agreed {
		if !slices.Contains(needed, m) {
			out = append(out, fmt.Sprintf("the library no longer requires %s", m))
		}
	}
	return out
}

func TestLibraryRequiresOnlyTheModulesAgreedOn(t *testing.T) {
	needed, err := libraryModules(packages(t))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(requirementsFile, []byte(strings.Join(append(needed, ""), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(requirementsFile)
	if err != nil {
		t.Fatal(err)
	}
	if problems := requirementProblems(needed, strings.Fields(string(data))); len(problems) > 0 {
		report(t, problems)
		t.Errorf("if that is meant, renew internal/archtest/%s: go test ./internal/archtest -run Requires -update", requirementsFile)
	}
}

func TestRequirementCheckRefusesNewAndStaleModules(t *testing.T) {
	wantProblems(t, requirementProblems([]string{"a", "new"}, []string{"a", "stale"}),
		"now requires new", "no longer requires stale")
	for pkg, want := range map[string]bool{".": true, "filter/bloom": true, "internal/lab/plot": false, "cmd/everbloom": false, "internal/capture": false, "internal/frame": true} {
		if isLibrary(pkg) != want {
			t.Errorf("isLibrary(%q) = %t", pkg, !want)
		}
	}
}
