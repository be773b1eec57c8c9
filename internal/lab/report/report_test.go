package report

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/store"
)

var pageFile = flag.String("page", "", "write the sample page to this file, to look at it")

func outcome(id string, checks ...lab.Check) store.Outcome {
	return store.Outcome{
		Experiment: lab.Experiment{ID: id, Paper: "[Sum]", Title: "About " + id, Question: "What is <" + id + ">?", Says: "Sec. 1: something else"},
		Record: &store.Record{
			ID: id, Params: []store.Setting{{Name: "trials", Value: "200"}}, Seed: 42, Workers: 2, Seconds: 75,
			Data:    []lab.DataFile{{Name: "ip/some_list.gz", Size: 77}},
			Started: time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC),
			Origin:  store.Origin{Commit: "0123456789ab", CPU: "Some CPU", Cores: 2, System: "linux/amd64", Go: "go1.26"},
			Result: lab.Result{
				Checks: checks,
				Notes:  []string{"A note of " + id},
				Tables: []lab.Table{{Name: "sizes", Title: "Sizes", Columns: []string{"n", "bits"}, Rows: [][]string{{"1000", "14378"}}, Notes: []string{"below"}}},
				Plots: []lab.Plot{{
					Name: "rate", Title: "Rate", X: lab.Axis{Label: "keys"}, Y: lab.Axis{Label: "rate"}, Notes: []string{"under the picture"},
					Series: []lab.Series{{Name: "a", Points: []lab.Point{{X: 1, Y: 2}, {X: 2, Y: 3}}}, {Name: "b", Points: []lab.Point{{X: 1, Y: 1}, {X: 2, Y: 4}}}},
				}},
			},
		},
	}
}

var (
	good     = lab.Check{Name: "the rate", Printed: "0.25", Ours: "0.2512", Tolerance: "0.2450 to 0.2550: the digits printed", Verdict: lab.Reproduced}
	explain  = lab.Check{Name: "the share", Printed: "90 %", Ours: "80.00 %", Tolerance: "89.50 % to 90.50 %", Verdict: lab.Differs, Reason: "the paper forgets a condition", Known: true}
	surprise = lab.Check{Name: "the size", Printed: "100", Ours: "120.0", Tolerance: "99.50 to 100.5", Verdict: lab.Differs, Reason: "not explained: this check is expected to reproduce"}
	shown    = lab.Check{Name: "the time", Ours: "5 ns", Verdict: lab.Shown}
)

func sample() []store.Outcome {
	failed, missing := outcome("two/failed"), outcome("two/missing")
	failed.Record, failed.Err = nil, errors.New("lab: two/failed: no room for <bits>")
	missing.Record = nil
	return []store.Outcome{
		outcome("one/good", good, shown), outcome("one/explained", good, explain), outcome("one/surprise", explain, surprise, good),
		outcome("two/shown", shown), outcome("two/bare"), failed, missing,
	}
}

// TestTopicsAreOnThePageOnce mixes the experiments of two topics, as the catalog does.
func TestTopicsAreOnThePageOnce(t *testing.T) {
	text := render(t, []store.Outcome{outcome("one/a", good), outcome("two/a", good), outcome("one/b", good)})
	if n := strings.Count(text, "<h3>one</h3>"); n != 1 {
		t.Errorf("topic one has %d headings", n)
	}
}

func render(t *testing.T, outcomes []store.Outcome) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, outcomes); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestExperimentIsMarkedByItsWorstCheck(t *testing.T) {
	want := map[string]string{
		"one/good": "reproduced", "one/explained": "differs", "one/surprise": "unexplained",
		"two/shown": "shown", "two/bare": "shown", "two/failed": "failed", "two/missing": "missing",
	}
	for _, o := range sample() {
		if got := markOf(o).Class; got != want[o.Experiment.ID] {
			t.Errorf("%s: marked %s, want %s", o.Experiment.ID, got, want[o.Experiment.ID])
		}
	}
}

func TestPageShowsEverything(t *testing.T) {
	text := render(t, sample())
	if *pageFile != "" {
		if err := os.WriteFile(*pageFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []string{
		`href="#one-good"`, `id="one-good"`, "What is &lt;one/good&gt;?", "Sec. 1: something else", "<svg", "under the picture",
		"14378", "A note of one/good", "the paper forgets a condition", "not explained: this check is expected to reproduce",
		"no room for &lt;bits&gt;", "0123456789ab", "Some CPU, 2 cores, linux/amd64, go1.26", "1 min 15 s", "2001-02-03 04:05:06 UTC",
		"<td>seed</td><td>42</td>", "<td>trials</td><td>200</td>", "0.2450 to 0.2550: the digits printed", "≠! 1</span> unexplained",
		"<td>real data</td><td>ip/some_list.gz (77 bytes)</td>", "✓ 3</span> reproduced", "prefers-color-scheme: dark",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not on the page", part)
		}
	}
}

// The filter of the page hides what has another verdict: experiments and claims carry
// theirs, and what differs is open at the start.
func TestPageCanBeFilteredByVerdict(t *testing.T) {
	text := render(t, sample())
	for _, part := range []string{
		`id="only-differs"`, `<div class="with-differs with-reproduced with-shown with-unexplained"><h3>one</h3>`, `<section class="with-differs with-reproduced">`, `<tr class="claim is-differs has-why">`, `<tr class="why claim is-differs">`,
		`<details open><summary><span class="mark differs">`, `<details><summary><span class="mark reproduced">`, "body:has(#only-differs:checked)",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not on the page", part)
		}
	}
}

// The page must work from a disk without a network, today and in ten years.
func TestPageNeedsNothingElse(t *testing.T) {
	text := render(t, sample())
	outside := regexp.MustCompile(`<script|<link|<img|<iframe|@import|url\(|src=`)
	if found := outside.FindAllString(text, -1); found != nil {
		t.Errorf("the page asks for %q", found)
	}
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[1], "#") {
			t.Errorf("a link leads to %s", m[1])
		}
		if !strings.Contains(text, `id="`+m[1][1:]+`"`) {
			t.Errorf("a link leads to %s, which is not there", m[1])
		}
	}
}

func TestEmptyPageIsAPage(t *testing.T) {
	if text := render(t, nil); !strings.Contains(text, "</html>") || strings.Contains(text, "reproduced\">✓ 0") {
		t.Error(text)
	}
}
