package main

import (
	"bytes"
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/catalog"
	"github.com/everbloom-go/everbloom/internal/lab/report"
	"github.com/everbloom-go/everbloom/internal/lab/store"
)

// TestCommittedResultsAreWhole holds docs/results to what is said of it: a full result
// of every experiment and of nothing else, with the parameters and claims of today, those
// of a topic of one commit, and a page of all of them.
func TestCommittedResultsAreWhole(t *testing.T) {
	effort.OneGoroutine(t)
	const folder = "../../docs/results"
	var outcomes []store.Outcome
	commits := map[string]string{} // of topics
	for _, x := range catalog.All() {
		r, err := store.Dir(folder).Load(x)
		if err != nil {
			t.Errorf("%v: make results runs it", err)
			continue
		}
		if before := cmp.Or(commits[x.Topic()], r.Origin.Commit); r.Origin.Commit != before || strings.Contains(before, " ") {
			t.Errorf("%s: a result of commit %q, and others of its topic of %q, not of one without changes: make results runs all", x.ID, r.Origin.Commit, before)
		}
		commits[x.Topic()] = r.Origin.Commit
		if !r.Full || !r.Current(x) {
			t.Errorf("%s: a %s result, of other parameters: %t; make results runs it again", x.ID, r.Mode(), !r.Current(x))
		}
		if missing := unclaimed(x, r); len(missing) > 0 {
			t.Errorf("%s: claims without a result, or results without a claim: %q; make results runs it again", x.ID, missing)
		}
		for _, c := range r.Result.Unexpected() {
			t.Errorf("%s: %s: printed %s, ours %s, and it is not explained", x.ID, c.Name, c.Printed, c.Ours)
		}
		outcomes = append(outcomes, store.Outcome{Experiment: x, Record: r, Stored: true})
	}
	if files, _ := filepath.Glob(folder + "/*/*/result.json"); len(files) != len(catalog.All()) {
		t.Errorf("%d results of %d experiments", len(files), len(catalog.All()))
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

// unclaimed returns the names that only the claims of today or only the stored checks
// have, and those of claims on real data that were judged without.
func unclaimed(x lab.Experiment, r *store.Record) (names []string) {
	stored := map[string]bool{}
	for _, c := range r.Result.Checks {
		stored[c.Name] = true
	}
	for _, c := range x.Claims {
		if !stored[c.Name] || c.DataOnly && len(r.Data) == 0 {
			names = append(names, c.Name)
		}
		delete(stored, c.Name)
	}
	return append(names, slices.Sorted(maps.Keys(stored))...)
}
