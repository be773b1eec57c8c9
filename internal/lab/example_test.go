package lab_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
)

var birthdays = lab.Experiment{
	ID:       "demo/birthdays",
	Title:    "Equal birthdays",
	Question: "How often do two of 23 people share a birthday?",
	Quick:    lab.Params{lab.Int("people", 23), lab.Int("trials", 2_000)},
	Full:     lab.Params{lab.Int("people", 23), lab.Int("trials", 1_000_000)},
	Run: func(ctx context.Context, e *lab.Env) (*lab.Result, error) {
		shared, err := lab.Trials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) bool {
			taken := map[int]bool{}
			for range e.Int("people") {
				taken[r.IntN(365)] = true
			}
			return len(taken) < e.Int("people")
		})
		if err != nil {
			return nil, err
		}
		yes := 0
		for _, s := range shared {
			if s {
				yes++
			}
		}
		return &lab.Result{Checks: []lab.Check{
			lab.Rate("share of parties with equal birthdays", "50.7 %", yes, len(shared)),
			lab.Rate("the same, as many people guess it", "6 %", yes, len(shared)).
				Because("23 people are 253 pairs, not 22"),
		}}, nil
	},
}

func Example() {
	result, err := birthdays.Do(context.Background(), &lab.Env{Params: birthdays.Quick, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range result.Checks {
		fmt.Printf("%s: printed %s, ours %s: %s\n", c.Name, c.Printed, c.Ours, c.Verdict)
	}
	// Output:
	// share of parties with equal birthdays: printed 50.7 %, ours 1016 of 2000: 50.80 %: reproduced
	// the same, as many people guess it: printed 6 %, ours 1016 of 2000: 50.80 %: differs
}

func TestPageShowsTheExample(t *testing.T) {
	page, err := os.ReadFile("../../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```go\n")
	code, _, found := strings.Cut(rest, "```\n")
	if !found || !strings.Contains(string(source), code) {
		t.Errorf("the first code in docs/lab.md is not in example_test.go:\n%s", code)
	}
	if err := birthdays.Check(); err != nil {
		t.Error(err)
	}
}
