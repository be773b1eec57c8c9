package sum

import (
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/lab"
)

func TestParamsReproduces(t *testing.T) {
	result, err := params.Do(t.Context(), &lab.Env{Params: params.Quick, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range result.Checks {
		if c.Verdict == lab.Differs {
			t.Errorf("seed 1: %s: %s, ours %s, tolerance %s", c.Name, c.Printed, c.Ours, c.Tolerance)
		}
		t.Log(c.Name, "|", c.Printed, "|", c.Ours, "|", c.Tolerance)
	}
	if len(result.Plots) != 2 || len(result.Tables) != 1 {
		t.Errorf("%d plots, %d tables", len(result.Plots), len(result.Tables))
	}
}

// A filter with a hash too many must be seen, or the check is worth nothing.
func TestBestHashesDiffersFarFromTheOptimum(t *testing.T) {
	rates := []lab.Estimate{
		{Mean: 0.10, Deviation: 0.001, N: 100},
		{Mean: 0.05, Deviation: 0.001, N: 100},
		{Mean: 0.01, Deviation: 0.001, N: 100},
		{Mean: 0.03, Deviation: 0.001, N: 100},
	}
	for optimum, want := range map[float64]lab.Verdict{0.7: lab.Differs, 1.4: lab.Differs, 2.4: lab.Reproduced, 3.3: lab.Reproduced, 9: lab.Differs} {
		if c := bestHashes(optimum, rates); c.Verdict != want || !strings.Contains(c.Ours, "at k = 3") {
			t.Errorf("optimum %v: %+v", optimum, c)
		}
	}
}
