package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// TestHistoriesAreFollowed applies a log of changes to an empty filter of the default
// kind. In the end it has exactly the keys of the log, and false positives at
// the asked rate.
func TestHistoriesAreFollowed(t *testing.T) {
	effort.OneGoroutine(t)
	logs := map[string][]byte{"generated": generatedHistory(60_000)}
	if folder := os.Getenv("EVERBLOOM_DATA"); folder != "" {
		err := fromList(filepath.Join(folder, "ip", "bitwire-outbound-churn.txt.gz"), func(r io.Reader) (err error) {
			logs["real"], err = io.ReadAll(r)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, log := range logs {
		t.Run(name, func(t *testing.T) { followHistory(t, log) })
	}
}

func followHistory(t *testing.T, log []byte) {
	t.Helper()
	t.Chdir(t.TempDir())
	present, changes := replay(log)
	do := func(stdin string, args ...string) (stdout, stderr string) {
		t.Helper()
		status, stdout, stderr := tool(t, strings.NewReader(stdin), args...)
		if status > 1 {
			t.Fatalf("%q: %s", args, stderr)
		}
		return stdout, stderr
	}
	do("", "build", "--quiet", "-o", "f", "--items", "1k", "--fpr", "1%", "--delete", "--grow")
	_, stderr := do(string(log), "apply", "f")
	t.Log(strings.TrimSpace(stderr))
	if !strings.Contains(stderr, " "+quantity.Count(changes)+" keys read") || !strings.Contains(stderr, "now "+quantity.Count(uint64(len(present)))+" keys") || strings.Contains(stderr, "absent") {
		t.Errorf("%d changes, %d keys: %s", changes, len(present), stderr)
	}
	if lost, _ := do(strings.Join(present, "\n"), "query", "-v", "f"); lost != "" {
		t.Errorf("false negatives: %.100s", lost)
	}
	const absent = 200_000
	var list strings.Builder
	for i := range absent {
		fmt.Fprintf(&list, "absent %d\n", i)
	}
	var yes int
	counted, _ := do(list.String(), "query", "-c", "f")
	if _, err := fmt.Sscan(counted, &yes); err != nil {
		t.Fatal(err)
	}
	if _, most := theory.BinomialInterval(absent, 0.0105, 4); float64(yes) > most {
		t.Errorf("%d of %d absent keys pass, asked for 1 %%", yes, absent)
	}
	t.Logf("%d of %d absent keys pass", yes, absent)
}

// replay returns the keys that a log leaves, and the number of its changes.
func replay(log []byte) (present []string, changes uint64) {
	set := make(map[string]bool)
	for lines := bufio.NewScanner(bytes.NewReader(log)); lines.Scan(); {
		line := lines.Text()
		switch line[0] {
		case '+':
			set[line[1:]] = true
		case '-':
			delete(set, line[1:])
		default:
			continue
		}
		changes++
	}
	return slices.Sorted(maps.Keys(set)), changes
}

// generatedHistory adds keys, deletes two thirds of them, and adds some of those again.
func generatedHistory(keys int) []byte {
	rng := rand.New(rand.NewPCG(6, 7))
	var log bytes.Buffer
	order := rng.Perm(keys)
	for i := range keys {
		fmt.Fprintf(&log, "+key %d\n", i)
	}
	fmt.Fprintln(&log, "@ half time")
	for _, i := range order[:keys*2/3] {
		fmt.Fprintf(&log, "-key %d\n", i)
	}
	for _, i := range order[:keys/5] {
		fmt.Fprintf(&log, "+key %d\n", i)
	}
	return log.Bytes()
}
