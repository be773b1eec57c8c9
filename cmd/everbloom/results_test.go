package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/lab/catalog"
	"github.com/everbloom-go/everbloom/internal/lab/report"
	"github.com/everbloom-go/everbloom/internal/lab/runner"
	"github.com/everbloom-go/everbloom/internal/lab/store"
)

// TestCommittedResultsAreWhole holds docs/results to what is said of it: a full result
// of every experiment, with the parameters of today, and a page of all of them.
func TestCommittedResultsAreWhole(t *testing.T) {
	effort.OneGoroutine(t)
	const folder = "../../docs/results"
	var outcomes []runner.Outcome
	for _, x := range catalog.All() {
		r, err := store.Dir(folder).Load(x.ID)
		if err != nil {
			t.Errorf("%v: make results runs it", err)
			continue
		}
		if !r.Full || !r.Current(x) {
			t.Errorf("%s: a %s result, of other parameters: %t; make results runs it again", x.ID, r.Mode(), !r.Current(x))
		}
		for _, c := range r.Result.Unexpected() {
			t.Errorf("%s: %s: printed %s, ours %s, and it is not explained", x.ID, c.Name, c.Printed, c.Ours)
		}
		outcomes = append(outcomes, runner.Outcome{Experiment: x, Record: r, Stored: true})
	}
	var page bytes.Buffer
	if err := report.WriteMarkdown(&page, outcomes, "."); err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(committed, page.Bytes()) {
		t.Error("docs/results/README.md is not the page of these results: make results writes it")
	}
}
