// Package labtest has the tests that all packages of experiments share.
package labtest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/lab"
	"github.com/everbloom-go/everbloom/lab/draw"
)

// Verdicts runs the quick variants. All checks must reproduce but for those that are
// known to differ, by experiment, which must differ. Times are not asserted.
func Verdicts(t *testing.T, list []lab.Experiment, differing map[string][]string) {
	t.Helper()
	for _, x := range list {
		t.Run(x.ID, func(t *testing.T) {
			result, err := x.Do(t.Context(), &lab.Env{Params: x.Quick, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, result.Checks, differing[x.ID])
			for _, p := range result.Plots {
				if _, err := draw.SVG(p); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

const seed = 1

func compare(tb testing.TB, checks []lab.Check, differing []string) {
	tb.Helper()
	rest := slices.Clone(differing)
	for _, c := range checks {
		known := slices.Contains(differing, c.Name)
		if !c.Timing && ((c.Verdict == lab.Differs) != known || c.Unexpected()) {
			tb.Errorf("seed %d: %s: %s, known to differ: %t; printed %s, ours %s, tolerance %s: %s",
				seed, c.Name, c.Verdict, known, c.Printed, c.Ours, c.Tolerance, c.Reason)
		}
		rest = slices.DeleteFunc(rest, func(name string) bool { return name == c.Name })
	}
	for _, name := range rest {
		tb.Errorf("there is no check %q", name)
	}
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
