package evergreen_test

import (
	"bufio"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestRealChangesAreFollowed replays half a million changes of a real block list
// against an exact set.
func TestRealChangesAreFollowed(t *testing.T) {
	folder := os.Getenv("EVERBLOOM_DATA")
	if folder == "" {
		t.Skip("EVERBLOOM_DATA does not say where the data is")
	}
	for _, width := range []int{56, 32} {
		f := filtertest.Make(t, evergreen.New, evergreen.Config{FPR: 0.001, Width: width})
		set := make(map[filter.Key]bool)
		operations := 0
		for line := range changes(t, filepath.Join(folder, "ip", "bitwire-outbound-churn.txt.gz")) {
			k := filter.Hash{}.String(line[1:])
			var err error
			switch line[0] {
			case '+':
				_, err = f.Add(k)
				set[k] = true
			case '-':
				err = f.Delete(k)
				delete(set, k)
			default:
				continue
			}
			if err != nil {
				t.Fatalf("change %d, %q: %v", operations, line, err)
			}
			operations++
		}
		for k := range set {
			if !f.Contains(k) || !f.MayContain(k) {
				t.Fatalf("%#x is absent", k)
			}
		}
		const probes = 1_000_000
		hits := filtertest.MeasureRate(f, filtertest.Stream{Seed: 3}, probes)
		if f.Len() != uint64(len(set)) || hits > 1.1*probes/1000 || f.Check() != nil {
			t.Errorf("width %d: %d keys, want %d; %d false positives of %d; %v", width, f.Len(), len(set), hits, probes, f.Check())
		}
		t.Logf("width %d: %d changes, %d keys, rate %g, %+v", width, operations, len(set), float64(hits)/probes, f.Info())
	}
}

// changes gives the lines of a compressed file.
func changes(t *testing.T, path string) func(yield func(string) bool) {
	t.Helper()
	return func(yield func(string) bool) {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		plain, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(plain); lines.Scan(); {
			if len(lines.Text()) > 0 && !yield(lines.Text()) {
				return
			}
		}
	}
}
