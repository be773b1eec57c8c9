package archtest

import (
	"os"
	"slices"
	"strings"
	"testing"
)

const requirementsFile = "testdata/requirements.txt"

// applications are the units that users of the library do not import, so what
// they need does not reach those users. What is internal to them is none of the
// library's as long as no package of it imports it.
var applications = []string{
	"server", "server/console", "server/load", "server/internal/resp", "server/internal/setting", "server/internal/record", "server/internal/log/...", "server/internal/store",
	"server/internal/image", "server/internal/partition", "server/internal/cluster/...", "server/internal/command", "server/internal/router", "server/internal/picture", "server/demo",
	"gate/...", "internal/gate/...", "internal/draw", "internal/lab/...", "cmd/everbloom/...", "examples/...", "internal/capture/...",
}

// TestLibraryRequiresOnlyTheModulesAgreedOn lists the other modules that the library's
// packages import, directly or not.
func TestLibraryRequiresOnlyTheModulesAgreedOn(t *testing.T) {
	args := []string{"-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}
	for _, p := range packages(t) {
		if name, _, _ := unit(p.path); !slices.Contains(applications, name) {
			args = append(args, "./"+p.path)
		}
	}
	out, err := goList(args...)
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	needed := slices.DeleteFunc(slices.Compact(modules), func(m string) bool { return m == module })
	agreed, err := os.ReadFile(requirementsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(needed, strings.Fields(string(agreed))) {
		t.Errorf("the library, and so its users, requires %q and not %q: if that is meant, change internal/archtest/%s",
			needed, agreed, requirementsFile)
	}
}
