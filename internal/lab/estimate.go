package lab

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/internal/theory"
)

// Estimate is what independent trials say about a mean.
type Estimate struct {
	Mean      float64
	Deviation float64 // standard deviation of one trial
	N         int     // trials
}

// Mean estimates the mean of what the values were drawn from.
func Mean(values []float64) Estimate {
	return Figure(values, func(v float64) float64 { return v })
}

// Figure estimates the mean of one figure of the trials.
func Figure[T any](trials []T, figure func(T) float64) Estimate {
	e := Estimate{N: len(trials)}
	if e.N == 0 {
		return e
	}
	values := make([]float64, e.N)
	for i, t := range trials {
		values[i] = figure(t)
		e.Mean += values[i]
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

// Reach is how far the mean may be off by chance. So many standard errors is what
// it comes to with many trials; the spread that few show may be too small, so they
// get more, by Student's t. A single trial has no spread and no reach.
func (e Estimate) Reach(sigmas float64) float64 {
	if e.Deviation == 0 {
		return 0
	}
	return theory.StudentReach(sigmas, e.N) * e.StandardError()
}

// Spread is how far two estimates of one mean may be apart by chance: [Sigmas]
// standard errors of the difference, by Student's t with the freedom that Welch
// gives to trials of different spread.
func Spread(a, b Estimate) float64 {
	va, vb := a.StandardError()*a.StandardError(), b.StandardError()*b.StandardError()
	if va+vb == 0 {
		return 0
	}
	freedom := (va + vb) * (va + vb) / (va*va/float64(max(a.N-1, 1)) + vb*vb/float64(max(b.N-1, 1)))
	return theory.StudentReach(Sigmas, int(freedom)+1) * math.Sqrt(va+vb)
}

// Within reports whether a value is no further from the mean than its reach.
func (e Estimate) Within(value, sigmas float64) bool {
	return math.Abs(value-e.Mean) <= e.Reach(sigmas)
}

// At is the estimate as a point of a plot, with an interval that is right 95 times
// in 100.
func (e Estimate) At(x float64) Point {
	return Point{X: x, Y: e.Mean, Lo: e.Mean - e.Reach(2), Hi: e.Mean + e.Reach(2)}
}

func (e Estimate) String() string {
	return fmt.Sprintf("%s ± %s", digitsFor(e.Mean, 2*e.StandardError()), Digits(2*e.StandardError(), 2))
}
