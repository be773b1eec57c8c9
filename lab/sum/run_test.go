package sum

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/lab"
	"github.com/everbloom-go/everbloom/lab/draw"
)

// known lists the checks that differ from what the paper says, for a reason that
// the check tells.
var known = map[string][]string{
	"sum/deletion": {"errors of the second filter, P = 0.01, half deleted", "errors of the second filter, P = 0.001, half deleted"},
}

// timings may come out either way on a busy machine.
var timings = []string{"time of a no, 200000 keys (timing)", "time of a query, k hashes to one (timing)"}

func TestQuickRunsGiveTheExpectedVerdicts(t *testing.T) {
	for _, x := range Experiments() {
		t.Run(x.ID, func(t *testing.T) {
			const seed = 1
			result, err := x.Do(t.Context(), &lab.Env{Params: x.Quick, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range result.Checks {
				if slices.Contains(timings, c.Name) {
					continue
				}
				if (c.Verdict == lab.Differs) != slices.Contains(known[x.ID], c.Name) || c.Unexpected() {
					t.Errorf("seed %d: %s: %s: printed %s, ours %s, tolerance %s: %s", seed, c.Name, c.Verdict, c.Printed, c.Ours, c.Tolerance, c.Reason)
				}
			}
			for _, p := range result.Plots {
				if _, err := draw.SVG(p); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestRunsStopWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, x := range Experiments() {
		if _, err := x.Do(ctx, &lab.Env{Params: x.Quick}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", x.ID, err)
		}
	}
}
