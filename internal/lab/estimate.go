package lab

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/internal/theory"
)

// Sigmas is how many standard errors a measured value may be off: one in 15,000
// honest ones is further. With few trials or few yeses as many are.
const Sigmas = 4

// Estimate is what independent trials say about a mean.
type Estimate struct {
	Mean      float64
	Deviation float64 // standard deviation of one trial
	N         int     // trials; 0 if the mean was computed
}

// Mean estimates the mean of what the values were drawn from.
func Mean(values []float64) Estimate {
	return Figure(values, func(v float64) float64 { return v })
}

// Figure estimates the mean of one figure of the trials.
func Figure[T any](trials []T, figure func(T) float64) Estimate {
	e := Estimate{N: len(trials)}
	values := make([]float64, e.N)
	for i, t := range trials {
		values[i] = figure(t)
		e.Mean += values[i]
	}
	e.Mean /= float64(max(e.N, 1))
	for _, v := range values {
		e.Deviation += (v - e.Mean) * (v - e.Mean) / float64(max(e.N-1, 1))
	}
	if e.Deviation = math.Sqrt(e.Deviation); e.Deviation < 1e-12*math.Abs(e.Mean) {
		e.Deviation = 0 // equal numbers whose sum is off by a bit
	}
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

func (e Estimate) String() string { return Plain.estimate(e) }

// Unit is what a metric is measured in; it decides how numbers are written.
type Unit string

// The units with a form of their own.
const (
	Plain     Unit = ""  // a number without a unit
	InPercent Unit = "%" // of a share: 0.8 is written 80 %
)

// write gives a number enough digits to see differences of the given size.
func (u Unit) write(v, size float64) string {
	if u == InPercent {
		v, size = 100*v, 100*size
	}
	return strings.TrimSpace(digitsFor(v, size) + " " + string(u))
}

// estimate writes a mean with twice its standard error.
func (u Unit) estimate(e Estimate) string {
	if e.Deviation == 0 {
		return u.write(e.Mean, math.Abs(e.Mean)/20)
	}
	mean, twice := e.Mean, 2*e.StandardError()
	if u == InPercent {
		mean, twice = 100*mean, 100*twice
	}
	return strings.TrimSpace(fmt.Sprintf("%s ± %s %s", digitsFor(mean, twice), digits(twice, 2), u))
}

// Percent writes a share with three significant digits: 0.8 is 80.0 %.
func Percent(share float64) string { return digits(100*share, 3) + " %" }

// digitsFor writes v with two digits more than a difference of that size begins
// at.
func digitsFor(v, size float64) string {
	if v == 0 || !(size > 0) {
		return digits(v, 4)
	}
	return digits(v, max(2, 2+int(math.Floor(math.Log10(math.Abs(v)))-math.Floor(math.Log10(size)))))
}

// digits writes v with so many significant digits, without an exponent where that
// is readable.
func digits(v float64, count int) string {
	if a := math.Abs(v); a >= 1e-4 && a < 1e9 {
		places := max(0, count-1-int(math.Floor(math.Log10(a))))
		return strconv.FormatFloat(v, 'f', places, 64)
	}
	// An exponent has no leading zero: 1.2e-6.
	return strings.NewReplacer("e-0", "e-", "e+0", "e+").Replace(strconv.FormatFloat(v, 'g', count, 64))
}
