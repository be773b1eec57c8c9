package theory_test

import (
	"math"
	"testing"

	"github.com/everbloom-go/everbloom/internal/theory"
)

// The tail is summed anew, in the other direction.
func TestBinomialIntervalIsExact(t *testing.T) {
	for _, sigmas := range []float64{2, 3, 4} {
		tail := math.Erfc(sigmas/math.Sqrt2) / 2
		for _, n := range []float64{1, 7, 20, 300} {
			for _, p := range []float64{1e-6, 0.0025, 0.1, 0.5, 0.97} {
				lo, hi := theory.BinomialInterval(n, p, sigmas)
				if below, in := binomialSum(n, p, 0, lo-1), binomialSum(n, p, 0, lo); below > tail || in <= tail {
					t.Errorf("n = %g, p = %g, %g sigmas: below %g are %g, with it %g, want %g between", n, p, sigmas, lo, below, in, tail)
				}
				if above, in := binomialSum(n, p, hi+1, n), binomialSum(n, p, hi, n); above > tail || in <= tail {
					t.Errorf("n = %g, p = %g, %g sigmas: above %g are %g, with it %g, want %g between", n, p, sigmas, hi, above, in, tail)
				}
			}
		}
	}
}

func binomialSum(n, p, from, to float64) (sum float64) {
	for k := from; k <= to; k++ {
		choose := 1.0
		for i := range int(k) {
			choose *= (n - float64(i)) / (k - float64(i))
		}
		sum += choose * math.Pow(p, k) * math.Pow(1-p, n-k)
	}
	return sum
}

func TestBinomialIntervalOfManyTrialsIsNormal(t *testing.T) {
	for _, n := range []float64{1e6, 1e9} {
		for _, p := range []float64{0.01, 0.5} {
			lo, hi := theory.BinomialInterval(n, p, 4)
			sigma := math.Sqrt(n * p * (1 - p))
			if math.Abs(lo-(n*p-4*sigma)) > 5 || math.Abs(hi-(n*p+4*sigma)) > 5 {
				t.Errorf("n = %g, p = %g: %g to %g, want %g on either side of %g", n, p, lo, hi, 4*sigma, n*p)
			}
		}
	}
}

func TestBinomialIntervalOfCertainties(t *testing.T) {
	for _, c := range []struct{ n, p, lo, hi float64 }{{0, 0.5, 0, 0}, {-1, 0.5, 0, 0}, {100, 0, 0, 0}, {100, -1, 0, 0}, {100, 1, 100, 100}, {100.9, 2, 100, 100}} {
		if lo, hi := theory.BinomialInterval(c.n, c.p, 4); lo != c.lo || hi != c.hi {
			t.Errorf("n = %g, p = %g: %g to %g, want %g to %g", c.n, c.p, lo, hi, c.lo, c.hi)
		}
	}
}

// Percentage points as they are in every table of Student's t.
func TestStudentReachIsStudents(t *testing.T) {
	sigmas := func(twoSided float64) float64 { return math.Sqrt2 * math.Erfinv(1-twoSided) }
	for _, c := range []struct {
		outside float64
		n       int
		want    float64
	}{
		{0.05, 2, 12.7062},
		{0.05, 3, 4.3027},
		{0.05, 6, 2.5706},
		{0.05, 31, 2.0423},
		{0.05, 121, 1.9799},
		{0.001, 2, 636.619},
		{0.001, 5, 8.6103},
		{0.001, 11, 4.5869},
		{0.001, 1001, 3.3003},
	} {
		if got := theory.StudentReach(sigmas(c.outside), c.n); math.Abs(got-c.want) > 1e-4*c.want {
			t.Errorf("%g outside, %d trials: %.5g, want %.5g", c.outside, c.n, got, c.want)
		}
	}
	if got := theory.StudentReach(4, 1); !math.IsInf(got, 1) {
		t.Errorf("one trial tells nothing about its spread: %g", got)
	}
	for n, last := 2, math.Inf(1); n <= 20_000; n = n*3/2 + 1 {
		got := theory.StudentReach(4, n)
		if got > last || got < 4 {
			t.Errorf("%d trials: %g after %g", n, got, last)
		}
		last = got
	}
}
