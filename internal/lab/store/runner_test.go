package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// bench counts how often each experiment is run.
type bench struct {
	ran  map[string]int
	fail map[string]error
	stop func() // called by the experiment named "x/stop"
}

func (b *bench) list(ids ...string) (list []lab.Experiment) {
	for _, id := range ids {
		list = append(list, lab.Experiment{
			ID: id, Title: "T", Question: "Q?", Params: lab.Params{lab.Int("trials", 2).Full(4)},
			Run: func(ctx context.Context, e *lab.Env) (*lab.Result, error) {
				b.ran[id]++
				if id == "x/stop" && b.stop != nil {
					b.stop()
				}
				values, err := lab.Trials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (float64, error) { return r.Float64(), nil })
				if err != nil || b.fail[id] != nil {
					return nil, errors.Join(err, b.fail[id])
				}
				return &lab.Result{Checks: []lab.Check{{Name: "mean", Ours: lab.Mean(values).String(), Verdict: lab.Shown}}}, nil
			},
		})
	}
	return list
}

func newBench() *bench { return &bench{ran: map[string]int{}, fail: map[string]error{}} }

func newRunner(t *testing.T) *Runner {
	t.Helper()
	return &Runner{Dir: Dir(t.TempDir()), Seed: 1, Origin: Origin{Commit: "abc"}}
}

