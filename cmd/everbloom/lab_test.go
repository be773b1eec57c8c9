package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// testExperiments end in every way an experiment can.
var testExperiments = []lab.Experiment{
	testExperiment("one/good", lab.Check{Name: "the rate", Printed: "0.25", Ours: "0.2512", Tolerance: "0.2450 to 0.2550: the digits printed", Verdict: lab.Reproduced}, lab.Check{Name: "the time", Ours: "5 ns", Verdict: lab.Shown}),
	testExperiment("one/known", lab.Check{Name: "the share", Printed: "90 %", Ours: "80.00 %", Tolerance: "89.50 % to 90.50 %: the digits printed", Verdict: lab.Differs, Reason: "a condition is missing", Known: true}),
	testExperiment("two/surprise", lab.Check{Name: "the size", Printed: "100", Ours: "120.0", Tolerance: "99.50 to 100.5: the digits printed", Verdict: lab.Differs, Reason: "not explained: this check is expected to reproduce"}),
	testExperiment("two/broken"),
}

func testExperiment(id string, checks ...lab.Check) lab.Experiment {
	return lab.Experiment{
		ID: id, Paper: "[Sum]", Title: "About " + id, Question: "What is " + id + "?", Says: "something",
		Params: lab.Params{lab.Int("trials", 1).Full(2)},
		Data:   []string{"keys/*.txt"},
		Run: func(ctx context.Context, e *lab.Env) (*lab.Result, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if len(checks) == 0 {
				return nil, errors.New("no room")
			}
			row := []string{fmt.Sprint(e.Int("trials")), fmt.Sprint(e.Seed), e.Data}
			table := lab.Table{Name: "settings", Title: "Settings", Columns: []string{"trials", "seed", "data"}, Rows: [][]string{row}}
			return &lab.Result{Tables: []lab.Table{table}, Checks: checks}, nil
		},
	}
}

func TestInterruptedLabSaysWhatIsKept(t *testing.T) {
	t.Chdir(t.TempDir())
	if status, _, stderr := tool(t, nil, "lab", "run", "one/good"); status != exitOK {
		t.Fatal(stderr)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, args := range []string{"lab run one", "lab report one"} {
		var stderr bytes.Buffer
		status := run(ctx, testEnv(nil, io.Discard, &stderr), strings.Fields(args))
		want := "everbloom: interrupted: 1 of 2 results are stored, the same command goes on with the others\n"
		if status != exitInterrupted || stderr.String() != want {
			t.Errorf("%s: status %d: %s", args, status, stderr.String())
		}
	}
	if _, err := os.Stat("lab-results/one/good/result.json"); err != nil {
		t.Error(err)
	}
}

func TestLabDrawsProgressOnATerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	drawn := make(chan struct{})
	stderr := &screen{drawn: drawn}
	slow := testExperiment("one/slow")
	slow.Run = func(context.Context, *lab.Env) (*lab.Result, error) {
		select {
		case <-drawn:
		case <-time.After(10 * time.Second): // the test fails, but it ends
		}
		return &lab.Result{Checks: []lab.Check{{Name: "x", Ours: "1", Verdict: lab.Shown}}}, nil
	}
	var stdout bytes.Buffer
	e := testEnv(nil, &stdout, stderr)
	e.shown, e.experiments = true, []lab.Experiment{slow}
	if status := run(context.Background(), e, []string{"lab", "run", "all"}); status != exitOK {
		t.Fatal(stderr.String())
	}
	if text := stderr.String(); !strings.Contains(text, "lab  [....................]    0 %  one/slow (1 of 1)") {
		t.Errorf("%q", text)
	}
	if text := stdout.String(); !strings.HasPrefix(text, "one/slow              1 shown  (") {
		t.Errorf("%q", text)
	}
}

func TestLabListForMachines(t *testing.T) {
	t.Chdir(t.TempDir())
	list := decode[[]listed](t, "lab", "list", "--json", "two")
	if len(list) != 2 || list[0].ID != "two/surprise" || list[0].Last != "not run" {
		t.Errorf("%+v", list)
	}
}
