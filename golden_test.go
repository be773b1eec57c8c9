package everbloom

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
)

// The golden files are sets that release 1 of each format saved, with the words 0
// to 99. They must never be made anew: a test that fails here means that files of
// users can no longer be read. go test -run Golden -update makes those that are missing,
// which is the one of a kind that is new in the table.

// goldenNeeds says how the set of each golden file was made.
func goldenNeeds() map[string]Needs {
	needs := map[string]Needs{
		"v1-shards.golden": {Kind: "blocked", Items: 100, FPR: 0.01, Shards: 3, Hash: filter.SipHash(secret)},
	}
	for _, k := range kinds.All() {
		needs["v1-"+k.Name+".golden"] = Needs{Kind: k.Name, Items: 100, FPR: 0.01}
	}
	return needs
}

func golden(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// makeMissing writes golden files that do not exist, if that is asked for.
func makeMissing(t *testing.T, name string, needs Needs) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if _, err := os.Stat(path); err == nil || !*update {
		return
	}
	if err := os.WriteFile(path, stored(t, filled(t, needs, 0, 100)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestGoldenFilesAnswer(t *testing.T) {
	for name, needs := range goldenNeeds() {
		makeMissing(t, name, needs)
		s, err := Open(filepath.Join("testdata", name))
		if err != nil {
			t.Error(err)
			continue
		}
		wantWords(t, s, 0, 100)
		if n := countWords(s, 100, 1100); n > 30 {
			t.Errorf("%s: %d of 1000 absent words are found", name, n)
		}
		info := s.Info()
		if info.Kind != needs.Kind || info.Hash != needs.Hash.Name() || info.Shards != max(1, needs.Shards) || info.Capacity < 100 && !info.Unbounded {
			t.Errorf("%s: %+v", name, info)
		}
	}
}

// TestGoldenFilesAreStillWritten is about files that are compared: equal sets
// give equal bytes, today as then.
func TestGoldenFilesAreStillWritten(t *testing.T) {
	for name, needs := range goldenNeeds() {
		if !bytes.Equal(stored(t, filled(t, needs, 0, 100)), golden(t, name)) {
			t.Errorf("%s: the same set is written in other bytes", name)
		}
	}
}

func TestEveryGoldenFileIsTested(t *testing.T) {
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := goldenNeeds()[e.Name()]; !ok && strings.HasSuffix(e.Name(), ".golden") {
			t.Errorf("%s is read by no test", e.Name())
		}
	}
}