func run(t *testing.T, r *Runner, list []lab.Experiment) []Outcome {
	t.Helper()
	outcomes, err := r.Run(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

func TestStoredResultsAreNotFoundAgain(t *testing.T) {
	b, r := newBench(), newRunner(t)
	list := b.list("x/a", "x/b")
	first := run(t, r, list)
	second := run(t, r, list)
	if b.ran["x/a"] != 1 || b.ran["x/b"] != 1 || first[0].Stored || !second[0].Stored {
		t.Errorf("ran %v", b.ran)
	}
	if got, want := second[0].Record.Result.Checks[0].Ours, first[0].Record.Result.Checks[0].Ours; got != want {
		t.Errorf("stored %s, found %s", got, want)
	}
	for i, change := range []func(){
		func() { r.Seed = 2 },
		func() { r.Origin.Commit = "def" },
		func() { r.Full = true },
		func() { r.Again = true },
	} {
		change()
		run(t, r, list[:1])
		if b.ran["x/a"] != 2+i {
			t.Errorf("change %d: ran %v", i, b.ran)
		}
	}
}

func TestOnlyExperimentsThatUseDataAreRunAgainForIt(t *testing.T) {
	b, r := newBench(), newRunner(t)
	list := b.list("x/a", "x/b")
	list[1].Data = []string{"list.txt"}
	run(t, r, list)
	r.Data = t.TempDir()
	run(t, r, list)
	if b.ran["x/a"] != 1 || b.ran["x/b"] != 1 {
		t.Errorf("an empty folder: ran %v", b.ran)
	}
	if err := os.WriteFile(filepath.Join(r.Data, "list.txt"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	outcomes := run(t, r, list)
	if b.ran["x/a"] != 1 || b.ran["x/b"] != 2 {
		t.Errorf("a file: ran %v", b.ran)
	}
	if got, want := outcomes[1].Record.Data, []lab.DataFile{{Name: "list.txt", Size: 1}}; !slices.Equal(got, want) || outcomes[0].Record.Data != nil {
		t.Errorf("recorded %v and %v", outcomes[0].Record.Data, got)
	}
}

func TestFullResultIsNotReplacedByAQuickOneUnlessAsked(t *testing.T) {
	b, r := newBench(), newRunner(t)
	list := b.list("x/a")
	r.Full = true
	run(t, r, list)
	r.Full, r.Seed, r.Origin.Commit = false, 9, "def"
	if o := run(t, r, list); !o[0].Stored || !o[0].Record.Full || b.ran["x/a"] != 1 {
		t.Errorf("ran %v, %+v", b.ran, o[0])
	}
	list[0].Params = lab.Params{lab.Int("trials", 2).Full(5)}
	if o := run(t, r, list); o[0].Stored || o[0].Record.Full {
		t.Error("a full result of other parameters was kept")
	}
	r.Full = true
	run(t, r, list)
	r.Full, r.Again = false, true
	if o := run(t, r, list); o[0].Record.Full {
		t.Error("a quick run that was asked for was not made")
	}
}

func TestFailureDoesNotStopTheOthers(t *testing.T) {
	b, r := newBench(), newRunner(t)
	b.fail["x/b"] = errors.New("broken")
	var done []string
	r.OnDone = func(o Outcome) { done = append(done, fmt.Sprint(o.Experiment.ID, " ", o.Err != nil)) }
	outcomes := run(t, r, b.list("x/a", "x/b", "x/c"))
	if got, want := strings.Join(done, ", "), "x/a false, x/b true, x/c false"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if o := outcomes[1]; !errors.Is(o.Err, b.fail["x/b"]) || o.Record != nil {
		t.Errorf("%+v", o)
	}
	delete(b.fail, "x/b")
	run(t, r, b.list("x/a", "x/b", "x/c"))
	if b.ran["x/a"] != 1 || b.ran["x/b"] != 2 || b.ran["x/c"] != 1 {
		t.Errorf("ran %v", b.ran)
	}
}

// An old result must not stand in for a run that failed.
func TestFailureIsNotCoveredByAnOldResult(t *testing.T) {
	b, r := newBench(), newRunner(t)
	run(t, r, b.list("x/a"))
	b.fail["x/a"], r.Seed = errors.New("broken"), 2
	if o := run(t, r, b.list("x/a")); o[0].Record != nil || o[0].Err == nil {
		t.Errorf("%+v", o[0])
	}
}

func TestInterruptedRunGoesOnWhereItStopped(t *testing.T) {
	b, r := newBench(), newRunner(t)
	list := b.list("x/a", "x/stop", "x/c")
	ctx, cancel := context.WithCancel(t.Context())
	b.stop = cancel
	outcomes, err := r.Run(ctx, list)
	if !errors.Is(err, context.Canceled) || outcomes[0].Record == nil || outcomes[1].Err == nil || outcomes[2].Err == nil {
		t.Fatalf("%v, %+v", err, outcomes)
	}
	if b.ran["x/c"] != 0 {
		t.Error("it went on after the interruption")
	}
	b.stop = nil
	run(t, r, list)
	if b.ran["x/a"] != 1 || b.ran["x/stop"] != 2 || b.ran["x/c"] != 1 {
		t.Errorf("ran %v", b.ran)
	}
}

// An experiment that swallows the interruption returns half of a result, without an error.
func TestResultOfAnInterruptedExperimentIsNotStored(t *testing.T) {
	r := newRunner(t)
	ctx, cancel := context.WithCancel(t.Context())
	list := newBench().list("x/a")
	list[0].Run = func(context.Context, *lab.Env) (*lab.Result, error) {
		cancel()
		return &lab.Result{Checks: []lab.Check{{Name: "half", Ours: "1", Verdict: lab.Shown}}}, nil
	}
	outcomes, err := r.Run(ctx, list)
	if !errors.Is(err, context.Canceled) || !errors.Is(outcomes[0].Err, context.Canceled) || outcomes[0].Record != nil {
		t.Errorf("%v, %+v", err, outcomes[0])
	}
	if _, err := r.Dir.Load(lab.Experiment{ID: "x/a"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stored: %v", err)
	}
}

func TestRunStopsIfResultsCannotBeStored(t *testing.T) {
	b, r := newBench(), newRunner(t)
	run(t, r, b.list("x/c"))
	if err := os.WriteFile(filepath.Join(string(r.Dir), "y"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	outcomes, err := r.Run(t.Context(), b.list("x/a", "y/a", "x/b", "x/c"))
	if err == nil || outcomes[0].Record == nil || outcomes[1].Err == nil || outcomes[2].Err == nil || b.ran["x/b"] != 0 {
		t.Errorf("%v, ran %v, %+v", err, b.ran, outcomes)
	}
	if !outcomes[3].Stored || outcomes[3].Err != nil {
		t.Errorf("what was there before: %+v", outcomes[3])
	}
}

func TestResultDoesNotDependOnWorkers(t *testing.T) {
	var texts []string
	for _, workers := range []int{1, 2, 7} {
		b, r := newBench(), newRunner(t)
		r.Workers = workers
		o := run(t, r, b.list("x/a"))
		texts = append(texts, o[0].Record.Result.Checks[0].Ours)
		if o[0].Record.Workers != workers {
			t.Errorf("%d workers recorded as %d", workers, o[0].Record.Workers)
		}
	}
	if len(slices.Compact(texts)) != 1 {
		t.Errorf("seed 1: %q", texts)
	}
}

func TestStartsAreTold(t *testing.T) {
	b, r := newBench(), newRunner(t)
	run(t, r, b.list("x/b"))
	var seen []string
	r.OnStart = func(id string, index, count int) { seen = append(seen, fmt.Sprintf("%s %d of %d", id, index, count)) }
	run(t, r, b.list("x/a", "x/b", "x/c"))
	if want := []string{"x/a 0 of 2", "x/c 1 of 2"}; !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
}
