package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// layers is the order of the packages: each imports only what stands in an
// earlier row. A name that ends in "/..." is a tree of packages that counts as
// one: inside it they may import each other. One that ends in "/*" is every package
// of a folder that no other row names: the kinds.
var layers = [][]string{
	{"internal/fault", "internal/quantity"},
	{
		"internal/archtest",
		"internal/bitvec",
		"internal/effort",
		"internal/line/...",
		"internal/mem",
		"internal/packed",
		"internal/replace",
		"internal/sizing",
		"internal/theory",
		"internal/timing",
	},
	{"filter"},
	{"internal/frame", "internal/probe"},
	{"internal/merging"},
	{"filter/bloom", "filter/counting", "internal/filtertest"},
	{"filter/evergreen/...", "filter/*"},
	{"internal/kinds"},
	{".", "internal/capture/..."},
	{"gate/..."},
	{"internal/draw", "internal/exampletest", "internal/gate/...", "server/internal/resp", "server/internal/setting", "server/internal/record", "server/internal/rebloom/...", "server/internal/picture", "server/load"},
	{"internal/lab/...", "server/internal/log/..."},
	{"server/internal/store"},
	{"server/internal/image", "server/internal/partition"},
	{"server/internal/cluster/...", "server/internal/command", "server/console"},
	{"server/internal/router"},
	{"server"},
	{"server/transfer", "server/demo"},
	{"cmd/everbloom/...", "examples/..."},
}

// sideways lists the imports inside one layer that are allowed, with the reason.
var sideways = map[[2]string]string{
	{"filter/counting", "filter/bloom"}: "Bloom() derives the plain filter",
}

// forTests may be imported by the tests of every layer.
var forTests = []string{"internal/filtertest", "internal/effort"}

// unit finds the row of the table that a package belongs to.
func unit(pkg string) (name string, layer int, ok bool) {
	for i, row := range layers {
		for _, entry := range row {
			tree, isTree := strings.CutSuffix(entry, "/...")
			if pkg == entry || isTree && (pkg == tree || strings.HasPrefix(pkg, tree+"/")) {
				return entry, i, true
			}
		}
	}
	for i, row := range layers {
		if slices.Contains(row, path.Dir(pkg)+"/*") {
			return pkg, i, true
		}
	}
	return "", 0, false
}

// layerProblems checks that every package has its place and imports downwards.
func layerProblems(pkgs []goPackage) []string {
	var out []string
	for _, p := range pkgs {
		if _, _, ok := unit(p.path); !ok {
			out = append(out, fmt.Sprintf("package %s has no place in the layers: "+
				"add it to the table in internal/archtest/layers_test.go, above everything it imports, and to ARCHITECTURE.md", p.path))
			continue
		}
		for _, f := range p.files {
			out = append(out, importProblems(p.path, f)...)
		}
	}
	return out
}

// importProblems checks the imports of one file of package pkg.
func importProblems(pkg string, f goFile) []string {
	var out []string
	for _, imp := range f.imports() {
		if imp != module && !strings.HasPrefix(imp, module+"/") {
			continue
		}
		target := relative(imp)
		if f.test() && (slices.Contains(forTests, target) || target == pkg) {
			continue
		}
		if why := refuse(pkg, target); why != "" {
			out = append(out, fmt.Sprintf("%s: %s must not import %s: %s", f.name, pkg, target, why))
		}
	}
	return out
}

// refuse says why package from may not import package to, or nothing.
func refuse(from, to string) string {
	fromUnit, fromLayer, _ := unit(from)
	toUnit, toLayer, ok := unit(to)
	switch {
	case !ok:
		return "it has no place in the table of internal/archtest/layers_test.go"
	case toLayer > fromLayer:
		return fmt.Sprintf("layer %d is above layer %d; move the shared part down or the caller up", toLayer, fromLayer)
	case toLayer == fromLayer && toUnit != fromUnit && sideways[[2]string{from, to}] == "":
		return fmt.Sprintf("both are in layer %d; move the shared part down", toLayer)
	}
	return ""
}

func TestPackagesImportLowerLayersOnly(t *testing.T) {
	report(t, layerProblems(packages(t)))
}

func TestLayerCheckRefusesUpwardSidewardAndUnknown(t *testing.T) {
	imports := func(pkg, file string, targets ...string) goPackage {
		text := "package p; import (_ \"" + strings.Join(targets, "\"; _ \"") + "\")"
		return goPackage{path: pkg, files: []goFile{source(t, pkg+"/"+file, text)}}
	}
	wantProblems(t, layerProblems([]goPackage{
		imports("filter", "up.go", "fmt", module+"/filter/bloom"),
		imports("filter/bloom", "side.go", module+"/filter/counting", module+"/filter", module+"/internal/theory"),
		imports("filter/counting", "allowed.go", module+"/filter/bloom"),
		imports("internal/mem", "zero.go", module+"/internal/bitvec"),
		imports("filter/dleft", "test.go", module+"/internal/filtertest"),
		imports("filter/bloom", "conformance_test.go", module+"/internal/filtertest", module+"/filter/bloom"),
		imports("filter/bloom", "high_test.go", module+"/filter/elastic"),
		imports("cmd/everbloom", "root.go", module, module+"/cmd/everbloom/internal/flags"),
		imports("gate", "lab.go", module+"/internal/gate/exact", module+"/gate/pattern"),
		imports("filter/newkind", "new.go", "fmt", module+"/filter/bloom"),
		imports("filter/newkind", "side.go", module+"/filter/elastic"),
		imports("internal/kinds", "new.go", module+"/filter/newkind"),
		imports("internal/newroom", "new.go", "fmt"),
		imports("internal/kinds", "newroom.go", module+"/internal/newroom"),
	}),
		"filter/up.go: filter must not import filter/bloom: layer ",
		"filter/bloom must not import filter/counting: both are in layer ",
		"internal/mem must not import internal/bitvec: both are in layer ",
		"filter/bloom/high_test.go: filter/bloom must not import filter/elastic: layer ",
		"gate must not import internal/gate/exact: layer ",
		"filter/newkind must not import filter/elastic: both are in layer ",
		"package internal/newroom has no place in the layers",
		"internal/kinds must not import internal/newroom: it has no place",
	)
}
