package sum

import (
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
)

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
