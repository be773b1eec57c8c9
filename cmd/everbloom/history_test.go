package main

import (
	"fmt"
	"math/rand/v2"
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
	t.Chdir(t.TempDir())
	log, present, changes := generatedHistory(60_000)
	do := func(stdin string, args ...string) (stdout, stderr string) {
		t.Helper()
		status, stdout, stderr := tool(t, strings.NewReader(stdin), args...)
		if status > 1 {
			t.Fatalf("%q: %s", args, stderr)
		}
		return stdout, stderr
	}
	do("", "build", "--quiet", "-o", "f", "--items", "1k", "--fpr", "1%", "--delete", "--grow")
	_, stderr := do(log, "apply", "f")
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

// generatedHistory adds keys, deletes two thirds of them, and adds some of those again.
// It returns the log, the keys that it leaves and the number of its changes.
func generatedHistory(keys int) (log string, present []string, changes uint64) {
	var text strings.Builder
	for i := range keys {
		fmt.Fprintf(&text, "+key %d\n", i)
	}
	fmt.Fprintln(&text, "@ half time")
	order := rand.New(rand.NewPCG(6, 7)).Perm(keys)
	deleted, back := order[:keys*2/3], order[:keys/5]
	for _, i := range deleted {
		fmt.Fprintf(&text, "-key %d\n", i)
	}
	for _, i := range back {
		fmt.Fprintf(&text, "+key %d\n", i)
	}
	for _, i := range slices.Concat(back, order[len(deleted):]) {
		present = append(present, fmt.Sprint("key ", i))
	}
	return text.String(), present, uint64(keys + len(deleted) + len(back))
}
