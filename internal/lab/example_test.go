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
	Question: "How often do two of n people share a birthday?",
	Params:   lab.Params{lab.Ints("people", 10, 23, 40), lab.Int("trials", 2_000).Full(1_000_000)},
	Run: func(ctx context.Context, e *lab.Env) (*lab.Result, error) {
		return lab.Find(ctx, e, lab.Sweep{
			Name: "parties", Title: "Parties with equal birthdays",
			Dims:   []lab.Dim{lab.Along("n", e.Ints("people")...)},
			Trials: e.Int("trials"),
			Trial: func(at lab.At, r *rand.Rand) (lab.Figures, error) {
				return lab.Figures{"shared": lab.OneIf(shareBirthday(r, at.Int("n")))}, nil
			},
			Metrics:  []lab.Metric{{Name: "shared", Unit: lab.InPercent}},
			Formulas: []lab.Formula{{Name: "formula", Unit: lab.InPercent, Of: func(at lab.At) float64 { return birthdayFormula(at.Int("n")) }}},
		})
	},
	Plots: []lab.View{{Name: "shared", Title: "Equal birthdays", X: "n", Y: lab.Axis{Percent: true}, Curves: []lab.Curve{{Measured: "shared", Formula: "formula"}}}},
	Claims: []lab.Claim{
		{Name: "23 people", Printed: "50.7 %", Of: lab.Of("shared", "n", 23), Is: lab.Agrees(0)},
		{Name: "the formula", Printed: "1 - 365!/((365-n)! 365^n)", Of: lab.Of("shared"), Is: lab.Matches(lab.Of("formula"))},
		{Name: "a guess", Printed: "6 %", Of: lab.Of("shared", "n", 23), Is: lab.Agrees(0), Why: "23 people are 253 pairs, not 22"},
	},
}

func shareBirthday(r *rand.Rand, people int) bool {
	taken := map[int]bool{}
	for range people {
		taken[r.IntN(365)] = true
	}
	return len(taken) < people
}

func birthdayFormula(people int) float64 {
	none := 1.0
	for i := range people {
		none *= float64(365-i) / 365
	}
	return 1 - none
}

func Example() {
	result, err := birthdays.Do(context.Background(), &lab.Env{Params: birthdays.Params, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range result.Checks {
		fmt.Printf("%s: printed %s, ours %s: %s\n", c.Name, c.Printed, c.Ours, c.Word())
	}
	// Output:
	// 23 people: printed 50.7 %, ours 50.0 ± 2.2 %: holds
	// the formula: printed 1 - 365!/((365-n)! 365^n), ours 87.6 ± 1.5 % against 89.1 % (formula) at worst (n = 40); equal to at 3 of 3 points: holds
	// a guess: printed 6 %, ours 50.0 ± 2.2 %: fails
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
}
