package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/exampletest"
)

func TestMain(m *testing.M)    { exampletest.Main(m, main) }
func TestSamples(t *testing.T) { exampletest.Samples(t) }

func TestKeysAreFoundAndTheFileIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slow")
	var out, figures strings.Builder
	logf := func(format string, values ...any) { fmt.Fprintf(&figures, format+"\n", values...) }
	if err := run(200_000, path, &out, logf); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "200000 keys added, 50000 deleted\n150000 keys, of which 0 are not found\n" {
		t.Errorf("got %q", got)
	}
	if got := figures.String(); strings.Count(got, "\n") != 3 || strings.Contains(got, " 0 MiB on disk") {
		t.Errorf("figures %q", got)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is left: %v", err)
	}
}
