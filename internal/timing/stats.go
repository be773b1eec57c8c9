package timing

import (
	"math"
	"slices"
)

// Median returns the middle of the samples, NaN if there are none.
func Median(samples []float64) float64 { return Quantile(samples, 0.5) }

// Spread returns half the interquartile range as a share of the median: half of all
// samples lie within about that distance of it.
func Spread(samples []float64) float64 {
	return (Quantile(samples, 0.75) - Quantile(samples, 0.25)) / 2 / Median(samples)
}

// Quantile interpolates between the two samples next to the place q of the sorted
// samples, q from 0 (the smallest) to 1 (the largest); NaN if there are none.
func Quantile(samples []float64, q float64) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(samples))
	place := q * float64(len(sorted)-1)
	low := int(place)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (place-float64(low))*(sorted[high]-sorted[low])
}

// Ratios returns how a compares with b: round by round if both were measured in the
// same rounds, so that drift of the machine drops out, else the ratio of the medians.
// There are none if either was not measured.
func Ratios(a, b []float64) []float64 {
	switch {
	case len(a) == 0 || len(b) == 0:
		return nil
	case len(a) != len(b):
		return []float64{Median(a) / Median(b)}
	}
	rs := make([]float64, len(a))
	for i := range a {
		rs[i] = a[i] / b[i]
	}
	return rs
}

// Ratio returns the median of the ratios, NaN if there are none.
func Ratio(a, b []float64) float64 { return Median(Ratios(a, b)) }
