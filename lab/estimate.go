package lab

import (
	"fmt"
	"math"
	"slices"

	"github.com/everbloom-go/everbloom/theory"
)

// Estimate is what independent trials say about a mean.
type Estimate struct {
	Mean      float64
	Deviation float64 // standard deviation of one trial
	N         int     // trials
}

// Mean estimates the mean of what the values were drawn from.
func Mean(values []float64) Estimate {
	e := Estimate{N: len(values)}
	if e.N == 0 {
		return e
	}
	for _, v := range values {
		e.Mean += v
	}
	e.Mean /= float64(e.N)
	for _, v := range values {
		e.Deviation += (v - e.Mean) * (v - e.Mean) / float64(max(e.N-1, 1))
	}
	e.Deviation = math.Sqrt(e.Deviation)
	return e
}

// StandardError is the deviation of the mean.
func (e Estimate) StandardError() float64 { return e.Deviation / math.Sqrt(float64(max(e.N, 1))) }

// Interval is the mean with so many standard errors on either side.
func (e Estimate) Interval(sigmas float64) (lo, hi float64) {
	reach := sigmas * e.StandardError()
	return e.Mean - reach, e.Mean + reach
}

// Within reports whether a value is at most so many standard errors away.
func (e Estimate) Within(value, sigmas float64) bool {
	lo, hi := e.Interval(sigmas)
	return lo <= value && value <= hi
}

// At is the estimate as a point of a plot, with an interval of two standard
// errors, which is right 95 times in 100.
func (e Estimate) At(x float64) Point {
	lo, hi := e.Interval(2)
	return Point{X: x, Y: e.Mean, Lo: lo, Hi: hi}
}

func (e Estimate) String() string {
	return fmt.Sprintf("%s ± %s", digitsFor(e.Mean, 2*e.StandardError()), Digits(2*e.StandardError(), 2))
}

// Share is the point of a measured probability, yes answers among n, with its
// interval of about 95 in 100.
func Share(x float64, yes, n int) Point {
	trials := float64(max(n, 1))
	p := float64(yes) / trials
	lo, hi := theory.BinomialInterval(trials, p, 2)
	return Point{X: x, Y: p, Lo: min(p, lo/trials), Hi: max(p, hi/trials)}
}

// Median is the middle of the values, between the two middle ones if their number is
// even; 0 if there are none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
