// Package labtest has the tests that all packages of experiments share.
package labtest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/draw"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// Claims runs the quick variants. Claims without a reason must hold, those with one
// must differ, unless the run cannot tell. The short form is what Briefly does.
func Claims(t *testing.T, list []lab.Experiment) {
	t.Helper()
	if effort.Brief() {
		t.Skip("make check runs them with the tool: everbloom lab run all --strict")
	}
	for _, x := range list {
		t.Run(x.ID, func(t *testing.T) {
			result := do(t, x, &lab.Env{Params: x.Quick, Seed: seed})
			compare(t, x.Claims, result.Checks)
		})
	}
}

// compare reports checks that differ without a reason, or hold with one.
func compare(tb testing.TB, claims []lab.Claim, checks []lab.Check) {
	tb.Helper()
	for _, c := range checks {
		explained := slices.ContainsFunc(claims, func(claim lab.Claim) bool { return claim.Name == c.Name && claim.Why != "" })
		if c.Unexpected() || c.Verdict == lab.Reproduced && explained {
			tb.Errorf("seed %d: %s: %s, known to differ: %t; printed %s, ours %s, tolerance %s: %s",
				seed, c.Name, c.Verdict, explained, c.Printed, c.Ours, c.Tolerance, c.Reason)
		}
	}
}

const seed = 1

// do runs an experiment and draws its plots.
func do(t *testing.T, x lab.Experiment, e *lab.Env) *lab.Result {
	t.Helper()
	result, err := x.Do(t.Context(), e)
	if err != nil {
		t.Fatalf("seed %d: %v", e.Seed, err)
	}
	for _, p := range result.Plots {
		if _, err := draw.SVG(p); err != nil {
			t.Error(err)
		}
	}
	return result
}

// Briefly runs the quick variants with other values for some parameters, so that they
// take little time, and with several workers, for the race detector. So few keys say
// nothing about rates: all that must hold is that the runs succeed, that their plots
// can be drawn, and that what may never happen has not: checks named "no ...". Under
// the race detector the short form runs a third of the list, another in each run.
func Briefly(t *testing.T, list []lab.Experiment, brief lab.Params) {
	t.Helper()
	for _, name := range unused(list, brief) {
		t.Errorf("no experiment has the parameter %q", name)
	}
	for i := range effort.Positions(t, len(list), 0, min(len(list), effort.PickVariant(3, 1, 1))) {
		x := list[i]
		t.Run(x.ID, func(t *testing.T) {
			result := do(t, x, &lab.Env{Params: replace(x.Quick, brief), Seed: seed, Workers: 3})
			never(t, result.Checks)
		})
	}
}

// never reports what has happened and must not at any size.
func never(tb testing.TB, checks []lab.Check) {
	tb.Helper()
	for _, c := range checks {
		if strings.HasPrefix(c.Name, "no ") && c.Verdict == lab.Differs {
			tb.Errorf("seed %d: %s: %s", seed, c.Name, c.Ours)
		}
	}
}

// Seeded checks that equal seeds give equal checks, however many workers there are,
// and that another seed gives others in at least one experiment. It is for those that
// measure no times. Parameters are as in Briefly, which looks for races.
func Seeded(t *testing.T, list []lab.Experiment, brief lab.Params) {
	t.Helper()
	effort.OneGoroutine(t)
	moved := false
	for _, x := range list {
		run := func(seed uint64, workers int) []lab.Check {
			return do(t, x, &lab.Env{Params: replace(x.Quick, brief), Seed: seed, Workers: workers}).Checks
		}
		one := run(seed, 1)
		if !slices.Equal(one, run(seed, 4)) {
			t.Errorf("%s: four workers find something else than one", x.ID)
		}
		moved = moved || !slices.Equal(one, run(seed+1, 1))
	}
	if !moved {
		t.Error("the seed makes no difference")
	}
}

// replace returns the parameters with new values for those of the same name and
// type.
func replace(params, brief lab.Params) lab.Params {
	out := slices.Clone(params)
	for i, p := range out {
		if j := slices.IndexFunc(brief, func(b lab.Param) bool { return alike(p, b) }); j >= 0 {
			out[i] = brief[j]
		}
	}
	return out
}

func alike(p, q lab.Param) bool {
	return p.Name == q.Name && reflect.TypeOf(p.Value) == reflect.TypeOf(q.Value)
}

// unused returns the names in brief that replace nothing.
func unused(list []lab.Experiment, brief lab.Params) (names []string) {
	for _, b := range brief {
		has := func(x lab.Experiment) bool {
			return slices.ContainsFunc(x.Quick, func(p lab.Param) bool { return alike(p, b) })
		}
		if !slices.ContainsFunc(list, has) {
			names = append(names, b.Name)
		}
	}
	return names
}

// Interrupted checks that every experiment ends when it is interrupted.
func Interrupted(t *testing.T, list []lab.Experiment) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, x := range list {
		if _, err := x.Do(ctx, &lab.Env{Params: x.Quick}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", x.ID, err)
		}
	}
}
